// Photos become examples of a class.

import {remember} from './actions.js';
import {call, classPath} from './api.js';
import {pieces, shrink} from './pictures.js';
import {Progress} from './progress.js';
import {refresh} from './state.js';
import {counted, displayName, plainly} from './words.js';

const photosAtOnce = 32;

/**
 * Sends photos of one class, in pieces.
 * @param {string} name
 * @param {{name: string, blob: Blob, file: Blob}[]} photos
 * @param {Said} [said]
 * @param {Progress} [progress]
 */
export async function sendExamples(name, photos, said = {}, progress) {
  const total = {added: 0, isNew: false, changes: /** @type {Change[]} */ ([]),
                 unreadable: /** @type {{image: string, reason: string}[]} */ ([]), warnings: /** @type {string[]} */ ([])};
  for (const piece of photos.length ? pieces(photos, photosAtOnce) : [[]]) {
    const form = new FormData();
    for (const photo of piece) form.append('image', photo.blob, photo.name);
    if (!total.changes.length) for (const [field, text] of Object.entries(said)) if (text) form.append(field, text);
    const done = await call('POST', classPath(name) + '/examples', form, {signal: progress?.signal});
    total.added += done.added;
    total.isNew ||= done.is_new;
    total.unreadable.push(...done.unreadable);
    total.warnings.push(...done.warnings);
    if (done.change) total.changes.push(done.change);
    progress?.step(piece.length);
  }
  return total;
}

let working = Promise.resolve();
/** Dropped folders whose files are being listed. @type {Promise<unknown>} */
let listing = working;

/** @param {Promise<unknown>} files that may be enrolled */
export const waitFor = files => { listing = Promise.allSettled([listing, files]); };

/** Once what is being enrolled is, or could not be. */
export async function enrolled() {
  await listing;
  await working;
}

/** @param {string[]} warnings of the server */
export const asSentences = warnings => warnings.map(one => ` ${plainly(one)}.`).join('');

/**
 * Files of one or more classes, one such work after the other.
 * @param {Map<string, File[]>} classes
 * @param {Said} [said]
 * @returns {Promise<string>} what was done
 */
export function enrolFiles(classes, said = {}) {
  const done = working.then(() => enrolAll(classes, said));
  working = done.then(() => {}, () => {});
  return done;
}

/**
 * Files of one or more classes, with a progress bar.
 * @param {Map<string, File[]>} classes
 * @param {Said} said
 * @returns {Promise<string>} what was done
 */
async function enrolAll(classes, said) {
  const count = [...classes.values()].reduce((sum, files) => sum + files.length, 0);
  const progress = new Progress('Adding photos', count);
  const changes = [], unreadable = [], warnings = [];
  let added = 0, isNew = false;
  const title = classes.size === 1 ? displayName([...classes.keys()][0]) : counted(classes.size, 'class', 'classes');
  try {
    for (const [name, files] of classes) {
      const photos = [];
      for (const file of files) photos.push({name: file.name || 'photo.jpg', file, blob: await shrink(file)});
      const done = await sendExamples(name, photos, said, progress);
      added += done.added;
      isNew ||= done.isNew;
      changes.push(...done.changes);
      unreadable.push(...done.unreadable);
      warnings.push(...done.warnings);
    }
  } finally {
    progress.finish();
    remember(`${counted(added, 'photo')} of ${title}`, changes);
    await refresh();
  }
  const text = added ? `${counted(added, 'photo')} added to ${title}.` : isNew ? `${title} was added.` : count ? `${count === 1 ? 'This photo is' : 'These photos are'} there already.` : `What is known of ${title} was changed.`;
  const lost = unreadable.length ? ` ${counted(unreadable.length, 'photo')} could not be read: ${unreadable[0].image} (${unreadable[0].reason}).` : '';
  return text + lost + asSentences(warnings);
}

/**
 * The ids under which photos were enrolled just now, as far as the server lists them.
 * @param {string} name
 * @param {{name: string}[]} photos
 * @param {number} added
 * @returns {Promise<(number | undefined)[]>}
 */
export async function idsOf(name, photos, added) {
  if (added !== photos.length) return [];
  /** @type {Example[]} */
  const all = (await call('GET', classPath(name))).examples;
  const last = all.sort((a, b) => a.example - b.example).slice(-added);
  return photos.map((photo, i) => last[i]?.source === photo.name ? last[i].example : undefined);
}
