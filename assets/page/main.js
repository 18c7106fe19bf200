// Begins the page: views, where photos come in, and the first look at the recognizer.

import {listenToAccuracy} from './accuracy.js';
import {useKey} from './api.js';
import {listenToCalibration} from './calibrate.js';
import {listenToCamera} from './camera.js';
import {listenToClasses, takeDrops} from './classes.js';
import {listenToDetails} from './details.js';
import {attempt, byId, hush} from './dom.js';
import {listenToExports} from './exports.js';
import {picturesOf} from './folders.js';
import {openClass, listenToGallery} from './gallery.js';
import {listenToGrid} from './grid.js';
import {listenToHistory, openHistory} from './history.js';
import {acceptedTypes} from './pictures.js';
import {ask} from './photos.js';
import {on, refresh, state} from './state.js';
import {listenToUnsorted} from './unsorted.js';
import {counted} from './words.js';

const views = ['photos', 'classes', 'none', 'history'];

/** The address says what is shown: #photos, #classes, #classes/NAME, ... */
function showView() {
  const [wanted, name] = location.hash.slice(1).split('/');
  const view = views.includes(wanted) ? wanted : state.recognizer && !state.classes.length ? 'classes' : 'photos';
  for (const one of views) {
    byId('view-' + one).hidden = one !== view;
    document.body.classList.toggle('at-' + one, one === view);
    const link = byId('to-' + one);
    if (one === view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  openClass(view === 'classes' && name ? decodeURIComponent(name) : null);
  openHistory(view === 'history');
}

function showSummary() {
  const images = state.classes.reduce((sum, one) => sum + one.images, 0);
  byId('summary').textContent = `${counted(state.classes.length, 'class', 'classes')}, ${counted(images, 'photo')}`;
}

/** Where the server has several recognizers, one is chosen here: each has a page of its own. */
function showChoice() {
  const info = state.recognizer;
  const which = byId('which');
  which.hidden = !info || info.recognizers.length < 2;
  if (!info || which.hidden) return;
  document.title = `${info.name} – protocom`;
  which.replaceChildren(...info.recognizers.map(one => new Option(one.name, one.path, false, one.name === info.name)));
}

function listenToPhotos() {
  for (const id of ['ask-files', 'ask-camera']) {
    byId(id).addEventListener('change', () => attempt(null, async () => {
      const files = [...byId(id).files];
      byId(id).value = '';
      await ask(files);
    }));
  }
  takeDrops(byId('drop'), found => ask(picturesOf(found)));
  listenToCamera('webcam', photo => { attempt(null, () => ask([photo])); });
  // Beside the zones a browser would leave the page and show the file.
  for (const event of ['dragover', 'drop'])
    addEventListener(event, e => { if (/** @type {DragEvent} */ (e).dataTransfer?.types.includes('Files')) e.preventDefault(); });
  addEventListener('paste', event => {
    const files = [...event.clipboardData?.files ?? []];
    if (files.length && !byId('view-photos').hidden) attempt(null, () => ask(files));
  });
}

function begin() {
  for (const input of document.querySelectorAll('input[type=file]:not([webkitdirectory])')) input.setAttribute('accept', acceptedTypes);
  byId('ask-camera').accept = 'image/*';
  for (const listen of [listenToPhotos, listenToDetails, listenToGrid, listenToClasses, listenToGallery, listenToUnsorted, listenToCalibration, listenToHistory, listenToAccuracy, listenToExports]) listen();
  on('recognizer', showSummary);
  on('recognizer', showChoice);
  byId('which').addEventListener('change', () => { location.href = byId('which').value; });
  addEventListener('hashchange', () => {
    hush();
    showView();
    scrollTo(0, 0);
  });
  document.querySelector('.skip')?.addEventListener('click', event => {
    event.preventDefault();  // the address says which view is shown
    byId('main').focus();
  });
  byId('key-form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    useKey(byId('key').value.trim());
    attempt(event.submitter, refresh);
  });
  showView();
  attempt(null, async () => {
    await refresh();
    showView();
  });
}

begin();
