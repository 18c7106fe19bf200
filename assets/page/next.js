// Unsorted photos one by one, in the order in which naming them helps most; a key names one.

import {redo, undo, remember} from './actions.js';
import {call, callJson} from './api.js';
import {attempt, bar, byId, el, onPress, onSubmit, refill, say, sayAt} from './dom.js';
import {keptImage} from './pictures.js';
import {on, refresh, state} from './state.js';
import {byName, classNamed, counted, displayName, percent} from './words.js';

// Without those that skip (S), undo (U) and redo (R).
const keys = '123456789abcdefghijklmnopqtvwxyz';
const mostAsked = 100;

let isOpen = false;
/** What is shown. @type {Suggested | null} */
let photo = null;
/** Photos to come back to later, by their numbers. @type {Set<number>} */
const skipped = new Set();
/** @type {Map<string, string>} */
const classOfKey = new Map();

/** The photo to name next that was not skipped, as many as are asked about. */
async function nextPhoto() {
  const count = Math.min(mostAsked, 1 + skipped.size);
  /** @type {{photos: Suggested[], images: number}} */
  const {photos, images} = await call('GET', 'v1/suggestions?count=' + count);
  byId('next-left').textContent = `${counted(images, 'photo')} left`;
  return photos.find(one => !skipped.has(one.photo)) ?? null;
}

/** A key for each class, the same as long as the classes are. */
function giveKeys() {
  classOfKey.clear();
  state.classes.map(one => one.class).sort(byName).slice(0, keys.length).forEach((name, i) => classOfKey.set(keys[i], name));
}

/** @param {string} key @param {string} name @param {Suggested} now */
function choice(key, name, now) {
  const isLikely = name === now.class;
  return el('li', {}, el('button', {class: isLikely ? 'choice likely' : 'choice', onclick: () => label(name)},
                         isLikely ? bar(now.probability) : null, el('kbd', {'aria-hidden': 'true'}, key.toUpperCase()),
                         el('span', {class: 'choice-name'}, displayName(name)),
                         isLikely ? el('span', {class: 'choice-percent'}, percent(now.probability)) : null));
}

/** @param {boolean} focus whether it goes to the likeliest class, which Enter then chooses */
async function show(focus) {
  if (!isOpen) return;
  sayAt(byId('next-error'), '');
  photo = state.recognizer?.unlabelled && state.classes.length ? await nextPhoto() : null;
  if (!isOpen) return;
  if (!photo) return finish(skipped.size ? `${counted(skipped.size, 'photo')} left, which you skipped.` : 'Every unsorted photo has a class now.');
  giveKeys();
  const now = photo, title = now.source || 'photo ' + now.photo;
  byId('next-file').textContent = title;
  byId('next-photo').replaceChildren(keptImage('v1/unlabelled/' + now.photo, title, true));
  refill(byId('next-choices'), [...classOfKey].map(([key, name]) => choice(key, name, now)));
  if (focus) (byId('next-choices').querySelector('.likely') ?? byId('next-class')).focus({preventScroll: true});
}

/** @param {string} name */
function label(name) {
  const which = photo;
  if (!which) return;
  photo = null;  // a key that is held down names one photo
  attempt(null, async () => {
    try {
      const done = await callJson('POST', `v1/unlabelled/${which.photo}/label`, {class: name});
      remember(`${which.source || 'photo ' + which.photo} as ${displayName(name)}`, [done.change]);
      byId('next-class').value = '';
      say(`Added to ${displayName(name)}.`);
      await refresh();
    } catch (error) {
      photo ??= which;
      throw error;
    }
    await show(true);
  }, byId('next-error'));
}

function skip() {
  if (photo) skipped.add(photo.photo);
  attempt(null, () => show(true));
}

const offer = () => { byId('next-start').hidden = isOpen || !state.recognizer?.unlabelled || !state.classes.length; };

/** @param {string} [text] */
function finish(text) {
  isOpen = false;
  photo = null;
  byId('next').hidden = true;
  offer();
  if (text) say(text);
  byId(byId('next-start').hidden ? 'main' : 'next-start').focus({preventScroll: true});
}

/** @param {KeyboardEvent} event */
function press(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.altKey || event.metaKey || target instanceof HTMLInputElement) return;
  const key = event.key.toLowerCase(), name = classOfKey.get(key);
  if (name) label(name);
  else if (key === 's') skip();
  else if (key === 'u') attempt(null, () => undo());
  else if (key === 'r') attempt(null, () => redo());
  else if (key === 'escape') finish();
  else return;
  event.preventDefault();
}

export function listenToNext() {
  on('recognizer', () => {
    offer();
    if (isOpen && photo) attempt(null, () => show(byId('next').contains(document.activeElement) && !byId('next-class').value));
  });
  byId('next').addEventListener('keydown', press);
  onPress('next-start', () => attempt(byId('next-start'), async () => {
    isOpen = true;
    skipped.clear();
    byId('next').hidden = false;
    await show(true);
    offer();
  }));
  onPress('next-skip', skip);
  onPress('next-stop', () => finish());
  onSubmit('next-form', async () => {
    const name = classNamed(byId('next-class').value);
    if (!name) throw new Error('Choose its class.');
    label(name);
  }, 'next-error');
}
