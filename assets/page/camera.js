// The camera of this computer. Where a page may not use it (plain HTTP from another machine), there is no button.

import {byId, el, say} from './dom.js';

const pictureEvery = 350;  // ms, while the button is held

/**
 * @param {string} id of the place, which has a button to start it
 * @param {(photo: File) => void} take
 */
export function listenToCamera(id, take) {
  const place = byId(id), start = place.querySelector('button');
  if (!navigator.mediaDevices?.getUserMedia) {
    place.hidden = true;
    return;
  }
  /** @type {MediaStream | null} */
  let stream = null;
  const video = el('video', {muted: true, autoplay: true, playsInline: true, 'aria-label': 'What the camera sees'});
  const shoot = el('button', {type: 'button'}, 'Take a photo (hold for more)');
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
    try {
      stream = await navigator.mediaDevices.getUserMedia({video: {facingMode: 'environment'}});
    } catch {
      return say('The camera cannot be used: the browser has none, or may not use it.', true);
    }
    video.srcObject = stream;
    box.hidden = false;
    start.textContent = 'Stop the camera';
  });

  let count = 0;
  const picture = () => {
    if (!video.videoWidth) return;
    const canvas = el('canvas', {width: video.videoWidth, height: video.videoHeight});
    canvas.getContext('2d').drawImage(video, 0, 0);
    canvas.toBlob((/** @type {Blob | null} */ blob) => {
      if (blob) take(new File([blob], `camera-${++count}.jpg`, {type: 'image/jpeg'}));
    }, 'image/jpeg', 0.95);
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
}
