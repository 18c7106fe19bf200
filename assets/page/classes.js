// The classes with some of their photos, and how new ones come in: a folder, a form, photos dropped onto one.

import {call, classPath} from './api.js';
import {listenToCamera} from './camera.js';
import {attempt, byId, el, say, sayAt} from './dom.js';
import {enrolFiles} from './enrol.js';
import {classesOf, filesOfDrop, filesOfFolder, picturesOf} from './folders.js';
import {exampleImage} from './pictures.js';
import {on, state} from './state.js';
import {classNamed, counted, displayName, wordsFor} from './words.js';

const thumbsOfClass = 4;
const mostAttributes = 3;

/** The first photos of a class as it was when it had so many. @type {Map<string, Promise<number[]>>} */
const firstExamples = new Map();

/** @param {import('./types').ClassEntry} one */
function examplesOf(one) {
  const key = `${one.class} ${one.images} ${one.time} ${state.change?.id}`;
  let found = firstExamples.get(key);
  if (!found) {
    found = call('GET', classPath(one.class)).then(
        shown => shown.examples.slice(0, thumbsOfClass).map((/** @type {import('./types').Example} */ example) => example.example), () => []);
    if (firstExamples.size > 2000) firstExamples.clear();
    firstExamples.set(key, found);
  }
  return found;
}

/** Fills cards when they come into view. */
const watcher = new IntersectionObserver(seen => {
  for (const {isIntersecting, target} of seen) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    const name = /** @type {HTMLElement} */ (target).dataset.class;
    const one = state.classes.find(known => known.class === name);
    const place = target.querySelector('.thumbs');
    if (one && place) examplesOf(one).then(examples => place.replaceChildren(...examples.map(example => exampleImage(example, ''))));
  }
}, {rootMargin: '300px'});

/** @param {import('./types').ClassEntry} one */
function classCard(one) {
  const some = one.attributes.slice(0, mostAttributes).map(has => wordsFor(has.name));
  const more = one.attributes.length - some.length;
  const card = el('li', {class: 'class-card'},
                  el('a', {href: '#classes/' + encodeURIComponent(one.class), title: one.class},
                     el('span', {class: 'thumbs'}), el('span', {class: 'name'}, displayName(one.class)),
                     el('span', {class: 'about'}, counted(one.images, 'photo') + (one.embedding_source === 'text' ? ', described' : '')),
                     some.length ? el('span', {class: 'about'}, some.join(', ') + (more > 0 ? ` and ${more} more` : '')) : null));
  card.dataset.class = one.class;
  takeDrops(card, found => enrolInto(one.class, picturesOf(found)));
  watcher.observe(card);
  return card;
}

/** @param {string} name @param {File[]} files */
async function enrolInto(name, files) {
  if (!files.length) throw new Error('These are no photos.');
  say(await enrolFiles(new Map([[name, files]])));
}

function showClasses() {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest('.class-card'))?.dataset.class;
  const wanted = byId('class-search').value.trim().toLowerCase();
  const some = state.classes.filter(one => `${one.class} ${displayName(one.class)}`.toLowerCase().includes(wanted));
  some.sort((a, b) => displayName(a.class).localeCompare(displayName(b.class), 'en', {numeric: true}));
  byId('classes').replaceChildren(...some.map(classCard));
  if (!state.classes.length) byId('enrol-box').open = true;
  byId('start').hidden = state.classes.length > 0;
  byId('class-tools').hidden = state.classes.length === 0;
  byId('class-count').textContent = some.length === state.classes.length ? '' : `${some.length} of ${counted(some.length, 'class', 'classes').replace(/^\d+/, String(state.classes.length))}`;
  byId('no-class').hidden = some.length > 0 || state.classes.length === 0;
  byId('class-names').replaceChildren(...state.classes.map(one => new Option('', displayName(one.class))));
  byId('attribute-names').replaceChildren(...(state.recognizer?.attributes ?? []).map(name => new Option(wordsFor(name), name)));
  byId('attributes-field').hidden = !state.recognizer?.attributes.length;
  byId('words-field').hidden = !state.recognizer?.takes_words;
  if (focused !== undefined) /** @type {HTMLElement | null} */ ([...byId('classes').children].find((/** @type {any} */ card) => card.dataset.class === focused)?.querySelector('a'))?.focus({preventScroll: true});
}

/**
 * @param {HTMLElement} zone
 * @param {(found: import('./folders.js').Found[]) => Promise<unknown>} take
 */
export function takeDrops(zone, take) {
  for (const event of ['dragenter', 'dragover']) zone.addEventListener(event, () => zone.classList.add('over'));
  for (const event of ['dragleave', 'drop']) zone.addEventListener(event, () => zone.classList.remove('over'));
  zone.addEventListener('drop', event => {
    const data = /** @type {DragEvent} */ (event).dataTransfer;
    if (data) attempt(null, async () => take(await filesOfDrop(data)));
  });
}

/** @param {import('./folders.js').Found[]} found */
async function enrolFolder(found) {
  const classes = classesOf(found);
  if (!classes.size) throw new Error('No photos in folders were found: expected a folder that has a subfolder of photos for each class.');
  say(await enrolFiles(classes));
}

/** Photos that the form will send besides chosen files: taken by the camera or dropped. @type {File[]} */
let pending = [];

function showPending() {
  byId('pending').textContent = pending.length ? counted(pending.length, 'photo') + ' ready' : '';
}

/** By what a class can be known: "photos of the class, or attributes". */
function whatIsAskedFor() {
  const others = [state.recognizer?.attributes.length ? 'attributes' : '', state.recognizer?.takes_words ? 'a description' : ''];
  return ['photos of the class', ...others.filter(Boolean)].join(', or ');
}

async function enrolForm() {
  const name = classNamed(byId('class-name').value);
  if (!name) throw new Error('Give the class a name.');
  const files = [...byId('enrol-files').files, ...pending];
  const said = {attributes: byId('attributes').value.trim(), descriptions: byId('words').value.trim()};
  if (!files.length && !said.attributes && !said.descriptions) throw new Error(`Give ${whatIsAskedFor()}.`);
  say(await enrolFiles(new Map([[name, files]]), said));
  byId('enrol-form').reset();
  pending = [];
  showPending();
  byId('class-name').focus({preventScroll: true});
}

export function listenToClasses() {
  on('recognizer', showClasses);
  byId('class-search').addEventListener('input', showClasses);
  takeDrops(byId('start'), enrolFolder);
  takeDrops(byId('enrol-form'), async found => {
    pending.push(...picturesOf(found));
    showPending();
  });
  for (const id of ['start-folder', 'more-folder']) {
    byId(id).addEventListener('change', () => attempt(null, async () => {
      const found = filesOfFolder(byId(id).files);
      byId(id).value = '';
      await enrolFolder(found);
    }));
  }
  listenToCamera('enrol-camera', photo => {
    pending.push(photo);
    showPending();
  });
  byId('enrol-form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    sayAt(byId('enrol-error'), '');
    attempt(event.submitter, enrolForm, byId('enrol-error'));
  });
}
