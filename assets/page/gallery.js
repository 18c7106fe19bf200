// One class: its photos, its name and its attributes.

import {remember} from './actions.js';
import {call, callJson, classPath} from './api.js';
import {attempt, byId, cross, el, onClick, onSubmit, refill, say} from './dom.js';
import {picturesOf} from './folders.js';
import {exampleImage} from './pictures.js';
import {forgotten, merged, renamed} from './photos.js';
import {on, refresh, state} from './state.js';
import {enrolInto, listenToFiles, takeDrops} from './classes.js';
import {addTests, relabel} from './testing.js';
import {byName, classNamed, counted, displayName, timeOf, wordsFor} from './words.js';

/** The class that is shown; null: none. @type {string | null} */
let name = null;

/** @param {string | null} which */
export function openClass(which) {
  name = which;
  byId('class-page').hidden = which === null;
  document.body.classList.toggle('at-class', which !== null);
  byId('class-list').hidden = which !== null;
  if (which === null) return;
  byId('rename').value = which;
  byId('merge').value = '';
  byId('rename-error').hidden = byId('attribute-error').hidden = true;
  attempt(null, show);
}

async function show() {
  if (name === null) return;
  const wanted = name, entry = state.classes.find(one => one.class === wanted);
  if (!entry) {
    if (state.recognizer) location.hash = '#teach';
    return;
  }
  byId('class-title').textContent = displayName(wanted);
  byId('class-about').textContent = `${counted(entry.images, 'photo')} · since ${timeOf(entry.time)}`;
  showAttributes(entry);
  const shown = await call('GET', classPath(wanted));
  if (wanted === name) showExamples(shown.examples);
}

// Photos.

/** @param {Example[]} examples */
function showExamples(examples) {
  const taken = new Map((state.accuracy?.mistakes ?? []).map(one => [one.example, one.taken_for]));
  const twins = twinsHere(), isDoubtful = (/** @type {Example} */ one) => taken.has(one.example) && !one.confirmed;
  const doubtful = examples.filter(isDoubtful), rest = examples.filter(one => !isDoubtful(one));
  rest.sort((a, b) => (twins.get(a.example)?.at ?? Infinity) - (twins.get(b.example)?.at ?? Infinity) || 0);
  refill(byId('examples'), [...doubtful, ...rest].map(one => exampleCard(one, isDoubtful(one) ? taken.get(one.example) : undefined, twins.get(one.example)?.said)));
  byId('doubtful').hidden = doubtful.length === 0;
  byId('doubtful').textContent = doubtful.length === 1 ? 'One photo looks more like another class: is it in the right one?'
                                                       : `${doubtful.length} photos look more like other classes: are they in the right one?`;
}

/** Photos of this class that are almost the same as another one: what is said of them, and the place of their pair. */
function twinsHere() {
  /** @type {Map<number, {said: string, at: number}>} */
  const twins = new Map();
  for (const [at, pair] of (state.accuracy?.twins ?? []).entries()) {
    const inBoth = pair.class === pair.twin_class;
    const note = (/** @type {number} */ example, /** @type {string} */ other) => {
      if (!twins.has(example)) twins.set(example, {said: inBoth ? 'Almost the same as another one here' : 'Also in ' + displayName(other), at});
    };
    if (pair.class === name) note(pair.example, pair.twin_class);
    if (pair.twin_class === name) note(pair.twin, pair.class);
  }
  return twins;
}

/** Moves it to another class: the likely one, unless another is chosen. @param {Example} one @param {string} title @param {string} likely */
function moveForm(one, title, likely) {
  const others = state.classes.map(other => other.class).filter(other => other !== name).sort(byName);
  const choice = el('select', {'aria-label': `Class for ${title}`}, ...others.map(other => new Option(displayName(other), other, false, other === likely)));
  const move = el('button', {class: 'plain move', 'aria-label': `Move ${title} to that class`, onclick: () => attempt(move, async () => {
    const to = choice.value, done = await callJson('PATCH', 'v1/examples/' + one.example, {class: to});
    remember(`move ${title} to ${displayName(to)}`, [done.change]);
    forgotten({example: one.example}, done.change);
    await refresh();
    say(`${title} was moved to ${displayName(to)}. Undo moves it back.`);
  })}, 'Move');
  return el('span', {class: 'stack'}, choice, move);
}

/** @param {Example} one @param {string} title */
const rightButton = (one, title) => el('button', {class: 'plain', 'aria-label': 'It is right: ' + title, onclick: () => attempt(null, async () => {
  const done = await callJson('PATCH', 'v1/examples/' + one.example, {confirmed: true});
  remember(`${title} is right`, [done.change]);
  await refresh();
  say(`${title} stays, and is not asked about again.`);
})}, 'It is right');

/** @param {Example} one @param {string | undefined} takenFor @param {string | undefined} twin */
function exampleCard(one, takenFor, twin) {
  const title = one.source || 'photo ' + one.example;
  const remove = cross('Remove ' + title, async () => {
    const done = await call('DELETE', 'v1/examples/' + one.example);
    remember(`remove ${title}`, [done.change]);
    forgotten({example: one.example}, done.change);
    await refresh();
    say(`${title} was removed. Undo restores it.`);
  });
  return el('li', {class: takenFor ? 'example doubt' : 'example'}, exampleImage(one.example, title),
            takenFor ? el('span', {class: 'taken-for'}, 'Looks like ' + displayName(takenFor)) : null,
            twin ? el('span', {class: 'twin'}, twin) : null, takenFor ? rightButton(one, title) : null, takenFor ? moveForm(one, title, takenFor) : null, remove);
}

// Attributes as chips.

/** @param {ClassEntry} entry */
function showAttributes(entry) {
  byId('class-attributes').hidden = !state.recognizer?.attributes.length;
  byId('chips').replaceChildren(...entry.attributes.map(has => {
    const words = wordsFor(has.name) + (has.weight < 0.995 ? ` ${Math.round(100 * has.weight)} %` : '');
    const remove = el('button', {'aria-label': 'Remove the attribute ' + words, onclick: () => attempt(remove, () =>
      setAttributes(entry.attributes.filter(other => other !== has)), byId('attribute-error'))}, '×');
    return el('li', {class: 'chip'}, words, remove);
  }));
}

/** @param {{name: string, weight: number}[]} attributes */
async function setAttributes(attributes) {
  if (name === null) return;
  if (!attributes.length) throw new Error('A class keeps at least one attribute once it has some.');
  const done = await callJson('PATCH', classPath(name), {attributes});
  remember(`attributes of ${displayName(name)}`, [done.change]);
  await refresh();
}

async function addAttribute() {
  const text = byId('attribute-new').value.trim(), known = state.recognizer?.attributes ?? [];
  const chosen = known.find(one => one === text) ?? known.find(one => wordsFor(one).toLowerCase() === text.toLowerCase());
  if (!chosen) throw new Error(text ? `There is no attribute “${text}”: choose one of the list.` : 'Choose an attribute of the list.');
  const entry = state.classes.find(one => one.class === name);
  await setAttributes([...(entry?.attributes ?? []).filter(one => one.name !== chosen), {name: chosen, weight: 1}]);
  byId('attribute-new').value = '';
}

// The name, and the class itself.

async function rename() {
  const to = byId('rename').value.trim();
  if (name === null || to === name) return;
  if (!to) throw new Error('Give the class a name.');
  const from = name, done = await callJson('PATCH', classPath(from), {name: to});
  remember(`rename ${displayName(from)} to ${displayName(to)}`, [done.change]);
  renamed(from, to, done.change);
  relabel(from, to, done.change);
  name = to;
  history.replaceState(null, '', '#teach/' + encodeURIComponent(to));
  await refresh();
  say(`${displayName(from)} is now ${displayName(to)}.`);
}

async function merge() {
  const into = classNamed(byId('merge').value);
  if (name === null) return;
  if (!into) throw new Error('Choose the class to merge it into.');
  const from = name, done = await callJson('POST', classPath(from) + '/merge', {into});
  remember(`merge ${displayName(from)} into ${displayName(into)}`, [done.change]);
  merged(from, into, done);
  relabel(from, into, done.change);
  byId('merge').value = '';
  location.hash = '#teach/' + encodeURIComponent(into);
  await refresh();
  say(`${displayName(from)} is part of ${displayName(into)} now, with ${counted(done.added, 'photo')}. Undo takes it back.`);
}

async function removeClass() {
  if (name === null) return;
  const gone = name, title = displayName(gone), done = await call('DELETE', classPath(gone));
  remember(`remove ${title}`, [done.change]);
  forgotten({class: gone}, done.change);
  location.hash = '#teach';
  await refresh();
  say(`${title} was removed. Undo restores it.`);
  byId('undo').focus();
}

/** @param {File[]} files */
const addPhotos = async files => name === null ? null : enrolInto(name, files);

export function listenToGallery() {
  for (const what of /** @type {('recognizer' | 'accuracy')[]} */ (['recognizer', 'accuracy'])) on(what, () => { attempt(null, show); });
  onSubmit('rename-form', rename, 'rename-error');
  onSubmit('merge-form', merge, 'rename-error');
  onSubmit('attribute-form', addAttribute, 'attribute-error');
  listenToFiles('class-files', addPhotos);
  listenToFiles('class-tests', async files => { if (name !== null) await addTests(files, name); });
  takeDrops(byId('class-page'), found => addPhotos(picturesOf(found)));
  onClick('remove-class', removeClass);
}
