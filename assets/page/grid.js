// The answers as a grid: one card a photo, with keys, filters and a selection.

import {redo, undo} from './actions.js';
import {attempt, bar, byId, el, onPress, part, say, showBlob} from './dom.js';
import {isLarge} from './pictures.js';
import {classOf, clear, confirm, decide, decideNone, firstOf, onPhotos, photos} from './photos.js';
import {close, hasChanged, isOpen, open, pick} from './details.js';
import {byName, classNamed, counted, displayName, percent} from './words.js';

const sureFrom = 0.8;
/** @type {Map<number, HTMLElement>} */
const cards = new Map();
/** The photo that keys act on. @type {Photo | null} */
let current = null;
/** @type {Photo | null} */
let lastSelected = null;

/** @param {Photo} photo */
function cardOf(photo) {
  const picture = el('img', {class: 'photo', alt: photo.name});
  const button = el('button', {class: 'open', onclick: () => show(photo), onfocus: () => { current = photo; }},
                    el('span', {class: 'frame'}, picture), el('span', {class: 'verdict'}), el('span', {class: 'certainty'}, el('span', {class: 'meter', hidden: true}), el('span', {class: 'sure'})));
  const box = el('input', {type: 'checkbox', 'aria-label': 'Select ' + photo.name,
                           onclick: (/** @type {MouseEvent} */ event) => select(photo, event.shiftKey)});
  const card = el('li', {class: 'tile'}, button, box);
  card.dataset.photo = String(photo.id);
  cards.set(photo.id, card);
  fill(photo);
  return card;
}

/** @param {Photo} photo */
function statusOf(photo) {
  if (photo.error) return {state: 'failed', name: 'Cannot be read', sure: '', share: 0};
  if (photo.verdict) return {state: 'decided', name: photo.verdict.class === null ? 'None of these' : displayName(photo.verdict.class), sure: '✓ yours', share: 0};
  if (!photo.answer) return {state: 'waiting', name: '…', sure: '', share: 0};
  const {name, none, probability} = firstOf(photo);
  const isSure = probability >= sureFrom;
  return {state: isSure ? none ? 'none' : 'sure' : none ? 'unsure none' : 'unsure', name: name === null ? 'None of these' : displayName(name), sure: percent(probability), share: probability};
}

/** @param {Photo} photo */
function fill(photo) {
  const card = cards.get(photo.id);
  if (!card) return;
  const {state, name, sure, share} = statusOf(photo);
  card.dataset.state = state;
  showPicture(photo, card);
  const verdict = part(card, '.verdict');
  verdict.textContent = name;
  verdict.title = photo.error || name;
  part(card, '.sure').textContent = sure;
  const meter = part(card, '.meter');
  meter.hidden = !share;
  meter.replaceChildren(bar(share, ''));
  part(card, 'input').checked = photo.selected;
}

/** The photo, once it is known in the size in which it is sent: a hundred large ones would fill the memory. @param {Photo} photo @param {HTMLElement} card */
function showPicture(photo, card) {
  const picture = card.querySelector('img');
  if (!picture || picture.src) return;
  if (!photo.answer && !photo.error && isLarge(photo.file)) return;
  showBlob(picture, photo.blob, () => picture.replaceWith(el('span', {class: 'no-picture'}, photo.name)));
}

/** @param {Photo} photo */
function show(photo) {
  current = photo;
  for (const card of cards.values()) card.classList.toggle('current', card.dataset.photo === String(photo.id));
  open(photo, cards.get(photo.id));
}

// Which are shown, and in which order.

/** @param {Photo} photo */
function doubt(photo) {
  if (photo.error) return 2;
  if (photo.verdict) return 3;
  return firstOf(photo).probability;
}

/** @type {Record<string, (photo: Photo) => boolean>} */
const filters = {
  all: () => true,
  unsure: photo => !photo.verdict && photo.answer !== null && firstOf(photo).probability < sureFrom,
  sure: photo => !photo.verdict && photo.answer !== null && firstOf(photo).probability >= sureFrom,
  none: photo => photo.verdict ? photo.verdict.class === null : firstOf(photo).none,
  decided: photo => photo.verdict !== null,
};

export function shown() {
  const fits = filters[byId('filter').value], name = byId('filter-class').value;
  const some = photos.filter(photo => fits(photo) && (name === '' || classOf(photo) === name));
  const order = byId('sort').value;
  if (order === 'doubt') some.sort((a, b) => doubt(a) - doubt(b));
  if (order === 'class') some.sort((a, b) => byName(classOf(a) ?? '~', classOf(b) ?? '~'));
  return some;
}

/** Puts the cards in order. Only what a person does or a batch that is done moves them, and the focus stays. */
function arrange() {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const top = focused?.closest('.tile') ? focused.getBoundingClientRect().top : null;
  const some = shown();
  byId('answers').replaceChildren(...some.map(photo => cards.get(photo.id) ?? cardOf(photo)));
  byId('asked').hidden = photos.length === 0;
  byId('drop').classList.toggle('small', photos.length > 0);
  byId('shown-count').textContent = some.length === photos.length ? counted(some.length, 'photo') : `${some.length} of ${counted(photos.length, 'photo')}`;
  if (focused?.isConnected && top !== null) {
    focused.focus({preventScroll: true});
    scrollBy(0, focused.getBoundingClientRect().top - top);
  }
  showSelection();
}

function offerClasses() {
  const chosen = byId('filter-class').value;
  const names = [...new Set(photos.map(classOf))].flatMap(name => name === null ? [] : [name]);
  names.sort(byName);
  byId('filter-class').replaceChildren(new Option('All classes', ''), ...names.map(name => new Option(displayName(name), name)));
  byId('filter-class').value = names.includes(chosen) ? chosen : '';
}

// Many at once.

const selected = () => photos.filter(photo => photo.selected);

/** @param {Photo} photo @param {boolean} range */
function select(photo, range) {
  const some = shown(), from = lastSelected ? some.indexOf(lastSelected) : -1, to = some.indexOf(photo);
  photo.selected = !photo.selected;
  if (range && from >= 0) {
    for (const one of some.slice(Math.min(from, to), Math.max(from, to) + 1)) one.selected = photo.selected;
  }
  lastSelected = photo;
  showSelection();
}

/** @param {boolean} all */
function selectAll(all) {
  for (const photo of all ? shown() : photos) photo.selected = all;
  showSelection();
}

function showSelection() {
  for (const photo of photos) {
    const card = cards.get(photo.id);
    if (card) part(card, 'input').checked = photo.selected;
  }
  const count = selected().length;
  byId('selection').hidden = count === 0;
  byId('selection-count').textContent = count + ' selected';
}

/** @param {any} control @param {(some: Photo[]) => Promise<unknown>} work */
const withSelection = (control, work) => attempt(control, async () => {
  await work(selected());
  selectAll(false);
});

// Keys, while the focus is on a card.

/** @param {KeyboardEvent} event @param {HTMLElement} card */
function move(event, card) {
  const all = /** @type {HTMLElement[]} */ ([...byId('answers').children]);
  const columns = all.findIndex(one => one.offsetTop !== all[0].offsetTop);
  const step = /** @type {Record<string, number>} */ ({ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns,
                                                       Home: -all.length, End: all.length})[event.key];
  if (!step) return false;
  const at = Math.max(0, Math.min(all.length - 1, all.indexOf(card) + step));
  /** @type {HTMLElement} */ (all[at].querySelector('.open')).focus();
  const photo = photos.find(one => String(one.id) === all[at].dataset.photo);
  if (photo && isOpen()) show(photo);
  return true;
}

/** @param {Photo} photo @param {string} key */
function act(photo, key) {
  if (/^[1-5]$/.test(key)) {
    const choice = photo.answer?.ranking[Number(key) - 1];
    if (choice) attempt(null, () => decide([photo], choice.class));
    return choice !== undefined;
  }
  switch (key) {
    case 'y': attempt(null, () => confirm([photo])); return true;
    case 'n': show(photo); pick(); return true;
    case '0': decideNone([photo]); return true;
    case 'x': select(photo, false); return true;
    case 'u': attempt(null, () => undo()); return true;
    case 'r': attempt(null, () => redo()); return true;
    case 'escape': close(); selectAll(false); return true;
  }
  return false;
}

/** @param {KeyboardEvent} event */
function press(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.altKey || event.metaKey || (target instanceof HTMLInputElement && target.type !== 'checkbox')) return;
  const card = /** @type {HTMLElement | null} */ (target.closest('.tile'));
  if (event.ctrlKey) {
    if (event.key === 'a' && card) { event.preventDefault(); selectAll(true); }
    return;
  }
  const photo = card ? photos.find(one => String(one.id) === card.dataset.photo) : current;
  if (!photo) return;
  if ((card && move(event, card)) || act(photo, event.key.toLowerCase())) event.preventDefault();
}

/** On a phone they are in a sheet. @param {boolean} shown */
function showFilters(shown) {
  byId('filters').classList.toggle('shown', shown);
  byId('open-filters').setAttribute('aria-expanded', String(shown));
  byId(shown ? 'filter' : 'open-filters').focus();
}

export function listenToGrid() {
  onPhotos('added', () => {
    const there = new Set(photos.map(photo => photo.id));
    for (const id of [...cards.keys()]) if (!there.has(id)) cards.delete(id);
    if (current && !photos.includes(current)) { current = null; close(); }
    offerClasses();
    arrange();
  });
  onPhotos('changed', photo => {
    fill(photo);
    hasChanged(photo);
  });
  onPhotos('answered', () => {
    offerClasses();
    arrange();
  });
  for (const id of ['filter', 'filter-class', 'sort']) byId(id).addEventListener('change', () => { offerClasses(); arrange(); });
  for (const id of ['answers', 'details']) byId(id).addEventListener('keydown', press);
  onPress('open-filters', () => showFilters(true));
  onPress('close-filters', () => showFilters(false));
  addEventListener('click', event => {
    const menu = document.querySelector('.menu[open]');
    if (menu && !menu.querySelector('summary')?.contains(/** @type {Node} */ (event.target))) menu.removeAttribute('open');
  });
  onPress('clear', () => {
    clear();
    say('Cleared. What was added to classes stays there.');
    byId('ask-files').focus();
  });
  onPress('select-all', () => selectAll(true));
  onPress('select-none', () => selectAll(false));
  byId('selection').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const name = classNamed(byId('selection-class').value);
    if (!name) return byId('selection-class').focus();
    withSelection(event.submitter, async some => {
      await decide(some, name);
      byId('selection-class').value = '';
    });
  });
  onPress('selection-confirm', () => withSelection(byId('selection-confirm'), confirm));
  onPress('selection-none', () => withSelection(byId('selection-none'), async some => decideNone(some)));
}
