// Unlabelled photos, which improve accuracy.

import {remember} from './actions.js';
import {call} from './api.js';
import {listenToFiles, listenToFolder, takeDrops} from './classes.js';
import {attempt, byId, cross, el, onClick, refill, say} from './dom.js';
import {picturesOf} from './folders.js';
import {keptImage, pieces, shrink} from './pictures.js';
import {Progress} from './progress.js';
import {on, refresh, state} from './state.js';
import {counted} from './words.js';

const photosAtOnce = 32;
const shownAtOnce = 24;

/** How many of them are shown. */
let most = shownAtOnce;
/** What is shown, as of how many there were at which change. */
let shownFor = '';

/** @param {File[]} files */
async function add(files) {
  if (!files.length) throw new Error('These files are not photos.');
  const progress = new Progress('Looking at unsorted photos', files.length);
  const changes = [], unreadable = [];
  let added = 0;
  try {
    const photos = [];
    for (const file of files) photos.push({name: file.name || 'photo.jpg', file, blob: await shrink(file)});
    for (const piece of pieces(photos, photosAtOnce)) {
      const form = new FormData();
      for (const photo of piece) form.append('image', photo.blob, photo.name);
      const done = await call('POST', 'v1/unlabelled', form, {signal: progress.signal});
      added += done.added;
      changes.push(done.change);
      unreadable.push(...done.unreadable);
      progress.step(piece.length);
    }
  } finally {
    progress.finish();
    remember(`${counted(added, 'unsorted photo')}`, changes);
    await refresh();
  }
  const text = added ? `${counted(added, 'unsorted photo')} added.` : 'These photos are here already.';
  say(unreadable.length ? `${text} ${counted(unreadable.length, 'photo')} could not be read: ${unreadable[0].image} (${unreadable[0].reason}).` : text);
}

/** @param {Unsorted} one */
function card(one) {
  const title = one.source || 'photo ' + one.photo;
  const remove = cross('Remove ' + title, async () => {
    const done = await call('DELETE', 'v1/unlabelled/' + one.photo);
    remember(`remove ${title}`, [done.change]);
    await refresh();
    say(`${title} was removed. Undo restores it.`);
  });
  return el('li', {class: 'example'}, keptImage('v1/unlabelled/' + one.photo, title), remove);
}

async function clear() {
  const done = await call('DELETE', 'v1/unlabelled');
  remember(`remove ${counted(done.removed, 'unsorted photo')}`, [done.change]);
  await refresh();
  say(`${counted(done.removed, 'unsorted photo')} removed. Undo restores them.`);
}

/** Loads the photos when they are first shown. */
async function showPhotos() {
  const now = `${state.recognizer?.unlabelled} ${state.change?.id} ${most}`;
  if (!byId('unsorted-box').open || now === shownFor) return;
  const listed = await call('GET', 'v1/unlabelled');
  shownFor = now;
  refill(byId('unsorted'), listed.photos.slice(-most).reverse().map(card));
  byId('unsorted-tools').hidden = listed.images === 0;
  byId('unsorted-more').hidden = listed.images <= most;
}

function show() {
  const info = state.recognizer;
  byId('unsorted-box').hidden = !info?.takes_unlabelled || !state.classes.length && !info.unlabelled;
  byId('unsorted-count').textContent = info?.unlabelled ? counted(info.unlabelled, 'photo') : '';
  attempt(null, showPhotos);
}

/** Their effect on accuracy, as estimated on enrolled photos. */
function showEffect() {
  const found = state.accuracy;
  const known = found !== null && found.expected !== null && found.without_unlabelled !== null;
  byId('unsorted-effect').hidden = !known;
  if (!known) return;
  byId('unsorted-effect').textContent =
      `With them about ${Math.round(100 * Number(found.expected))} of 100 new photos will be right, without them ${Math.round(100 * Number(found.without_unlabelled))}.`;
}

export function listenToUnsorted() {
  on('recognizer', show);
  on('accuracy', showEffect);
  byId('unsorted-box').addEventListener('toggle', show);
  takeDrops(byId('unsorted-drop'), found => add(picturesOf(found)));
  listenToFiles('unsorted-files', add);
  listenToFolder('unsorted-folder', found => add(picturesOf(found)));
  onClick('unsorted-more', async () => {
    most *= 4;
    await showPhotos();
  });
  onClick('unsorted-clear', clear);
}
