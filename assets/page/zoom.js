// A photo large: the part that made its answer, and a part of it that is marked by hand, which is a photo of its own.

import {call} from './api.js';
import {attempt, byId, onClick, onPress, showBlob, svg} from './dom.js';
import {ask} from './photos.js';
import {cutOut} from './pictures.js';
import {displayName} from './words.js';

/** @type {Photo | null} */
let photo = null;
/** What is marked. @type {Box | null} */
let box = null;
/** Where a box that is being drawn began, in shares. @type {{x: number, y: number} | null} */
let corner = null;
/** Parts that were asked about before. @type {WeakMap<File, Box[]>} */
const taken = new WeakMap();

const smallestSide = 0.02;
const step = 0.02;  // of a key

/** @param {number} value */
const within = value => Math.min(1, Math.max(0, value));

/** @param {Box} one @param {string} look */
const outline = (one, look) => svg('rect', {class: look, x: one.x, y: one.y, width: one.width, height: one.height, 'vector-effect': 'non-scaling-stroke'});

function drawBoxes() {
  const known = photo ? taken.get(photo.file) ?? [] : [];
  byId('zoom-boxes').replaceChildren(...known.map(one => outline(one, 'taken')), ...box ? [outline(box, 'marked')] : []);
  byId('zoom-ask').hidden = box === null;
  byId('zoom-mark').hidden = box !== null;
}

/** @param {Photo} which */
export function zoom(which) {
  photo = which;
  box = corner = null;
  byId('zoom-photo').alt = which.name;
  showBlob(byId('zoom-photo'), which.file);
  drawBoxes();
  byId('zoom').showModal();
}

/** Where a pointer is on the photo, in shares. @param {PointerEvent} event */
function placeOf(event) {
  const frame = byId('zoom-boxes').getBoundingClientRect();
  return {x: within((event.clientX - frame.left) / frame.width), y: within((event.clientY - frame.top) / frame.height)};
}

/** @param {PointerEvent} event */
function draw(event) {
  if (!corner) return;
  const {x, y} = placeOf(event);
  box = {x: Math.min(x, corner.x), y: Math.min(y, corner.y), width: Math.abs(x - corner.x), height: Math.abs(y - corner.y)};
  if (Math.min(box.width, box.height) < smallestSide) box = null;
  drawBoxes();
}

/** Arrows move the box, with Shift they make it larger or smaller. @param {KeyboardEvent} event */
function press(event) {
  const ways = /** @type {Record<string, number[]>} */ ({ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step]});
  const [x, y] = ways[event.key] ?? [0, 0];
  if (!box || !x && !y) return;
  event.preventDefault();
  const keep = (/** @type {number} */ value, /** @type {number} */ least, /** @type {number} */ most) => Math.min(most, Math.max(least, value));
  box = event.shiftKey ? {...box, width: keep(box.width + x, smallestSide, 1 - box.x), height: keep(box.height + y, smallestSide, 1 - box.y)}
                       : {...box, x: keep(box.x + x, 0, 1 - box.width), y: keep(box.y + y, 0, 1 - box.height)};
  drawBoxes();
}

async function askAboutBox() {
  if (!photo || !box) return;
  const {file} = photo, part = await cutOut(file, box, photo.name);
  taken.set(file, [...taken.get(file) ?? [], box]);
  byId('zoom').close();
  await ask([part]);
}

// The part that made the answer.

/** @type {WeakMap<Photo, Explained>} */
const explained = new WeakMap();
const leastEffect = 0.05;  // of log odds; a smaller one counts as none

/** Patches that say nothing are dark. @param {Explained} found */
function darken({effects, area: [x, y, width, height]}) {
  const most = Math.max(...effects.flat()), side = effects.length;
  const patches = effects.flatMap((row, i) => row.map((effect, k) =>
    svg('rect', {x: x + width * k / side, y: y + height * i / side, width: width / side, height: height / side,
                 'fill-opacity': (0.7 * (1 - Math.sqrt(within(effect / most)))).toFixed(2)})));
  const unseen = svg('path', {d: `M0 0H1V1H0ZM${x} ${y}v${height}h${width}v${-height}Z`, 'fill-rule': 'evenodd', 'fill-opacity': 0.7});
  byId('where').replaceChildren(unseen, ...patches);
}

/** The overlay fills the photo, which is shown whole within its frame. */
function fitOverlay() {
  const picture = byId('details-photo'), {naturalWidth: width, naturalHeight: height} = picture;
  const scale = width && height ? Math.min(picture.clientWidth / width, picture.clientHeight / height) : 0;
  byId('where').setAttribute('width', String(width * scale));
  byId('where').setAttribute('height', String(height * scale));
}

export function hideWhere() {
  byId('where').replaceChildren();
  byId('show-where').setAttribute('aria-pressed', 'false');
  byId('where-note').hidden = true;
}

/** @param {Photo} which */
async function showWhere(which) {
  if (byId('show-where').getAttribute('aria-pressed') === 'true') return hideWhere();
  let found = explained.get(which);
  if (!found) {
    const form = new FormData();
    form.append('image', which.blob, which.name);
    found = /** @type {Explained} */ (await call('POST', 'v1/explain', form));
    explained.set(which, found);
  }
  byId('show-where').setAttribute('aria-pressed', 'true');
  const isClear = Math.max(...found.effects.flat()) > leastEffect;
  byId('where-note').hidden = false;
  byId('where-note').textContent = isClear ? `Bright: the parts that support ${displayName(found.class)}. Each part was covered once.`
                                               : 'No single part decides: without any of them the answer is as certain.';
  fitOverlay();
  if (isClear) darken(found);
}

/** @param {() => Photo | null} opened the photo whose details are shown */
export function listenToWhere(opened) {
  new ResizeObserver(fitOverlay).observe(byId('details-photo'));
  onClick('show-where', async () => {
    const which = opened();
    if (which) await showWhere(which);
  }, 'details-error');
}

export function listenToZoom() {
  const area = byId('zoom-boxes');
  area.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    area.setPointerCapture(event.pointerId);
    corner = placeOf(event);
    box = null;
    drawBoxes();
  });
  area.addEventListener('pointermove', draw);
  for (const end of ['pointerup', 'pointercancel']) area.addEventListener(end, () => { corner = null; });
  byId('zoom').addEventListener('keydown', press);
  onPress('zoom-mark', () => {
    box = {x: 0.25, y: 0.25, width: 0.5, height: 0.5};
    drawBoxes();
    byId('zoom-ask').focus();
  });
  onPress('zoom-ask', () => attempt(byId('zoom-ask'), askAboutBox, byId('zoom-error')));
  onPress('zoom-close', () => byId('zoom').close());
}
