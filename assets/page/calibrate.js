// "None of these": how much of other things may pass, and what that costs in photos of the classes.

import {stopEstimating} from './accuracy.js';
import {remember} from './actions.js';
import {call, callJson} from './api.js';
import {attempt, byId, say, svg} from './dom.js';
import {pieces} from './pictures.js';
import {onPhotos, strangers} from './photos.js';
import {on, refresh, state} from './state.js';
import {counted, percent} from './words.js';

/** @typedef {{false_accept: number, accepted: number}} Setting */

const enoughStrangers = 10;
const mostStrangers = 60;

/** The settings that the slider has, from strict to lenient: those that are known, and the present one. @returns {Setting[]} */
function settings() {
  const made = state.recognizer?.calibration;
  if (!made) return [];
  const all = (made.exchange ?? []).filter(one => Math.abs(one.false_accept - made.false_accept) > 0.004);
  all.push({false_accept: made.false_accept, accepted: made.accepted});
  return all.sort((a, b) => a.false_accept - b.false_accept);
}

/** @param {Setting} one */
const sentence = one => `${percent(one.accepted)} of your own photos are kept, and ${percent(one.false_accept)} of photos of similar kinds pass for one of the classes.`;

/** Other things that pass (across), own photos kept (up). @param {Setting[]} all @param {number} chosen */
function drawCurve(all, chosen) {
  const left = 46, top = 10, width = 300, height = 170;
  const most = Math.max(0.2, ...all.map(one => one.false_accept));
  const x = (/** @type {Setting} */ one) => left + width * one.false_accept / most;
  const y = (/** @type {Setting} */ one) => top + height * (1 - one.accepted);
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap(share => [
    svg('line', {x1: left, x2: left + width, y1: top + height * (1 - share), y2: top + height * (1 - share), class: 'grid'}),
    svg('text', {x: left - 6, y: top + height * (1 - share) + 4, 'text-anchor': 'end'}, Math.round(100 * share) + ' %')]);
  const across = [0, 0.5, 1].map(share => svg('text', {x: left + width * share, y: top + height + 18, 'text-anchor': share === 1 ? 'end' : share ? 'middle' : 'start'}, percent(share * most).replace('.0', '')));
  byId('curve').replaceChildren(...grid, ...across, svg('polyline', {class: 'line', points: all.map(one => `${x(one)},${y(one)}`).join(' ')}),
                                ...all.map((one, i) => svg('circle', {cx: x(one), cy: y(one), r: i === chosen ? 7 : 3, class: i === chosen ? 'chosen' : 'point'})));
}

function show() {
  const made = state.recognizer?.calibration ?? null;
  byId('not-calibrated').hidden = made !== null;
  byId('calibrated').hidden = made === null;
  byId('calibrate').textContent = made ? 'Calibrate again' : 'Calibrate';
  if (!made) return;
  const all = settings(), at = all.findIndex(one => one.false_accept === made.false_accept);
  byId('slider').max = all.length - 1;
  byId('slider').value = at;
  byId('slider').disabled = all.length < 2;
  showSetting(at);
  const basis = `Measured on ${counted(made.images, 'photo')} of the classes, each answered as if it were not enrolled`;
  const aim = made.balanced ? 'Balanced: as many other things pass as own photos are refused. '
                            : made.similar === false ? 'Something else altogether is refused, and at most 5 % of your own photos. ' : '';
  byId('calibration').textContent = `${aim}${made.images > 0 ? basis : 'It stands on classes left out, for no class has two photos'}.`;
}

/** @param {number} at */
function showSetting(at) {
  const all = settings(), one = all[at];
  if (!one) return;
  byId('setting').textContent = sentence(one);
  byId('slider').setAttribute('aria-valuetext', sentence(one));
  drawCurve(all, at);
}

function showStrangers() {
  const count = strangers().length, enough = count >= enoughStrangers;
  byId('strangers-field').hidden = count === 0;
  byId('use-strangers').disabled = !enough;
  if (!enough) byId('use-strangers').checked = false;
  byId('strangers-text').textContent = enough ? `Use the ${counted(count, 'photo')} that you marked as none of these`
                                              : `${counted(count, 'photo')} marked as none of these; ${enoughStrangers} or more can be used to calibrate`;
}

/** @param {number} [falseAccept] none: as the checkbox says */
async function calibrate(falseAccept) {
  say('Calibrating …');
  stopEstimating();
  const done = byId('use-strangers').checked ? await calibrateOnStrangers(falseAccept)
                                            : await callJson('POST', 'v1/calibrate', falseAccept === undefined ? {similar: byId('similar').checked} : {false_accept: falseAccept});
  remember('calibration', [done.change]);
  await refresh();
  say('Calibrated: ' + sentence(done));
}

/** @param {number} [falseAccept] */
function calibrateOnStrangers(falseAccept) {
  const form = new FormData();
  for (const photo of pieces(strangers(), mostStrangers)[0]) form.append('image', photo.blob, photo.name);
  if (falseAccept !== undefined) form.append('false_accept', String(falseAccept));
  return call('POST', 'v1/calibrate', form);
}

export function listenToCalibration() {
  on('recognizer', show);
  onPhotos('changed', showStrangers);
  onPhotos('added', showStrangers);
  byId('calibrate').addEventListener('click', () => attempt(byId('calibrate'), () => calibrate(), byId('calibrate-error')));
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
  showStrangers();
}

