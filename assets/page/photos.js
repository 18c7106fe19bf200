// The photos that were asked about, and what was answered and decided. No elements here: grid.js and details.js show it.

import {onRedone, onUndone, remember} from './actions.js';
import {call, callJson} from './api.js';
import {attempt, hush, say} from './dom.js';
import {asSentences, enrolled, idsOf, sendExamples} from './enrol.js';
import {fingerprint, isPicture, pieces, shrink} from './pictures.js';
import {Progress} from './progress.js';
import {on, refresh, state} from './state.js';
import {counted, displayName} from './words.js';

/** In the order they were given. @type {Photo[]} */
export const photos = [];

const channels = new EventTarget();

/**
 * 'added': photos came or went. 'changed': of one photo the answer or verdict is another (detail). 'answered': a batch is done.
 * @param {'added' | 'changed' | 'answered'} what
 * @param {(photo: Photo) => void} listener
 */
export const onPhotos = (what, listener) =>
    channels.addEventListener(what, event => listener(/** @type {CustomEvent} */ (event).detail));
/** @param {string} what @param {Photo | null} [detail] */
const tell = (what, detail = null) => channels.dispatchEvent(new CustomEvent(what, {detail}));

/**
 * One after the other: what a person starts meanwhile begins when the one before is done.
 * @template {any[]} A
 * @param {(...given: A) => Promise<void>} work
 * @returns {(...given: A) => Promise<void>}
 */
function inTurn(work) {
  let last = Promise.resolve();
  return (...given) => {
    const now = last.then(() => work(...given));
    last = now.catch(() => {});
    return now;
  };
}

/** The first place of an answer: the class, or null for none of them; and its probability. @param {Photo} photo */
export function firstOf(photo) {
  const {answer} = photo;
  if (!answer) return {name: null, none: false, probability: 0};
  if (answer.none_of_these) return {name: null, none: true, probability: Number(answer.none)};
  return {name: answer.ranking[0].class, none: false, probability: answer.ranking[0].probability};
}

/** The class that was decided or answered; null: none of them. @param {Photo} photo */
export const classOf = photo => photo.verdict ? photo.verdict.class : firstOf(photo).name;

// Small at first, so that the first answers come at once.
const firstPieces = [1, 3];
const photosAtOnce = 8;
const requestsAtOnce = 2;
const rowsAtOnce = 250;
let nextId = 1;

/** @param {File[]} files */
async function added(files) {
  const fresh = [], known = new Set(photos.map(photo => photo.print));
  const prints = await Promise.all(files.map(fingerprint));
  for (const [i, file] of files.entries()) {
    const print = prints[i];
    if (known.has(print)) continue;
    known.add(print);
    fresh.push({id: nextId++, file, name: file.name || 'photo.jpg', print, blob: /** @type {Blob} */ (file), answer: null,
                feature: null, error: '', verdict: null, selected: false});
  }
  photos.push(...fresh);
  tell('added');
  return fresh;
}

/** @param {Photo[]} fresh */
function inPieces(fresh) {
  const all = [];
  for (let begin = 0, end = 0; begin < fresh.length; begin = end) {
    end += firstPieces[all.length] ?? photosAtOnce;
    all.push(fresh.slice(begin, end));
  }
  return all;
}

/** @param {Photo[]} some @param {AbortSignal} signal */
async function askPiece(some, signal) {
  for (const photo of some) photo.blob = await shrink(photo.file);
  for (const piece of pieces(some, photosAtOnce)) {
    const form = new FormData();
    for (const photo of piece) form.append('image', photo.blob, photo.name);
    form.append('with_features', 'true');
    const answers = await answersOf(piece, form, signal);
    answers.forEach((answer, i) => take(piece[i], answer));
  }
}

/**
 * A piece of which no photo can be read is refused as a whole: that is said of each.
 * @param {Photo[]} piece
 * @param {FormData} form
 * @param {AbortSignal} signal
 * @returns {Promise<Answer[]>}
 */
async function answersOf(piece, form, signal) {
  try {
    return (await call('POST', 'v1/classify', form, {signal})).answers;
  } catch (error) {
    const status = /** @type {any} */ (error).status;
    if (status !== 400) throw error;
    return piece.map(() => /** @type {any} */ ({error: /** @type {Error} */ (error).message}));
  }
}

/** @param {Photo} photo @param {Answer} answer */
function take(photo, answer) {
  if (!photos.includes(photo)) return;
  photo.error = answer.error ?? '';
  if (!answer.error) {
    photo.answer = answer;
    if (answer.feature) photo.feature = answer.feature.map(value => Number(value.toPrecision(9)));
    delete answer.feature;
  }
  tell('changed', photo);
}

/** Asks about files; those that are there already are left as they are. */
export const ask = inTurn(async (/** @type {File[]} */ files) => {
  const pictures = files.filter(isPicture);
  if (!pictures.length) return files.length ? say('These files are not photos.', true) : undefined;
  if (!state.classes.length) {
    say('The photos will be classified when the classes are there.');
    await enrolled();
  }
  if (!state.classes.length) return say('There are no classes yet to choose from: make one first.', true);
  const fresh = await added(pictures);
  const again = pictures.length - fresh.length;
  if (!fresh.length) return say(again === 1 ? 'This photo is here already.' : 'These photos are here already.');
  const progress = new Progress('Looking at photos', fresh.length);
  const waiting = inPieces(fresh);
  const work = async () => {
    for (let piece = waiting.shift(); piece && !progress.signal.aborted; piece = waiting.shift()) {
      await askPiece(piece, progress.signal);
      progress.step(piece.length);
    }
  };
  try {
    await Promise.all(Array.from({length: requestsAtOnce}, work));
  } catch (error) {
    if (!progress.signal.aborted) throw error;
  } finally {
    progress.finish();
    const unanswered = fresh.filter(photo => !photo.answer && !photo.error);
    for (const photo of unanswered) photos.splice(photos.indexOf(photo), 1);
    if (unanswered.length) tell('added');
    tell('answered');
  }
  const first = firstOf(fresh[0]), answered = fresh.filter(photo => photo.answer).length;
  if (fresh.length > 1) say(`${counted(answered, 'photo')} answered.`);
  else if (answered) say('Answer: ' + (first.name === null ? 'none of these' : displayName(first.name)));
  hush();  // it is for those who hear the page: others see the answers, which it would lie upon
});

let asking = false, stale = false;

/** Classifies the undecided photos again by their features, without the encoder. */
async function askAgain() {
  stale = true;
  if (asking) return;
  asking = true;
  try {
    while (stale) {
      stale = false;
      const open = photos.filter(photo => photo.feature && !photo.verdict);
      if (!state.classes.length) continue;
      for (let begin = 0; begin < open.length; begin += rowsAtOnce) {
        const some = open.slice(begin, begin + rowsAtOnce);
        const {answers} = await callJson('POST', 'v1/classify', {features: some.map(photo => photo.feature)});
        answers.forEach((/** @type {any} */ answer, /** @type {number} */ i) => take(some[i], answer));
      }
    }
  } finally {
    asking = false;
  }
}

/** Decides what photos are: they become examples of a class. One that was decided before is taken out there. */
export const decide = inTurn(async (/** @type {Photo[]} */ some, /** @type {string} */ name) => {
  const wanted = some.filter(photo => photo.verdict?.class !== name && !photo.error);
  if (!wanted.length) return;
  const changes = [];
  for (const photo of wanted) changes.push(...await retract(photo));
  const done = await sendExamples(name, wanted);
  changes.push(...done.changes);
  const ids = await idsOf(name, wanted, done.added);
  wanted.forEach((photo, i) => {
    settle(photo, {class: name, changes: done.changes.map(change => change.id), example: ids[i]}, done.changes);
  });
  remember(`${counted(wanted.length, 'photo')} as ${displayName(name)}`, changes);
  await refresh();
  say(`${done.added ? `${counted(done.added, 'photo')} added to ${displayName(name)}.` : `${displayName(name)} has ${wanted.length === 1 ? 'this photo' : 'these photos'} already.`}${asSentences(done.warnings)}`);
});

/** What changes decided of photos, so that undo and redo show them as they were.
    @type {{photo: Photo, changes: number[], from: Verdict | null, to: Verdict | null}[]} */
const decisions = [];

/** @param {Photo} photo @param {Verdict | null} to */
function show(photo, to) {
  photo.verdict = to;
  tell('changed', photo);
}

/** @param {Photo} photo @param {Verdict | null} to @param {Change[]} changes that did it */
function settle(photo, to, changes) {
  if (changes.length) decisions.push({photo, changes: changes.map(change => change.id), from: photo.verdict, to});
  show(photo, to);
}

/** @param {Photo} photo */
async function retract(photo) {
  const {verdict} = photo;
  if (!verdict || verdict.class === null) return [];
  const {example} = verdict;
  if (example === undefined) throw new Error(`${photo.name} is in ${displayName(verdict.class)}: remove it there first.`);
  const done = await call('DELETE', 'v1/examples/' + example);
  settle(photo, null, [done.change]);
  return [done.change];
}

/** Decides each of some photos as the recognizer answered. @param {Photo[]} some */
export async function confirm(some) {
  /** @type {Map<string, Photo[]>} */
  const byClass = new Map();
  for (const photo of some) {
    if (!photo.answer || photo.verdict) continue;
    const {name, none} = firstOf(photo);
    if (none) decideNone([photo]);
    else if (name !== null) byClass.set(name, [...byClass.get(name) ?? [], photo]);
  }
  for (const [name, group] of byClass) await decide(group, name);
}

/** Decides that photos are of none of the classes. The recognizer learns of them when it is calibrated. @param {Photo[]} some */
export function decideNone(some) {
  for (const photo of some) {
    if (photo.error || photo.verdict?.class === null || photo.verdict?.example !== undefined) continue;
    show(photo, {class: null, changes: []});
  }
}

/** Takes back that a photo is of none of the classes. @param {Photo} photo */
export function reopen(photo) {
  show(photo, null);
  attempt(null, askAgain);
}

/** A class has another name. @param {string} from @param {string} to @param {Change} change */
export function renamed(from, to, change) {
  for (const photo of photos) if (photo.verdict?.class === from) settle(photo, {...photo.verdict, class: to}, [change]);
}

/**
 * A class is part of another one, where its photos have other numbers.
 * @param {string} from
 * @param {string} into
 * @param {{change: Change, examples: {from: number, to: number}[]}} done
 */
export function merged(from, into, {change, examples}) {
  const numbers = new Map(examples.map(one => [one.from, one.to]));
  for (const photo of photos) {
    const {verdict} = photo;
    if (verdict?.class !== from) continue;
    settle(photo, {class: into, changes: [change.id], example: numbers.get(verdict.example ?? -1)}, [change]);
  }
}

/**
 * Photos of the class, or those examples, were taken out of the recognizer.
 * @param {{class?: string, example?: number}} what
 * @param {Change} change
 */
export function forgotten(what, change) {
  for (const photo of photos) {
    const {verdict} = photo;
    if (verdict && verdict.class !== null && (verdict.class === what.class || verdict.example === what.example && what.example !== undefined)) settle(photo, null, [change]);
  }
}

/** Photos marked as none of the classes. */
export const unknownPhotos = () => photos.filter(photo => photo.verdict?.class === null);

/** It is asked about no more. @param {Photo} photo */
export function drop(photo) {
  const place = photos.indexOf(photo);
  if (place >= 0) photos.splice(place, 1);
  tell('added');
}

export function clear() {
  photos.length = decisions.length = 0;
  tell('added');
}

onUndone(undone => {
  for (const {photo, changes, from} of [...decisions].reverse()) if (changes.some(change => undone.includes(change))) show(photo, from);
});
onRedone(redone => {
  for (const {photo, changes, to} of decisions) if (changes.some(change => redone.includes(change))) show(photo, to);
});
on('recognizer', () => { attempt(null, askAgain); });
