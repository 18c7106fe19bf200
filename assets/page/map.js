// All photos in the plane, similar ones close together, coloured by class: to look for some, and to put many in a class.

import {remember} from './actions.js';
import {call, callJson} from './api.js';
import {listenToFiles} from './classes.js';
import {attempt, byId, el, onClick, onPress, onSubmit, refill, say, svg} from './dom.js';
import {forgotten} from './photos.js';
import {isPicture, keptImage, shrink} from './pictures.js';
import {on, refresh, state} from './state.js';
import {byName, classNamed, counted, displayName} from './words.js';

/** A photo that the recognizer holds: an example of a class, or an unlabelled one.
    @typedef {{example?: number, unlabelled?: number, class?: string}} Held */

const mostNamed = 24;  // of the legend
const mostShown = 24;  // of the selection
const mostFound = 12;
const leastRadius = 0.009, leastPixels = 5;  // of a dot
const reach = 0.05;  // of a finger
const leastLasso = 0.02;

/** @type {(Held & {x: number, y: number})[]} */
let points = [];
/** The revision that is shown. */
let shownFor = -1;
let chosen = -1;
/** By what tells photos apart. @type {Map<string, Held>} */
const selected = new Map();

/** @param {Held} one */
const pathOf = one => one.example === undefined ? 'v1/unlabelled/' + one.unlabelled : 'v1/examples/' + one.example;
/** @param {Held} one */
const nameOf = one => one.class === undefined ? 'Unsorted' : displayName(one.class);
/** @returns {any[]} */
const dots = () => [...byId('map').querySelectorAll('circle')];

/** Neighbours in the list get colours far apart; every second circle is darker. @param {number | undefined} place */
const colour = place => place === undefined ? '#8a8a90' : `hsl(${Math.round(place * 137.5) % 360} 65% ${place % 2 ? 38 : 55}%)`;

/** @param {number} place of the photo */
function choose(place) {
  chosen = place;
  const one = points[place];
  for (const [i, dot] of dots().entries()) dot.classList.toggle('chosen', i === place);
  const name = one.class === undefined ? nameOf(one) : el('a', {href: '#teach/' + encodeURIComponent(one.class)}, nameOf(one));
  byId('map-photo').replaceChildren(keptImage(pathOf(one), nameOf(one), true), el('figcaption', {}, name));
  byId('map-tools').hidden = false;
}

/** @param {MouseEvent} event */
const placeOf = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(byId('map').getScreenCTM().inverse());

/** @param {MouseEvent} event */
function chooseAt(event) {
  const at = placeOf(event);
  let best = -1, least = reach;
  for (const [i, one] of points.entries()) {
    const far = Math.hypot(one.x - at.x, one.y - at.y);
    if (far < least) [best, least] = [i, far];
  }
  if (best >= 0) choose(best);
}

/** Arrows go to the nearest photo on that side; the space bar selects it. @param {KeyboardEvent} event */
function press(event) {
  if (event.key === ' ' && chosen >= 0) {
    event.preventDefault();
    return toggle([points[chosen]]);
  }
  const [dx, dy] = /** @type {Record<string, number[]>} */ ({ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]})[event.key] ?? [0, 0];
  if (!points.length || !dx && !dy) return;
  event.preventDefault();
  const from = points[Math.max(0, chosen)];
  let best = -1, least = Infinity;
  for (const [i, one] of points.entries()) {
    const along = (one.x - from.x) * dx + (one.y - from.y) * dy, aside = Math.abs((one.x - from.x) * dy) + Math.abs((one.y - from.y) * dx);
    const far = along + 3 * aside;
    if (along > 0 && far < least) [best, least] = [i, far];
  }
  choose(best < 0 ? Math.max(0, chosen) : best);
}

// The selection.

/** Selects photos, or not any more if all of them are. @param {Held[]} some */
function toggle(some) {
  const isThere = some.every(one => selected.has(pathOf(one)));
  for (const one of some) {
    if (isThere) selected.delete(pathOf(one));
    else selected.set(pathOf(one), one);
  }
  showSelection();
}

function showSelection() {
  for (const [i, dot] of dots().entries()) dot.classList.toggle('selected', selected.has(pathOf(points[i])));
  const hadFocus = byId('map-selection').contains(document.activeElement);
  byId('map-selection').hidden = !selected.size;
  if (hadFocus && !selected.size) byId('map').focus({preventScroll: true});
  byId('map-count').textContent = `${selected.size} selected`;
  refill(byId('map-selected'), [...selected.values()].slice(0, mostShown).map(one => el('li', {}, el('button', {
    class: 'open', title: 'Take it out of the selection', 'aria-label': `Take this photo out of the selection: ${nameOf(one)}`, onclick: () => toggle([one])},
    keptImage(pathOf(one), '', true)))));
}

/** Where a line around photos is drawn, and whether it was the last that the pointer did. @type {DOMPoint[]} */
let lasso = [];
let drew = false;

/** @param {{x: number, y: number}} at */
function isWithin(at) {
  let inside = false;
  for (let i = 0, k = lasso.length - 1; i < lasso.length; k = i++) {
    const a = lasso[i], b = lasso[k];
    if (a.y > at.y !== b.y > at.y && at.x < (b.x - a.x) * (at.y - a.y) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

function listenToLasso() {
  const map = byId('map'), line = svg('polygon', {class: 'lasso'});
  map.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
    drew = false;
    if (event.pointerType === 'touch' || event.button) return;  // a finger scrolls
    lasso = [placeOf(event)];
    map.setPointerCapture(event.pointerId);
  });
  map.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
    if (!lasso.length) return;
    const at = placeOf(event);
    lasso.push(at);
    drew ||= Math.hypot(at.x - lasso[0].x, at.y - lasso[0].y) > leastLasso;
    line.setAttribute('points', lasso.map(one => `${one.x},${one.y}`).join(' '));
    if (drew) map.append(line);
  });
  for (const end of ['pointerup', 'pointercancel']) map.addEventListener(end, (/** @type {PointerEvent} */ event) => {
    const some = points.filter(isWithin);
    if (drew && !event.shiftKey) selected.clear();
    if (drew) for (const one of some) selected.set(pathOf(one), one);
    lasso = [];
    line.remove();
    if (drew) showSelection();
  });
}

/** One change of all that are selected, and of those alone for which it is one. @param {'place' | 'remove'} way @param {Held[]} some @param {string} [name] */
async function change(way, some, name) {
  const numbers = (/** @type {'example' | 'unlabelled'} */ kind) => some.flatMap(one => one[kind] ?? []);
  const done = await callJson('POST', 'v1/photos/' + way, {examples: numbers('example'), unlabelled: numbers('unlabelled'), class: name});
  const what = name === undefined ? `${counted(some.length, 'photo')} removed` : `${counted(some.length, 'photo')} put in ${displayName(name)}`;
  remember(what, [done.change]);
  for (const example of numbers('example')) forgotten({example}, done.change);
  for (const one of some) selected.delete(pathOf(one));
  showSelection();
  await refresh();
  say(what + '. Undo takes it back.');
}

async function put() {
  const name = classNamed(byId('map-class').value);
  if (!name) {
    byId('map-class').focus();
    throw new Error('Choose a class.');
  }
  const some = [...selected.values()].filter(one => one.class !== name);
  if (!some.length) throw new Error('They are in this class already.');
  await change('place', some, name);
  byId('map-class').value = '';
}

/** Selects what is most similar. @param {BodyInit} body @param {string} [type] */
async function search(body, type) {
  const {photos} = await call('POST', 'v1/similar?count=' + mostFound, body, {type});
  selected.clear();
  toggle(photos);
  say(`The ${counted(photos.length, 'photo')} that fit best are selected.`);
}

/** @param {object} wanted */
const searchBy = wanted => search(JSON.stringify(wanted), 'application/json');

function draw() {
  const names = [...new Set(points.flatMap(one => one.class ?? []))].sort(byName), place = new Map(names.map((name, i) => [name, i]));
  const radius = Math.max(leastRadius, leastPixels / (byId('map').clientWidth || 600));
  const height = Math.max(0.3, ...points.map(one => one.y));
  byId('map').setAttribute('viewBox', `${-2 * radius} ${-2 * radius} ${1 + 4 * radius} ${height + 4 * radius}`);
  byId('map').replaceChildren(...points.map(one => {
    const dot = svg('circle', {cx: one.x, cy: one.y, r: radius, fill: colour(place.get(one.class ?? ''))});
    dot.append(svg('title', {}, nameOf(one)));
    return dot;
  }));
  /** @param {number | undefined} i @param {Node | string} name */
  const named = (i, name) => {
    const mark = svg('svg', {viewBox: '0 0 2 2', class: 'mark', 'aria-hidden': 'true'});
    mark.append(svg('circle', {cx: 1, cy: 1, r: 1, fill: colour(i)}));
    return el('li', {}, mark, name);
  };
  refill(byId('map-legend'), [...names.slice(0, mostNamed).map((name, i) => named(i, el('a', {href: '#teach/' + encodeURIComponent(name)}, displayName(name)))),
                              ...points.some(one => one.class === undefined) ? [named(undefined, 'Unsorted')] : []]);
  byId('map-more').textContent = names.length > mostNamed ? `and ${names.length - mostNamed} more: point at a photo` : '';
  showSelection();
}

async function show() {
  if (byId('map-box').hidden || !byId('map-box').open || shownFor === state.revision) return;
  shownFor = state.revision;
  byId('map-box').classList.add('busy');
  try {
    points = (await call('GET', 'v1/map')).photos;
  } catch (error) {
    shownFor = -1;
    throw error;
  } finally {
    byId('map-box').classList.remove('busy');
  }
  chosen = -1;
  const there = new Set(points.map(pathOf));  // what was moved has another number
  for (const path of selected.keys()) if (!there.has(path)) selected.delete(path);
  byId('map-photo').replaceChildren();
  byId('map-tools').hidden = true;
  draw();
}

export function listenToMap() {
  on('recognizer', () => {
    const photos = state.classes.reduce((sum, one) => sum + one.images, state.recognizer?.unlabelled ?? 0);
    byId('map-box').hidden = !state.classes.length || photos < 10;
    byId('map-words').hidden = !state.recognizer?.searches_words;
    attempt(null, show);
  });
  byId('map-box').addEventListener('toggle', () => attempt(null, show));
  byId('map').addEventListener('click', (/** @type {MouseEvent} */ event) => { if (!drew || !event.detail) chooseAt(event); });  // a click without a pointer has no detail
  byId('map').addEventListener('keydown', press);
  listenToLasso();
  onSubmit('map-words', async () => {
    const words = byId('map-text').value.trim();
    if (words) await searchBy({words});
  });
  listenToFiles('map-files', async files => {
    const photo = files.find(isPicture);
    if (!photo) throw new Error('This file is not a photo.');
    const form = new FormData();
    form.append('image', await shrink(photo), photo.name);
    await search(form);
  });
  onClick('map-like', () => searchBy({example: points[chosen].example, unlabelled: points[chosen].unlabelled}));
  onPress('map-pick', () => toggle([points[chosen]]));
  onPress('map-none', () => toggle([...selected.values()]));
  onSubmit('map-selection', put);
  onClick('map-remove', () => change('remove', [...selected.values()]));
}
