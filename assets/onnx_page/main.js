// Photos and the camera's picture are classified here, by the ONNX file and the ONNX Runtime Web that this page holds.

const byId = id => document.getElementById(id);
const known = JSON.parse(byId('known').textContent);
const mostShown = 3;

/** Bytes that the page holds, as gzip in base64. */
async function held(id) {
  const holder = byId(id), zipped = await fetch('data:application/gzip;base64,' + holder.textContent);
  holder.remove();
  return new Response(zipped.body.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

/** What protocom's own filter is called where nothing else is stated; the others are Pillow's. */
const own = 'bilinear', filter = known.resampling ?? own;
const sinc = x => x ? Math.sin(Math.PI * x) / (Math.PI * x) : 1;
/** How far a filter reaches, and its weight at a distance within. */
const filters = {
  bilinear: [1, x => 1 - x],
  box: [0.5, () => 1],
  hamming: [1, x => sinc(x) * (0.54 + 0.46 * Math.cos(Math.PI * x))],
  bicubic: [2, x => x < 1 ? (1.5 * x - 2.5) * x * x + 1 : (((x - 5) * x + 8) * x - 4) * -0.5],
  lanczos: [3, x => sinc(x) * sinc(x / 3)],
};

/** Of `from` pixels that become `to`: for `count` places from `first` on, the pixels and weights that make each. */
function taps(first, count, from, to) {
  const [reach, weightAt] = filters[filter], scale = from / to, wide = Math.max(scale, 1);
  return Array.from({length: count}, (_, place) => {
    const center = (first + place + 0.5) * scale, found = [];
    for (let at = Math.floor(center - reach * wide); at < center + reach * wide; ++at) {
      const distance = Math.abs(at + 0.5 - center) / wide, inside = at >= 0 && at < from;
      if (distance < reach && (inside || filter === own)) found.push([Math.min(Math.max(at, 0), from - 1), weightAt(distance)]);
    }
    const sum = found.reduce((all, [, weight]) => all + weight, 0);
    return found.map(([at, weight]) => ({at, weight: weight / sum}));
  });
}

/** Fills a row of RGB, each place from the pixels of its taps. */
function mixed(row, across, valueAt, kept) {
  for (let x = 0, i = 0; x < across.length; ++x) {
    for (let c = 0; c < 3; ++c, ++i) {
      let sum = 0;
      for (const {at, weight} of across[x]) sum += weight * valueAt(at, c);
      row[i] = kept(sum);
    }
  }
  return row;
}

/** A picture as the encoder takes it, RGB [side, side, 3], resized as protocom does. @param {ImageData} picture */
function squared({data, width, height}) {
  const side = known.image_size, shorter = Math.min(width, height);
  const resized = length => known.squeeze ? known.resize : (filter === own ? Math.round : Math.floor)(length * known.resize / shorter);
  const wide = resized(width), high = resized(height);
  const across = taps((wide - side) >> 1, side, width, wide), down = taps((high - side) >> 1, side, height, high);
  // Pillow rounds after each of the two directions, protocom's own filter at the end.
  const rounded = value => Math.floor(value + 0.5), kept = filter === own ? value => value : rounded;
  const Row = filter === own ? Float32Array : Uint8ClampedArray, rows = [];
  const rowAt = y => rows[y] ??= mixed(new Row(side * 3), across, (at, c) => data[(y * width + at) * 4 + c], kept);
  const square = new Uint8ClampedArray(side * side * 3);
  down.forEach((some, y) => {
    for (let i = 0; i < side * 3; ++i) {
      let sum = 0;
      for (const {at, weight} of some) sum += weight * rowAt(at)[i];
      square[y * side * 3 + i] = rounded(sum);
    }
  });
  return square;
}

/** @param {ImageBitmap | HTMLVideoElement} source */
function pixelsOf(source, width, height) {
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  context.drawImage(source, 0, 0);
  return context.getImageData(0, 0, width, height);
}

let ort, session, last = Promise.resolve();

/** What the ONNX file takes. */
function inputOf(square) {
  const side = known.image_size, area = side * side;
  if (known.uint8) return new ort.Tensor('uint8', new Uint8Array(square), [1, side, side, 3]);
  const planes = Float32Array.from(square, (_, i) => square[i % area * 3 + Math.floor(i / area)] / 255);
  return new ort.Tensor('float32', planes, [1, 3, side, side]);
}

async function run(picture) {
  const {label, probabilities, none_of_these: none} = await session.run({image: inputOf(squared(picture))});
  const number = Number(label.data[0]);
  return {label: number, class: known.classes[number], probabilities: [...probabilities.data], none: none ? none.data[0] : null};
}

/** The answer about a picture; one after the other. */
function answerOf(picture) {
  const answer = last.then(() => run(picture));
  last = answer.catch(() => {});
  return answer;
}

/** The answer about an image file. For other scripts too: await classify(file). */
async function classify(file) {
  const photo = await createImageBitmap(file);
  return answerOf(pixelsOf(photo, photo.width, photo.height));
}

function el(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** The likeliest classes, the first of them the answer. */
function rows({probabilities, none}) {
  const all = probabilities.map((share, k) => [known.titles[k], share]).sort((a, b) => b[1] - a[1]).slice(0, mostShown);
  if (none !== null) all.splice(none >= 0.5 ? 0 : mostShown, 0, ['None of these', none]);
  return all.map(([name, share]) =>
    el('li', {}, el('span', {}, name), el('meter', {value: share, ariaLabel: name}), el('span', {}, `${Math.round(100 * share)} %`)));
}

async function show(files) {
  for (const file of files) {
    const address = URL.createObjectURL(file), answer = el('ol', {});
    byId('answers').prepend(el('li', {}, el('img', {src: address, alt: file.name}), answer));
    try {
      answer.replaceChildren(...rows(await classify(file)));
    } catch {
      answer.replaceChildren(el('li', {}, el('span', {}, `${file.name} cannot be read.`)));
    }
  }
}

const video = byId('video');

async function watch() {
  if (video.srcObject) {
    for (const track of video.srcObject.getTracks()) track.stop();
    video.srcObject = null;
  } else {
    video.srcObject = await navigator.mediaDevices.getUserMedia({video: {facingMode: 'environment'}});
    await video.play();
  }
  byId('live').hidden = !video.srcObject;
  byId('camera').textContent = video.srcObject ? 'Stop the camera' : 'Use the camera';
  while (video.srcObject) {
    const answer = await answerOf(pixelsOf(video, video.videoWidth, video.videoHeight));
    byId('live-answer').replaceChildren(...rows(answer));
    await new Promise(requestAnimationFrame);
  }
}

async function open() {
  document.title = byId('name').textContent = known.name;
  ort = await import(URL.createObjectURL(new Blob([await held('runtime')], {type: 'text/javascript'})));
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = await held('wasm');
  session = await ort.InferenceSession.create(new Uint8Array(await held('model')), {executionProviders: ['wasm']});
  byId('files').disabled = false;
  byId('camera').disabled = !navigator.mediaDevices;
  byId('status').textContent = `Classes: ${known.classes.length}. Photos stay on this device.`;
  Object.assign(globalThis, {classify});
}

const failed = error => { byId('status').textContent = error instanceof Error ? error.message : String(error); };
byId('files').addEventListener('change', () => show([...byId('files').files]));
byId('camera').addEventListener('click', () => watch().catch(failed));
addEventListener('dragover', event => event.preventDefault());
addEventListener('drop', event => {
  event.preventDefault();
  if (session) show([...event.dataTransfer.files]);
});
open().catch(failed);
