// All photos in the plane, similar ones close together, coloured by class.

import {call} from './api.js';
import {attempt, byId, el, refill, svg} from './dom.js';
import {exampleImage} from './pictures.js';
import {on, state} from './state.js';
import {byName, displayName} from './words.js';

const mostNamed = 24;  // of the legend
const leastRadius = 0.009, leastPixels = 5;  // of a dot
const reach = 0.05;  // of a finger

/** @type {{example: number, class: string, x: number, y: number}[]} */
let points = [];
/** The revision that is shown. */
let shownFor = -1;
let chosen = -1;

/** Neighbours in the list get colours far apart; every second circle is darker. @param {number} place */
const colour = place => `hsl(${Math.round(place * 137.5) % 360} 65% ${place % 2 ? 38 : 55}%)`;

/** @param {number} place of the photo */
function choose(place) {
  chosen = place;
  const one = points[place];
  for (const [i, dot] of [...byId('map').children].entries()) dot.classList.toggle('chosen', i === place);
  byId('map-photo').replaceChildren(
    exampleImage(one.example, displayName(one.class), true),
    el('figcaption', {}, el('a', {href: '#teach/' + encodeURIComponent(one.class)}, displayName(one.class))));
}

/** @param {MouseEvent} event */
function chooseAt(event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(byId('map').getScreenCTM().inverse());
  let best = -1, least = reach;
  for (const [i, one] of points.entries()) {
    const far = Math.hypot(one.x - at.x, one.y - at.y);
    if (far < least) [best, least] = [i, far];
  }
  if (best >= 0) choose(best);
}

/** Arrows go to the nearest photo on that side. @param {KeyboardEvent} event */
function press(event) {
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

function draw() {
  const names = [...new Set(points.map(one => one.class))].sort(byName), place = new Map(names.map((name, i) => [name, i]));
  const radius = Math.max(leastRadius, leastPixels / (byId('map').clientWidth || 600));
  const height = Math.max(0.3, ...points.map(one => one.y));
  byId('map').setAttribute('viewBox', `${-2 * radius} ${-2 * radius} ${1 + 4 * radius} ${height + 4 * radius}`);
  byId('map').replaceChildren(...points.map(one => {
    const dot = svg('circle', {cx: one.x, cy: one.y, r: radius, fill: colour(place.get(one.class) ?? 0)});
    dot.append(svg('title', {}, displayName(one.class)));
    return dot;
  }));
  refill(byId('map-legend'), names.slice(0, mostNamed).map((name, i) => {
    const mark = svg('svg', {viewBox: '0 0 2 2', class: 'mark', 'aria-hidden': 'true'});
    mark.append(svg('circle', {cx: 1, cy: 1, r: 1, fill: colour(i)}));
    return el('li', {}, mark, el('a', {href: '#teach/' + encodeURIComponent(name)}, displayName(name)));
  }));
  byId('map-more').textContent = names.length > mostNamed ? `and ${names.length - mostNamed} more: point at a photo` : '';
}

async function show() {
  if (!byId('map-box').open || shownFor === state.revision) return;
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
  byId('map-photo').replaceChildren();
  draw();
}

export function listenToMap() {
  on('recognizer', () => {
    byId('map-box').hidden = state.classes.length < 2 || state.classes.reduce((sum, one) => sum + one.images, 0) < 10;
    attempt(null, show);
  });
  byId('map-box').addEventListener('toggle', () => attempt(null, show));
  byId('map').addEventListener('click', chooseAt);
  byId('map').addEventListener('keydown', press);
}
