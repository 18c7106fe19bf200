// The camera of this computer. Where a page may not use it (plain HTTP from another machine), there is no button.

import {byId, el, say} from './dom.js';

const pictureEvery = 350;  // ms, while the button is held

/** Whether the page may ask for one. */
export const hasCamera = () => Boolean(navigator.mediaDevices?.getUserMedia);

/** @returns {Promise<MediaStream | null>} null, which is said: there is none */
export async function openCamera() {
  try {
    return await navigator.mediaDevices.getUserMedia({video: {facingMode: 'environment'}});
  } catch {
    say('The camera cannot be used: the browser has none, or may not use it.', true);
    return null;
  }
}

let count = 0;

/** What the camera shows now; null: nothing yet. @param {HTMLVideoElement} video @param {number} [side] the shorter one, at most @returns {Promise<File | null>} */
export async function frameOf(video, side = Infinity) {
  const {videoWidth: width, videoHeight: height} = video;
  if (!width) return null;
  const scale = Math.min(1, side / Math.min(width, height));
  const canvas = el('canvas', {width: Math.round(scale * width), height: Math.round(scale * height)});
  canvas.getContext('2d').drawImage(video, 0, 0, canvas.width, canvas.height);
  /** @type {Blob | null} */
  const blob = await new Promise(done => canvas.toBlob(done, 'image/jpeg', 0.93));
  return blob && new File([blob], `camera-${++count}.jpg`, {type: 'image/jpeg'});
}

/**
 * @param {string} id of the place, which has a button to start it
 * @param {(photo: File) => void} take
 */
export function listenToCamera(id, take) {
  const place = byId(id), start = place.querySelector('button');
  if (!hasCamera()) {
    place.hidden = true;
    return;
  }
  /** @type {MediaStream | null} */
  let stream = null;
  const video = el('video', {muted: true, autoplay: true, playsInline: true, 'aria-label': 'What the camera sees'});
  const shoot = el('button', {}, 'Take a photo (hold for more)');
  const box = el('div', {class: 'camera', hidden: true}, video, shoot);
  place.append(box);

  const stop = () => {
    stream?.getTracks().forEach(track => track.stop());
    stream = null;
    box.hidden = true;
    start.textContent = 'Use the camera';
  };
  start.addEventListener('click', async () => {
    if (stream) return stop();
    stream = await openCamera();
    if (!stream) return;
    video.srcObject = stream;
    box.hidden = false;
    start.textContent = 'Stop the camera';
  });

  const picture = async () => {
    const photo = await frameOf(video);
    if (photo) take(photo);
  };
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let again;
  const release = () => clearInterval(again);
  shoot.addEventListener('pointerdown', () => {
    picture();
    again = setInterval(picture, pictureEvery);
  });
  for (const event of ['pointerup', 'pointerleave', 'pointercancel']) shoot.addEventListener(event, release);
  shoot.addEventListener('click', (/** @type {MouseEvent} */ event) => { if (event.detail === 0) picture(); });  // by keyboard
  addEventListener('hashchange', stop);
  place.closest('dialog')?.addEventListener('close', stop);
}
