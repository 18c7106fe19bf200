// Photos become examples of a class; and undo, which takes whole actions back.

import {call, callJson, classPath} from './api.js';
import {say} from './dom.js';
import {pieces, shrink} from './pictures.js';
import {Progress} from './progress.js';
import {refresh, state} from './state.js';
import {counted, displayName} from './words.js';

const photosAtOnce = 32;

/** Changes that belong together: one action of a person. @type {{what: string, changes: number[]}[]} */
const actions = [];
/** @type {Set<(changes: number[]) => void>} */
const undoneListeners = new Set();

/** @param {(changes: number[]) => void} listener gets the numbers of changes that were taken back */
export const onUndone = listener => undoneListeners.add(listener);

/** @param {string} what @param {(import('./types').Change | null)[]} changes */
export function remember(what, changes) {
  const numbers = changes.flatMap(change => change ? [change.id] : []);
  if (numbers.length) actions.push({what, changes: numbers});
}

/** The action that undo would take back; null: only a change of the server's, or nothing. */
export const lastAction = () => actions.find(action => action.changes.at(-1) === state.change?.id) ?? null;

/**
 * Takes the last action back, whoever made it.
 * @param {number} [until] also everything after and including this change
 */
export async function undo(until) {
  if (!state.change) return;
  const action = lastAction();
  const undone = [];
  const wanted = until === undefined ? new Set(action?.changes ?? [state.change.id]) : null;
  let what = action?.what ?? '';
  try {
    for (let change = /** @type {import('./types').Change | null} */ (state.change); change;) {
      if (wanted ? !wanted.has(change.id) : change.id < Number(until)) break;
      const done = await callJson('POST', 'v1/undo', {change: change.id});
      what ||= done.undone.what;
      undone.push(done.undone.id);
      change = done.change;
    }
  } finally {
    for (const listener of undoneListeners) listener(undone);
    await refresh();
  }
  say(undone.length > 1 && until !== undefined ? `${counted(undone.length, 'change')} taken back.` : `Taken back: ${what}.`);
}

/**
 * Sends photos of one class, in pieces.
 * @param {string} name
 * @param {{name: string, blob: Blob, file: Blob}[]} photos
 * @param {string} [attributes]
 * @param {Progress} [progress]
 */
export async function sendExamples(name, photos, attributes = '', progress) {
  const total = {added: 0, isNew: false, changes: /** @type {import('./types').Change[]} */ ([]),
                 unreadable: /** @type {{image: string, reason: string}[]} */ ([])};
  for (const piece of photos.length ? pieces(photos, photosAtOnce) : [[]]) {
    const form = new FormData();
    for (const photo of piece) form.append('image', photo.blob, photo.name);
    if (attributes && !total.changes.length) form.append('attributes', attributes);
    const done = await call('POST', classPath(name) + '/examples', form, {signal: progress?.signal});
    total.added += done.added;
    total.isNew ||= done.is_new;
    total.unreadable.push(...done.unreadable);
    if (done.change) total.changes.push(done.change);
    progress?.step(piece.length);
  }
  return total;
}

/**
 * Files of one or more classes, with a progress bar.
 * @param {Map<string, File[]>} classes
 * @param {string} [attributes]
 * @returns {Promise<string>} what was done
 */
export async function enrolFiles(classes, attributes = '') {
  const count = [...classes.values()].reduce((sum, files) => sum + files.length, 0);
  const progress = new Progress('Enrolling photos', count);
  const changes = [], unreadable = [];
  let added = 0, isNew = false;
  const title = classes.size === 1 ? displayName([...classes.keys()][0]) : counted(classes.size, 'class', 'classes');
  try {
    for (const [name, files] of classes) {
      const photos = [];
      for (const file of files) photos.push({name: file.name || 'photo.jpg', file, blob: await shrink(file)});
      const done = await sendExamples(name, photos, attributes, progress);
      added += done.added;
      isNew ||= done.isNew;
      changes.push(...done.changes);
      unreadable.push(...done.unreadable);
    }
  } finally {
    progress.finish();
    remember(`${counted(added, 'photo')} of ${title}`, changes);
    await refresh();
  }
  const text = added ? `${counted(added, 'photo')} added to ${title}.` : isNew ? `${title} was added.` : `${title} has these photos already.`;
  if (!unreadable.length) return text;
  return `${text} ${counted(unreadable.length, 'photo')} could not be read: ${unreadable[0].image} (${unreadable[0].reason}).`;
}

/**
 * The ids under which photos were enrolled just now, as far as the server's list tells.
 * @param {string} name
 * @param {{name: string}[]} photos
 * @param {number} added
 * @returns {Promise<(number | undefined)[]>}
 */
export async function idsOf(name, photos, added) {
  if (added !== photos.length) return [];
  /** @type {import('./types').Example[]} */
  const all = (await call('GET', classPath(name))).examples;
  const last = all.sort((a, b) => a.example - b.example).slice(-added);
  return photos.map((photo, i) => last[i]?.source === photo.name ? last[i].example : undefined);
}
