// Begins the page: its three steps, where photos come in, and the first look at the recognizer.

import {listenToAccuracy} from './accuracy.js';
import {useKey} from './api.js';
import {listenToCalibration} from './calibrate.js';
import {listenToClasses, listenToFiles, takeDrops} from './classes.js';
import {listenToDetails} from './details.js';
import {attempt, byId, hush, onPress, onSubmit, part} from './dom.js';
import {listenToExports} from './exports.js';
import {listenToOthers} from './follow.js';
import {openClass, listenToGallery} from './gallery.js';
import {listenToGrid} from './grid.js';
import {listenToHistory, openHistory} from './history.js';
import {listenToLive} from './live.js';
import {listenToMap} from './map.js';
import {listenToNext} from './next.js';
import {acceptedTypes} from './pictures.js';
import {ask, photos} from './photos.js';
import {on, refresh, state} from './state.js';
import {hasTests, listenToTesting, testOrAsk} from './testing.js';
import {listenToUnsorted} from './unsorted.js';
import {listenToUse} from './use.js';
import {counted} from './words.js';
import {listenToZoom} from './zoom.js';

const views = ['teach', 'try', 'use', 'history'];
const wideFrom = '(min-width: 60rem)';

/** The address selects the view: #teach, #teach/NAME, #try, ... */
function showView() {
  const [wanted, name] = location.hash.slice(1).split('/');
  const view = views.includes(wanted) ? wanted : state.recognizer && !state.classes.length ? 'teach' : 'try';
  for (const one of views) {
    byId('view-' + one).hidden = one !== view;
    document.body.classList.toggle('at-' + one, one === view);
    const link = byId('to-' + one);
    if (one === view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  byId('view-' + view).querySelector('.facts-place')?.append(byId('facts'));
  byId('accuracy').open = view === 'teach' && matchMedia(wideFrom).matches;
  openClass(view === 'teach' && name ? decodeURIComponent(name) : null);
  openHistory(view === 'history');
}

function showSummary() {
  const images = state.classes.reduce((sum, one) => sum + one.images, 0);
  byId('summary').textContent = `${counted(state.classes.length, 'class', 'classes')}, ${counted(images, 'photo')}`;
}

/** What was asked lies here alone: it is not lost without a question. */
function listenToLeaving() {
  addEventListener('beforeunload', event => { if ((photos.length || hasTests()) && navigator.userActivation?.hasBeenActive !== false) event.preventDefault(); });
  // Changes by another tab or program.
  addEventListener('visibilitychange', () => { if (!document.hidden) attempt(null, refresh); });
}

function listenToHelp() {
  onPress('open-help', () => byId('help').showModal());
  onPress('close-help', () => byId('help').close());
  // What sticks below the header does so however much is said in it.
  const header = part(document.body, 'header');
  new ResizeObserver(() => document.documentElement.style.setProperty('--head', header.offsetHeight + 'px')).observe(header);
}

/** Where the server has several recognizers, one is chosen here: each has a page of its own. */
function showChoice() {
  const info = state.recognizer;
  const which = byId('which');
  which.hidden = !info || info.recognizers.length < 2;
  if (!info) return;
  document.title = `${info.name} – protocom`;
  byId('project').textContent = byId('project').title = info.name;
  byId('project').classList.toggle('unseen', !which.hidden);
  which.replaceChildren(...info.recognizers.map(one => new Option(one.name, one.path, false, one.name === info.name)));
}

function listenToPhotos() {
  for (const id of ['ask-files', 'ask-camera']) listenToFiles(id, ask);
  takeDrops(byId('drop'), testOrAsk);
  // Beside the zones a browser would leave the page and show the file.
  for (const event of ['dragover', 'drop'])
    addEventListener(event, e => { if (/** @type {DragEvent} */ (e).dataTransfer?.types.includes('Files')) e.preventDefault(); });
  addEventListener('paste', event => {
    const files = [...event.clipboardData?.files ?? []];
    if (files.length && !byId('view-try').hidden) attempt(null, () => ask(files));
  });
}

/** A shared address has the key behind "#", which browsers keep to themselves. */
function takeKey() {
  const key = /^#key=(.+)/.exec(location.hash);
  if (!key) return;
  useKey(decodeURIComponent(key[1]));
  history.replaceState(null, '', location.pathname);
}

function begin() {
  takeKey();
  for (const input of document.querySelectorAll('input[type=file]:not([webkitdirectory])')) input.setAttribute('accept', acceptedTypes);
  byId('ask-camera').accept = 'image/*';
  for (const listen of [listenToPhotos, listenToDetails, listenToGrid, listenToClasses, listenToGallery, listenToUnsorted, listenToMap, listenToNext, listenToZoom, listenToCalibration, listenToHistory, listenToAccuracy, listenToExports, listenToLive, listenToTesting, listenToUse, listenToHelp, listenToLeaving, listenToOthers]) listen();
  on('recognizer', showSummary);
  on('recognizer', showChoice);
  byId('which').addEventListener('change', () => { location.href = byId('which').value; });
  addEventListener('hashchange', () => {
    hush();
    showView();
    scrollTo(0, 0);
  });
  document.querySelector('.skip')?.addEventListener('click', event => {
    event.preventDefault();  // the address selects the view
    byId('main').focus();
  });
  onSubmit('key-form', () => {
    useKey(byId('key').value.trim());
    return refresh();
  });
  showView();
  attempt(null, async () => {
    await refresh();
    showView();
  });
}

begin();
