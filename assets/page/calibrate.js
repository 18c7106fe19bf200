// "None of these": what each setting costs.

import {stopEstimating} from './accuracy.js';
import {remember} from './actions.js';
import {call, callJson} from './api.js';
import {attempt, byId, onClick, say, svg} from './dom.js';
import {pieces} from './pictures.js';
import {onPhotos, unknownPhotos} from './photos.js';
import {on, refresh, state} from './state.js';
import {counted, ofHundred} from './words.js';

/** @typedef {{false_accept: number, accepted: number}} Setting */

const enoughUnknown = 10;
const mostUnknown = 60;

/** Settings of the slider, from strict to lenient. @returns {Setting[]} */
function settings() {
  const made = state.recognizer?.calibration;
  if (!made) return [];
  const all = (made.exchange ?? []).filter(one => Math.abs(one.false_accept - made.false_accept) > 0.004);
  all.push({false_accept: made.false_accept, accepted: made.accepted});
  return all.sort((a, b) => a.false_accept - b.false_accept);
}

/** @param {Setting} one */
const costs = one => `${ofHundred(1 - one.accepted)} of 100 of your own photos are refused; ${ofHundred(one.false_accept)} of 100 photos of similar kinds slip through.`;

/** @param {Setting} one @param {boolean} [differentOnly] whether that is what was learned */
const sentence = (one, differentOnly) => differentOnly ? `Refuses very different photos. ${costs(one)}` : costs(one);

/** Other things that pass (across), own photos kept (up). @param {Setting[]} all @param {number} chosen */
function drawCurve(all, chosen) {
  const left = 56, top = 30, width = 310, height = 160, bottom = top + height;
  const most = Math.max(0.2, ...all.map(one => one.false_accept));
  const x = (/** @type {Setting} */ one) => left + width * one.false_accept / most;
  const y = (/** @type {Setting} */ one) => top + height * (1 - one.accepted);
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap(share => [
    svg('line', {x1: left, x2: left + width, y1: bottom - height * share, y2: bottom - height * share, class: 'grid'}),
    svg('text', {x: left - 6, y: bottom - height * share + 4, 'text-anchor': 'end'}, String(100 * share))]);
  const across = [0, 0.5, 1].map(share => svg('text', {x: left + width * share, y: bottom + 18, 'text-anchor': 'middle'}, String(Math.round(100 * share * most))));
  const titles = [svg('text', {x: left, y: 16, class: 'title'}, 'What each setting costs'),
                  svg('text', {x: left + width / 2, y: bottom + 38, 'text-anchor': 'middle'}, 'similar photos that pass, of 100'),
                  svg('text', {x: -(top + height / 2), y: 14, transform: 'rotate(-90)', 'text-anchor': 'middle'}, 'own photos kept, of 100')];
  byId('curve').replaceChildren(...grid, ...across, ...titles, svg('polyline', {class: 'line', points: all.map(one => `${x(one)},${y(one)}`).join(' ')}),
                                ...all.map((one, i) => svg('circle', {cx: x(one), cy: y(one), r: i === chosen ? 7 : 3, class: i === chosen ? 'chosen' : 'point'})));
}

/** Whether similar kinds were not looked at. @param {{similar?: boolean}} made */
const isDifferentOnly = made => made.similar === false;
/** Whether no rate was chosen. @param {{balanced?: boolean, similar?: boolean}} made */
const isSuggested = made => made.balanced === true || isDifferentOnly(made);

/** The revision that is shown: what a person ticks since then stays. */
let shownFor = -1;

function show() {
  const made = state.recognizer?.calibration ?? null;
  byId('not-calibrated').hidden = made !== null;
  byId('calibrated').hidden = made === null;
  byId('calibrate').textContent = made ? isSuggested(made) ? 'Learn it again' : 'Back to the suggestion' : 'Learn to say “none of these”';
  if (shownFor !== state.revision) byId('similar').checked = made?.similar === true;
  shownFor = state.revision;
  byId('none-state').textContent = made ? sentence(made, isDifferentOnly(made)) : 'off: every photo gets one of your classes';
  if (!made) return;
  const all = settings(), at = all.findIndex(one => one.false_accept === made.false_accept);
  byId('slider').max = all.length - 1;
  byId('slider').value = at;
  byId('slider').disabled = all.length < 2;
  showSetting(at);
  const aim = made.balanced ? 'As many photos of similar kinds pass as own ones are refused. ' : '';
  byId('calibration').textContent = aim + (made.images > 0 ? `Tried on ${counted(made.images, 'photo')} of your classes.` : 'Tried on classes left out.');
}

/** @param {number} at */
function showSetting(at) {
  const all = settings(), one = all[at], made = state.recognizer?.calibration;
  if (!one || !made) return;
  byId('setting').textContent = sentence(one, isDifferentOnly(made) && one.false_accept === made.false_accept);
  byId('slider').setAttribute('aria-valuetext', byId('setting').textContent);
  drawCurve(all, at);
}

function showUnknown() {
  const count = unknownPhotos().length, enough = count >= enoughUnknown;
  byId('unknown-field').hidden = count === 0;
  byId('use-unknown').disabled = !enough;
  if (!enough) byId('use-unknown').checked = false;
  byId('unknown-text').textContent = enough ? `Use the ${counted(count, 'photo')} that you marked as none of these`
                                              : `${counted(count, 'photo')} marked as none of these; ${enoughUnknown} or more can be learned from`;
}

/** @param {number} [falseAccept] none: balanced */
async function calibrate(falseAccept) {
  say('Learning …');
  stopEstimating();
  const done = byId('use-unknown').checked ? await calibrateOnUnknown(falseAccept)
                                            : await callJson('POST', 'v1/calibrate', falseAccept === undefined ? {similar: byId('similar').checked} : {false_accept: falseAccept});
  remember('none of these', [done.change]);
  await refresh();
  say('Learned: ' + sentence(done, isDifferentOnly(done)));
}

/** @param {number} [falseAccept] */
function calibrateOnUnknown(falseAccept) {
  const form = new FormData();
  for (const photo of pieces(unknownPhotos(), mostUnknown)[0]) form.append('image', photo.blob, photo.name);
  if (falseAccept !== undefined) form.append('false_accept', String(falseAccept));
  return call('POST', 'v1/calibrate', form);
}

export function listenToCalibration() {
  on('recognizer', show);
  onPhotos('changed', showUnknown);
  onPhotos('added', showUnknown);
  onClick('calibrate', () => calibrate(), 'calibrate-error');
  byId('slider').addEventListener('input', () => showSetting(Number(byId('slider').value)));
  byId('slider').addEventListener('change', () => attempt(byId('slider'), async () => {
    const one = settings()[Number(byId('slider').value)];
    if (one.false_accept === state.recognizer?.calibration?.false_accept) return;  // it is the present one
    try {
      await calibrate(Math.round(1000 * one.false_accept) / 1000);
    } finally {
      show();
    }
  }, byId('calibrate-error')));
  showUnknown();
}

