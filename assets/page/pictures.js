// Photos on their way to the server: made no larger than the encoder needs, and sent in pieces.

import {thumbnail} from './api.js';
import {el, showBlob} from './dom.js';
import {state} from './state.js';

/** Formats that the server reads, also those that browsers do not know. */
export const acceptedTypes = 'image/*,.heic,.heif,.hif,.avif,.jxl,.jp2,.tif,.tiff';
const ending = /\.(jpe?g|png|webp|heic|heif|hif|avif|jxl|jp2|tiff?|gif|bmp|mpo)$/i;

/** @param {File} file */
export const isPicture = file => file.type.startsWith('image/') || ending.test(file.name);

// Smaller files are sent as they are.
const smallBytes = 200_000;
// The encoder's input is cut from a picture whose shorter side is this much shorter: nothing that it could see is lost.
const margin = 2;

/** Whether a smaller copy may be sent. @param {Blob} file */
export const isLarge = file => file.size > smallBytes;

/**
 * What is sent for a photo: itself, or a smaller copy of a large one. What the browser cannot read is left to the server.
 * @param {File} file
 * @returns {Promise<Blob>}
 */
export async function shrink(file) {
  const side = margin * (state.recognizer?.shorter_side ?? 256);
  if (!isLarge(file)) return file;
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    return file;
  }
  const scale = side / Math.min(bitmap.width, bitmap.height);
  if (scale >= 1) {
    bitmap.close();
    return file;
  }
  const canvas = el('canvas', {width: Math.round(scale * bitmap.width), height: Math.round(scale * bitmap.height)});
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  /** @type {Blob | null} */
  const made = await new Promise(done => canvas.toBlob(done, 'image/jpeg', 0.93));
  return made && made.size < file.size ? made : file;
}

const aroundBox = 0.1;  // of its longer side, on each side
const aroundPhoto = 'rgb(124 116 104)';

/** Where a stretch of pixels around a centre begins, moved into the picture; below 0 where it is longer. @param {number} centre @param {number} length @param {number} whole */
const beginOf = (centre, length, whole) => length >= whole ? -Math.min(length - whole, Math.max(0, Math.round(length / 2 - centre)))
                                                           : Math.min(whole - length, Math.max(0, Math.round(centre - length / 2)));

/**
 * The square around a part of a photo, as the server cuts out boxes (src/images/image_region.h).
 * @param {File} file
 * @param {Box} box
 * @param {string} name of the photo
 */
export async function cutOut(file, box, name) {
  const bitmap = await createImageBitmap(file).catch(() => { throw new Error('The browser cannot read this photo.'); });
  const {width, height} = bitmap, longer = Math.max(box.width * width, box.height * height);
  const taken = Math.min(Math.max(1, Math.round(longer * (1 + 2 * aroundBox))), Math.max(width, height));
  const scale = Math.min(1, margin * (state.recognizer?.shorter_side ?? 256) / taken), side = Math.max(1, Math.round(scale * taken));
  const canvas = el('canvas', {width: side, height: side}), context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.fillStyle = aroundPhoto;
  context.fillRect(0, 0, side, side);
  const left = beginOf((box.x + box.width / 2) * width, taken, width), top = beginOf((box.y + box.height / 2) * height, taken, height);
  context.drawImage(bitmap, -left * side / taken, -top * side / taken, width * side / taken, height * side / taken);
  bitmap.close();
  /** @type {Blob} */
  const made = await new Promise(done => canvas.toBlob(done, 'image/jpeg', 0.95));
  const numbers = [box.x, box.y, box.width, box.height].map(share => Number((100 * share).toFixed(2)));
  return new File([made], `${name}#xywh=percent:${numbers.join()}`, {type: 'image/jpeg'});
}

/**
 * Tells a photo from another one: its size, and a hash of its beginning and end.
 * @param {Blob} file
 */
export async function fingerprint(file) {
  const block = 1 << 16;
  const parts = await new Blob([file.slice(0, block), file.slice(-block)]).arrayBuffer();
  let hash = 0x811c9dc5;
  for (const byte of new Uint8Array(parts)) hash = Math.imul(hash ^ byte, 0x01000193);
  return file.size + ':' + (hash >>> 0).toString(16);
}

// Of one request; the server takes 64 MiB, 64 parts and 250 million pixels.
const pieceBytes = 16e6;
const untouchedBytes = 2e6;  // what could have many pixels
const untouchedAtOnce = 5;

/**
 * Photos in requests of at most `most`, in their order.
 * @template {{blob: Blob, file: Blob}} T
 * @param {T[]} photos
 * @param {number} most
 * @returns {T[][]}
 */
export function pieces(photos, most) {
  /** @type {T[][]} */
  const all = [];
  let bytes = 0, large = 0;
  for (const photo of photos) {
    const isLarge = photo.blob === photo.file && photo.blob.size > untouchedBytes;
    const last = all.at(-1);
    const fits = last && last.length < most && bytes + photo.blob.size <= pieceBytes && large + Number(isLarge) <= untouchedAtOnce;
    if (!fits) {
      all.push([photo]);
      bytes = large = 0;
    } else {
      last.push(photo);
    }
    bytes += photo.blob.size;
    large += Number(isLarge);
  }
  return all;
}

/** @param {HTMLImageElement} image */
const showKept = image => thumbnail(image.dataset.photo ?? '').then(blob => blob && showBlob(image, blob));

/** Shows thumbnails when they come into view. */
const watcher = new IntersectionObserver(seen => {
  for (const {isIntersecting, target} of seen) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    showKept(/** @type {HTMLImageElement} */ (target));
  }
}, {rootMargin: '200px'});

/** @param {number} example @param {string} alt @param {boolean} [atOnce] */
export const exampleImage = (example, alt, atOnce) => keptImage('v1/examples/' + example, alt, atOnce);

/**
 * @param {string} photo that the server keeps: "v1/examples/12"
 * @param {string} alt
 * @param {boolean} [atOnce] whether or not it is in view
 */
export function keptImage(photo, alt, atOnce = false) {
  const image = el('img', {alt, class: 'thumb'});
  image.dataset.photo = photo;
  if (atOnce) showKept(image);
  else watcher.observe(image);
  return image;
}
