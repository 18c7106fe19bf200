// Labelled photos that the recognizer has not seen: how many it answers right, and what it takes for what. This window keeps them, and asks again
// after each change.

import {stopEstimating} from './accuracy.js';
import {onRedone, onUndone} from './actions.js';
import {call, callJson} from './api.js';
import {open} from './details.js';
import {attempt, byId, cross, el, onPress, say, showBlob} from './dom.js';
import {partsOf, picturesOf} from './folders.js';
import {listenToClassFolder} from './classes.js';
import {fingerprint, isPicture, pieces, shrink} from './pictures.js';
import {ask, photos} from './photos.js';
import {Progress} from './progress.js';
import {on, state, tell} from './state.js';
import {byName, classNamed, counted, displayName, percent} from './words.js';

/** @typedef {{name: string, file: File, blob: Blob, label: string, print: string, feature: number[]}} Labelled */
/** @typedef {Tested & {photo: Labelled}} Shown */

const photosAtOnce = 16;
const rowsAtOnce = 400;  // a server takes 8 MB of JSON
const mostClasses = 12, mostShown = 120;

/** The test photos, by their fingerprints. @type {Map<string, Labelled>} */
let kept = new Map();
/** The revision that was tested last. */
let testedAt = -1;
/** Those that could not be read, by their fingerprints. @type {Set<string>} */
let unreadable = new Set();
/** The labels that renaming and merging classes changed. @type {{photo: Labelled, change: number, from: string, to: string}[]} */
const relabelled = [];
/** What the last test said of each photo. @type {Shown[]} */
let tested = [];
/** Those that are wrong, the surest first. @type {Shown[]} */
let worst = [];

export const hasTests = () => kept.size > 0;

/** How those of a class were answered. @param {string} name */
export function testedOf(name) {
  const own = tested.filter(one => one.class === name);
  return own.length ? `Tests: ${own.filter(one => one.right).length} of ${own.length} right` : '';
}

/** Photos of all classes in turn, so that each part of them has some of each. @param {Map<string, File[]>} classes */
function inTurn(classes) {
  /** @type {{file: File, label: string}[]} */
  const all = [];
  const most = Math.max(...[...classes.values()].map(files => files.length));
  for (let i = 0; i < most; ++i) for (const [name, files] of classes) if (files[i]) all.push({file: files[i], label: classNamed(name)});
  return all;
}

/** Adds those that can be read. @param {{file: File, label: string}[]} given */
async function embed(given) {
  const progress = new Progress('Looking at test photos', given.length);
  try {
    for (let begin = 0; begin < given.length; begin += photosAtOnce) {
      const some = [];
      for (const one of given.slice(begin, begin + photosAtOnce)) some.push({...one, name: one.file.name, print: await fingerprint(one.file), blob: await shrink(one.file)});
      for (const piece of pieces(some, photosAtOnce)) {
        const form = new FormData();
        for (const one of piece) form.append('image', one.blob, one.name);
        form.append('with_features', 'true');
        const {answers} = await call('POST', 'v1/classify?top=1&nearest=0', form, {signal: progress.signal});
        answers.forEach((/** @type {Answer} */ answer, /** @type {number} */ i) => {
          if (answer.feature) kept.set(piece[i].print, {...piece[i], feature: answer.feature.map(value => Number(value.toPrecision(7)))});
          else unreadable.add(piece[i].print);
        });
        progress.step(piece.length);
      }
    }
  } finally {
    progress.finish();
  }
}

/** Wilson's interval of 95 %. @param {number} right @param {number} of */
function interval(right, of) {
  const z = 1.96, share = right / of, middle = (share + z * z / (2 * of)) / (1 + z * z / of);
  const half = z / (1 + z * z / of) * Math.sqrt(share * (1 - share) / of + z * z / (4 * of * of));
  return [Math.max(0, middle - half), Math.min(1, middle + half)].map(value => Math.round(100 * value));
}

/** Takes more test photos, if there is something to test with them, and tests. @param {{file: File, label: string}[]} given */
async function take(given) {
  if (!state.classes.length) throw new Error('There are no classes yet to test: make some first.');
  const before = new Map(kept), unreadableBefore = new Set(unreadable);
  try {
    await embed(given);
    if (!kept.size) throw new Error('No photo can be read.');
    await test();
  } catch (error) {
    kept = before;
    unreadable = unreadableBefore;
    throw error;
  }
  return byId('test-title').textContent + '.';
}

/** Test photos of one class. @param {File[]} files @param {string} label */
export async function addTests(files, label) {
  const pictures = files.filter(isPicture);
  if (!pictures.length) throw new Error('These files are not photos.');
  say(await take(pictures.map(file => ({file, label}))));
}

/** Returns what the title says. @param {Map<string, File[]>} classes */
export const testClasses = classes => take(inTurn(classes));

/** @param {Parts} parts */
async function testFolder({learn, test}) {
  say(await testClasses(test.size ? test : learn));
  byId('test').scrollIntoView({block: 'nearest'});
}

/** Test photos of a class that was renamed or merged go with it. @param {string} from @param {string} to @param {Change} change */
export function relabel(from, to, change) {
  for (const photo of kept.values()) {
    if (photo.label !== from) continue;
    photo.label = to;
    relabelled.push({photo, change: change.id, from, to});
  }
}

/** Answers all of them, with the classes as they are now. */
async function test() {
  stopEstimating();
  const all = [...kept.values()], revision = state.revision;
  /** @type {Record<string, number>} */
  const sum = {images: 0, right: 0, refused: 0, unknown: 0, accepted: 0, already_enrolled: 0};
  /** @type {Shown[]} */
  const found = [];
  for (let begin = 0; begin < all.length; begin += rowsAtOnce) {
    const some = all.slice(begin, begin + rowsAtOnce);
    // Photos are found again by their places, since those that are enrolled are left out.
    const done = await callJson('POST', 'v1/test', {features: some.map(one => one.feature), labels: some.map(one => one.label), names: some.map((_, i) => String(i))});
    for (const key of Object.keys(sum)) sum[key] += Number(done[key]) || 0;
    found.push(...done.tested.map((/** @type {Tested} */ one) => ({...one, photo: some[Number(one.image)]})));
  }
  tested = found;
  testedAt = revision;
  worst = tested.filter(one => one.known && !one.right).sort((a, b) => b.certainty - a.certainty);
  show(sum);
}

function hide() {
  tested = worst = [];
  byId('test').hidden = true;
  tell('tests');
}

/** After a change. */
async function testAgain() {
  if (testedAt === state.revision) return;
  testedAt = state.revision;
  if (!kept.size) return;
  try {
    if (state.classes.length) await test();
    else hide();
  } catch (error) {
    if (!byId('gone').hidden) {  // the last results stay until the server is back
      testedAt = -1;
      return;
    }
    hide();
    throw new Error(`The test photos could not be tested again: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {Labelled} photo */
async function remove(photo) {
  kept.delete(photo.print);
  if (kept.size) await test();
  else hide();
}

/** @param {Record<string, number>} sum */
function show(sum) {
  const [low, high] = interval(sum.right, sum.images);
  byId('test-title').textContent = `${sum.right} of ${counted(sum.images, 'test photo')} right: about ${Math.round(100 * sum.right / sum.images)} of 100 new ones (${low} to ${high})`;
  const notes = [[sum.refused, 'of your classes answered “none of these”'], [sum.already_enrolled, 'left out: already in the recognizer'], [unreadable.size, 'could not be read'],
                 [sum.unknown, `of other classes, ${sum.accepted} of them taken for one of yours`]].filter(([count]) => count);
  byId('test-notes').textContent = notes.map(([count, what]) => `${counted(Number(count), 'photo')} ${what}`).join('; ');
  showConfusion();
  showMain();
  byId('test').hidden = false;
  tell('tests');
}

const showMain = () => showPhotos(worst, worst.length ? 'Wrong answers, surest first' : 'No answer was wrong');

/** Asks about it as about any photo, and shows its answer. @param {Labelled} photo */
async function openTested(photo) {
  await ask([photo.file]);
  const found = photos.find(one => one.print === photo.print);
  if (!found) return;
  open(found);
  byId('details').scrollIntoView({block: 'nearest'});
}

/** Classes by how much is wrong of them and for them. */
function confusedClasses() {
  /** @type {Map<string, number>} */
  const wrong = new Map();
  for (const one of tested.filter(photo => photo.known)) for (const name of [one.class, one.answer]) wrong.set(name, (wrong.get(name) ?? 0) + Number(!one.right));
  return [...wrong].sort((a, b) => b[1] - a[1]).slice(0, mostClasses).map(([name]) => name).sort(byName);
}

function showConfusion() {
  const names = confusedClasses();
  const cell = (/** @type {string} */ own, /** @type {string} */ answer) => {
    const some = tested.filter(one => one.known && one.class === own && one.answer === answer);
    if (!some.length) return el('td');
    const said = own === answer ? `${displayName(own)} answered right` : `${displayName(own)} taken for ${displayName(answer)}`;
    return el('td', {class: own === answer ? 'right' : ''}, el('button', {'aria-label': `${some.length}: ${said}`, onclick: () => showPhotos(some, said)}, String(some.length)));
  };
  const head = el('tr', {}, el('th', {scope: 'col'}, 'It is'), ...names.map(name => el('th', {scope: 'col', title: displayName(name)}, displayName(name))));
  const rows = names.map(own => el('tr', {}, el('th', {scope: 'row', title: displayName(own)}, displayName(own)), ...names.map(answer => cell(own, answer))));
  byId('test-confusion').replaceChildren(el('table', {}, el('caption', {}, 'What photos of each class (rows) were taken for (columns)'), el('thead', {}, head), el('tbody', {}, ...rows)));
}

/** @param {Shown[]} some @param {string} title */
function showPhotos(some, title) {
  byId('test-shown').textContent = title;
  const other = byId('test-other');
  other.textContent = some === worst ? 'All test photos' : 'Back';
  other.onclick = some === worst ? () => showPhotos(tested, 'All test photos') : showMain;
  byId('test-photos').replaceChildren(...some.slice(0, mostShown).map(one => {
    const {photo} = one, picture = el('img', {class: 'photo', alt: photo.name});
    showBlob(picture, photo.blob, () => picture.replaceWith(el('span', {class: 'no-picture'}, photo.name)));
    return el('li', {class: 'tile'}, el('button', {class: 'open', title: 'Show its answer', onclick: () => attempt(null, () => openTested(photo))},
                                        el('span', {class: 'frame'}, picture), el('span', {class: 'verdict'}, displayName(one.class)),
                                        el('span', {class: 'sure'}, `answered ${one.none_of_these ? 'none of these' : `${displayName(one.answer)}, ${percent(one.certainty)}`}`)), cross(`Remove ${photo.name} from the test photos`, () => remove(photo)));
  }));
}

/** A test where the folders are called like classes, else photos that are asked about. @param {Found[]} found */
export async function testOrAsk(found) {
  const parts = partsOf(found), isTest = [...parts.learn.keys()].some(name => state.classes.some(one => one.class === classNamed(name)));
  await (isTest ? testFolder(parts) : ask(picturesOf(found)));
}

export function listenToTesting() {
  on('recognizer', () => attempt(null, testAgain));
  onUndone(undone => { for (const {photo, change, from} of [...relabelled].reverse()) if (undone.includes(change)) photo.label = from; });
  onRedone(redone => { for (const {photo, change, to} of relabelled) if (redone.includes(change)) photo.label = to; });
  listenToClassFolder('test-folder', testFolder);
  onPress('test-close', () => {
    kept.clear();
    unreadable.clear();
    relabelled.length = 0;
    hide();
    byId('main').focus({preventScroll: true});
  });
}
