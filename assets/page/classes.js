// The classes with some of their photos, and how new ones come in: a folder, a dialog, photos dropped onto one.

import {call, classPath} from './api.js';
import {listenToCamera} from './camera.js';
import {attempt, bar, byId, el, icon, onClick, onPress, onSubmit, part, say, sayAt, showBlob} from './dom.js';
import {drawnClasses} from './demo.js';
import {enrolFiles, waitFor} from './enrol.js';
import {filesOfDrop, filesOfFolder, partsOf, picturesOf} from './folders.js';
import {exampleImage, isPicture} from './pictures.js';
import {on, state} from './state.js';
import {addTests, testClasses, testedOf} from './testing.js';
import {byName, classNamed, counted, displayName, wordsFor} from './words.js';

const thumbsOfClass = 6;
const searchFrom = 12;  // classes
const mostAttributes = 3;

/** The first photos of a class, by class and number of photos. @type {Map<string, Promise<number[]>>} */
const firstExamples = new Map();

/** @param {ClassEntry} one */
function examplesOf(one) {
  const key = `${one.class} ${one.images} ${one.time} ${state.change?.id}`;
  let found = firstExamples.get(key);
  if (!found) {
    found = call('GET', classPath(one.class)).then(
        shown => shown.examples.slice(0, thumbsOfClass).map((/** @type {Example} */ example) => example.example), () => []);
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

/** @param {ClassEntry} one @param {Element | null} [thumbs] those of its last card, so that nothing moves until there are others */
function classCard(one, thumbs) {
  const some = one.attributes.slice(0, mostAttributes).map(has => wordsFor(has.name));
  const more = one.attributes.length - some.length;
  const card = el('li', {class: one.images > thumbsOfClass / 2 ? 'class-card many' : 'class-card'},
                  el('a', {href: '#teach/' + encodeURIComponent(one.class), title: one.class},
                     thumbs ?? el('span', {class: 'thumbs'}), el('span', {class: 'name'}, displayName(one.class)),
                     el('span', {class: 'about'}, counted(one.images, 'photo') + (one.embedding_source === 'text' ? ', described' : '')),
                     el('span', {class: 'tested'}),
                     some.length ? el('span', {class: 'about'}, some.join(', ') + (more > 0 ? ` and ${more} more` : '')) : null,
                     el('span', {class: 'certainty', hidden: true}, el('span', {class: 'meter'}), el('span', {class: 'sure'}))));
  const add = el('button', {class: 'add plain small square', 'aria-label': 'Add photos to ' + displayName(one.class), title: 'Add photos', onclick: () => {
    cardClass = one.class;
    byId('card-files').click();
  }}, icon('plus'));
  card.append(add);
  card.dataset.class = one.class;
  takeDrops(card, found => enrolInto(one.class, picturesOf(found)));
  const tests = el('span', {class: 'tests', 'aria-hidden': 'true'}, 'Test photos');
  takeDrops(tests, found => addTests(picturesOf(found), one.class));
  card.append(tests);
  watcher.observe(card);
  return card;
}

/** How many of each class's own photos are answered right. */
function showRight() {
  const found = new Map((state.accuracy?.by_class ?? []).map(one => [one.class, one]));
  for (const card of byId('classes').querySelectorAll('[data-class]')) {
    const one = found.get(card.dataset.class), place = part(card, '.certainty');
    part(card, '.tested').textContent = testedOf(card.dataset.class);
    place.hidden = !one;
    if (!one) continue;
    part(place, '.meter').replaceChildren(bar(one.right / one.asked, ''));
    part(place, '.sure').textContent = `${one.right} of ${one.asked} right`;
  }
}

/** The class whose card takes photos. */
let cardClass = '';

/** The first card makes classes. */
const newCard = el('li', {class: 'class-card new'}, el('button', {id: 'add-class', onclick: () => openForm()}, icon('plus'), 'Class'),
                   el('label', {class: 'button link mouse', htmlFor: 'more-folder'}, icon('folder'), 'Add a folder'), byId('more-folder'));
byId('classes').append(newCard);

/** @param {string} name @param {File[]} files */
export async function enrolInto(name, files) {
  if (!files.length) throw new Error('These files are not photos.');
  say(await enrolFiles(new Map([[name, files]])));
}

function showClasses() {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest('.class-card'))?.dataset.class;
  const wanted = byId('class-search').value.trim().toLowerCase();
  const some = state.classes.filter(one => `${one.class} ${displayName(one.class)}`.toLowerCase().includes(wanted));
  some.sort((a, b) => byName(a.class, b.class));
  newCard.hidden = !state.classes.length;
  const last = new Map([...byId('classes').children].map((/** @type {any} */ card) => [card.dataset.class, card.querySelector('.thumbs')]));
  byId('classes').replaceChildren(newCard, ...some.map(one => classCard(one, last.get(one.class))));
  showRight();
  byId('start').hidden = state.classes.length > 0;
  byId('class-tools').hidden = state.classes.length < searchFrom && !wanted;
  byId('class-count').textContent = some.length === state.classes.length ? '' : `${some.length} of ${counted(some.length, 'class', 'classes').replace(/^\d+/, String(state.classes.length))}`;
  byId('next-step').hidden = state.classes.length < 2;
  byId('one-class').hidden = state.classes.length !== 1;
  byId('no-class').hidden = some.length > 0 || state.classes.length === 0;
  byId('class-names').replaceChildren(...state.classes.map(one => new Option('', displayName(one.class))));
  byId('attribute-names').replaceChildren(...(state.recognizer?.attributes ?? []).map(name => new Option(wordsFor(name), name)));
  byId('attributes-field').hidden = !state.recognizer?.attributes.length;
  byId('words-field').hidden = !state.recognizer?.takes_words;
  if (focused !== undefined) /** @type {HTMLElement | null} */ ([...byId('classes').children].find((/** @type {any} */ card) => card.dataset.class === focused)?.querySelector('a'))?.focus({preventScroll: true});
}

/**
 * @param {HTMLElement} zone
 * @param {(found: Found[]) => Promise<unknown>} take
 */
export function takeDrops(zone, take) {
  for (const event of ['dragenter', 'dragover']) zone.addEventListener(event, () => zone.classList.add('over'));
  const leave = () => zone.classList.remove('over');
  zone.addEventListener('dragleave', event => { if (!zone.contains(/** @type {Node | null} */ (event.relatedTarget))) leave(); });
  zone.addEventListener('drop', event => {
    leave();
    if (event.defaultPrevented) return;  // a zone within it took the files
    event.preventDefault();
    if (!event.dataTransfer) return;
    const files = filesOfDrop(event.dataTransfer);
    attempt(null, async () => take(await files));
    waitFor(files);
  });
}

/** @param {Parts} parts */
async function learnFrom({learn, test}) {
  const done = await enrolFiles(learn);
  say(test.size ? `${done} ${await testClasses(test)}` : done);
}

/**
 * What was dropped or chosen: folders are classes, loose photos are of a class for which the page asks.
 * @param {Found[]} found
 */
async function teach(found) {
  const parts = partsOf(found), photos = picturesOf(found);
  if (parts.learn.size) return learnFrom(parts);
  if (!photos.length) throw new Error('There are no photos.');
  openForm(photos);
}

// The dialog for a class.

/** Photos that it will send: chosen, dropped or taken by the camera. @type {File[]} */
let pending = [];
const mostPending = 24;

function showPending() {
  byId('pending').textContent = pending.length ? counted(pending.length, 'photo') + ' ready' : '';
  byId('pending-photos').replaceChildren(...pending.slice(-mostPending).map(file => {
    const picture = el('img', {class: 'thumb', alt: ''});
    showBlob(picture, file);
    return picture;
  }));
}

/** @param {File[]} [files] */
export function openForm(files = []) {
  pending.push(...files);
  showPending();
  if (!byId('enrol-box').open) byId('enrol-box').showModal();
  byId('class-name').focus();
}

function closeForm() {
  byId('enrol-box').close();
  byId('enrol-form').reset();
  sayAt(byId('enrol-error'), '');
  pending = [];
  showPending();
}

/** By what a class can be known: "photos of the class, or attributes". */
function whatIsAskedFor() {
  const others = [state.recognizer?.attributes.length ? 'attributes' : '', state.recognizer?.takes_words ? 'a description' : ''];
  return ['photos of the class', ...others.filter(Boolean)].join(', or ');
}

async function enrolForm() {
  const name = classNamed(byId('class-name').value);
  if (!name) throw new Error('Give the class a name.');
  const said = {attributes: byId('attributes').value.trim(), descriptions: byId('words').value.trim()};
  if (!pending.length && !said.attributes && !said.descriptions) throw new Error(`Give ${whatIsAskedFor()}.`);
  byId('enrol-box').close();  // so that the work can be stopped
  try {
    say(await enrolFiles(new Map([[name, pending]]), said));
  } catch (error) {
    byId('enrol-box').showModal();
    throw error;
  }
  closeForm();
  if (!byId('view-teach').hidden) byId('add-class').focus({preventScroll: true});
}

/** The files of an input, which is then empty. @param {string} id @param {(files: File[]) => Promise<unknown>} take */
export const listenToFiles = (id, take) => byId(id).addEventListener('change', () => attempt(null, async () => {
  const files = [...byId(id).files];
  byId(id).value = '';
  await take(files);
}));

/** The classes of a folder. @param {string} id @param {(parts: Parts) => Promise<unknown>} take */
export const listenToClassFolder = (id, take) => listenToFolder(id, async found => {
  const parts = partsOf(found);
  if (!parts.learn.size) throw new Error('No photos in folders were found: expected a folder that has a subfolder of photos for each class.');
  await take(parts);
});

/** Everything in a folder. @param {string} id @param {(found: Found[]) => Promise<unknown>} take */
export const listenToFolder = (id, take) => byId(id).addEventListener('change', () => attempt(null, async () => {
  const found = filesOfFolder(byId(id).files);
  byId(id).value = '';
  await take(found);
}));

export function listenToClasses() {
  on('recognizer', showClasses);
  for (const what of /** @type {('accuracy' | 'tests')[]} */ (['accuracy', 'tests'])) on(what, showRight);
  byId('class-search').addEventListener('input', showClasses);
  takeDrops(byId('start'), teach);
  takeDrops(newCard, teach);
  takeDrops(byId('enrol-form'), async found => openForm(picturesOf(found)));
  for (const id of ['start-folder', 'more-folder']) listenToClassFolder(id, learnFrom);
  for (const id of ['start-files', 'enrol-files']) listenToFiles(id, async files => openForm(files.filter(isPicture)));
  listenToFiles('card-files', files => enrolInto(cardClass, files.filter(isPicture)));
  onPress('start-class', () => openForm());
  onPress('start-camera', () => {
    openForm();
    byId('enrol-camera').querySelector('button').click();
  });
  onClick('demo', async () => say(await enrolFiles(await drawnClasses())));
  listenToCamera('enrol-camera', photo => openForm([photo]));
  onPress('enrol-cancel', closeForm);
  byId('enrol-box').addEventListener('cancel', closeForm);
  onSubmit('enrol-form', enrolForm, 'enrol-error');
}
