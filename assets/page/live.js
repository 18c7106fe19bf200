// What the camera sees, answered twice a second, and enrolled when it is named.

import {call} from './api.js';
import {hasCamera, frameOf, openCamera} from './camera.js';
import {bar, byId, el, onClick, onPress, onSubmit, refill, say} from './dom.js';
import {enrolFiles} from './enrol.js';
import {state} from './state.js';
import {classNamed, displayName, percent} from './words.js';

const answerEvery = 500;  // ms
const shownClasses = 3;
const leastShare = 0.5, leastLead = 0.2;  // for a name, which would else jump about

/** @type {MediaStream | null} */
let stream = null;
/** @type {ReturnType<typeof setInterval> | undefined} */
let beat;
let asking = false;

/** @param {Answer} answer */
function show(answer) {
  const none = answer.none_of_these === true, [{class: name, probability}, second] = answer.ranking;
  const isUnsure = probability < leastShare || probability - (second?.probability ?? 0) < leastLead;
  byId('live-verdict').textContent = none ? 'None of these' : isUnsure ? 'Not sure' : displayName(name);
  byId('live-verdict').classList.toggle('none', none || isUnsure);
  refill(byId('live-ranking'), answer.ranking.map(one => el('li', {}, el('button', {
    class: 'choice', title: 'Put into the field', onclick: () => { byId('live-class').value = displayName(one.class); }},
    bar(one.probability), el('span', {class: 'choice-name'}, displayName(one.class)), el('span', {class: 'choice-percent'}, percent(one.probability))))));
}

async function answer() {
  if (!stream || asking || document.hidden || !state.classes.length) return;
  asking = true;
  try {
    const frame = await frameOf(byId('live-video'), state.recognizer?.shorter_side);
    if (!frame) return;
    const form = new FormData();
    form.append('image', frame, frame.name);
    const {answers} = await call('POST', `v1/classify?top=${shownClasses}&nearest=0`, form);
    if (stream) show(answers[0]);
  } catch (error) {
    stop();
    say(/** @type {Error} */ (error).message, true);
  } finally {
    asking = false;
  }
}

export function stop() {
  if (!stream) return;
  clearInterval(beat);
  for (const track of stream.getTracks()) track.stop();
  stream = null;
  byId('live').hidden = true;
}

async function start() {
  if (stream) return stop();
  stream = await openCamera();
  if (!stream) return;
  byId('live-video').srcObject = stream;
  byId('live').hidden = false;
  byId('live-verdict').textContent = state.classes.length ? '…' : 'No classes yet: name this one.';
  byId('live-ranking').replaceChildren();
  beat = setInterval(answer, answerEvery);
}

/** The frame of now becomes a photo of a class. */
async function keep() {
  const name = classNamed(byId('live-class').value);
  if (!name) {
    byId('live-class').focus();
    throw new Error('Choose its class.');
  }
  const frame = await frameOf(byId('live-video'));
  if (!frame) throw new Error('The camera shows nothing yet.');
  say(await enrolFiles(new Map([[name, [frame]]])));
}

export function listenToLive() {
  byId('live-start').hidden = !hasCamera();
  byId('live-video').muted = true;
  onClick('live-start', start);
  onPress('live-stop', () => {
    stop();
    byId('live-start').focus();
  });
  onSubmit('live-form', keep, 'live-error');
  addEventListener('hashchange', stop);
}
