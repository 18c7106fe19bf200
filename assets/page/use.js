// What there is to take home: lines that use the recognizer, here and elsewhere.

import {call, hasKey} from './api.js';
import {byId, el, icon, onClick, say, svg} from './dom.js';
import {on, state} from './state.js';

/** How others join, and whether this page may begin and end that. */
let shared = {addresses: /** @type {string[]} */ ([]), code: /** @type {string[]} */ ([]), fingerprint: '', can_share: false};

/** A word of a shell. @param {string} text */
const quoted = text => /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function show() {
  const info = state.recognizer;
  if (!info) return;
  const file = info.name + '.pcm', here = new URL('v1/classify', location.href).href;
  const local = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  byId('cli-line').textContent = `protocom classify ${quoted(file)} photo.jpg`;
  byId('python-line').textContent = `import protocom\nprotocom.Recognizer.open(${JSON.stringify(file)}).classify("photo.jpg").name`;
  byId('html-line').textContent = `npm install onnxruntime-web\nprotocom recognizer export-onnx ${quoted(file)} ${quoted(info.name + '.onnx')} --html ${quoted(info.name + '.html')} --runtime node_modules/onnxruntime-web/dist`;
  byId('curl-line').textContent = `curl ${hasKey() ? '-H "Authorization: Bearer $KEY" ' : ''}-F image=@photo.jpg ${quoted(here)}`;
  byId('curl-key').hidden = !hasKey();
  const isShared = shared.addresses.length > 0;
  byId('phone-title').textContent = local ? 'On your phone' : 'On another phone';
  byId('offer').hidden = isShared || !shared.can_share;
  byId('elsewhere').hidden = !local || isShared || shared.can_share;
  byId('open-there').hidden = local || isShared || shared.can_share;
  byId('offered').textContent = info.recognizers.length > 1 ? 'these recognizers' : 'this recognizer';
  byId('origin').textContent = location.origin;
  byId('serve-line').textContent = `protocom serve ${quoted(file)} --share`;
}

const margin = 4;  // of a QR code, that readers need

/** How a phone joins, where the session is shared: the code as the server made it, a text a row. @param {'GET' | 'POST' | 'DELETE'} method */
async function invite(method) {
  shared = await call(method, 'v1/share');
  const {addresses, code, fingerprint} = shared;
  byId('invitation').hidden = !addresses.length;
  byId('unshare').hidden = !shared.can_share;
  show();
  const dark = code.flatMap((row, y) => [...row].flatMap((one, x) => one === '1' ? [`M${x} ${y}h1v1h-1z`] : []));
  byId('invitation-code').setAttribute('viewBox', `${-margin} ${-margin} ${code.length + 2 * margin} ${code.length + 2 * margin}`);
  byId('invitation-code').replaceChildren(svg('path', {d: dark.join('')}));
  byId('invitation-addresses').replaceChildren(...addresses.map(address => el('li', {}, el('code', {}, address))));
  byId('fingerprint').textContent = fingerprint;
}

/** What of the ONNX file is asked for, as the server has it. */
export function onnxPath() {
  const wanted = ['input', 'weights'].filter(name => byId('onnx-' + name).selectedIndex).map(name => `${name}=${byId('onnx-' + name).value}`).join('&');
  return 'v1/recognizer/onnx' + (wanted && '?' + wanted);
}

function showPath() {
  const weights = byId('onnx-weights'), eightBit = [...weights.options].find(one => one.value === 'int8');
  if (eightBit) eightBit.disabled = byId('onnx-input').value === 'features';  // those of an encoder, which is left out
  if (eightBit?.disabled && eightBit.selected) weights.selectedIndex = 0;
  byId('onnx-path').textContent = '/' + onnxPath();
}

/** Whether it is shared now, by whatever window. A key that only reads may not know. */
export const lookAtSharing = () => invite('GET').catch(() => {});

let isAsked = false;

export function listenToUse() {
  on('recognizer', () => {
    show();
    if (!isAsked) lookAtSharing();
    isAsked = true;
  });
  addEventListener('hashchange', () => { if (location.hash === '#use') lookAtSharing(); });
  onClick('share', async () => {
    await invite('POST');
    byId('invitation').scrollIntoView({block: 'nearest'});
  }, 'share-error');
  onClick('unshare', async () => {
    await invite('DELETE');
    say('Sharing has stopped.');
  });
  for (const name of ['input', 'weights']) byId('onnx-' + name).addEventListener('change', showPath);
  showPath();
  for (const place of document.querySelectorAll('.snippet')) {
    const code = place.querySelector('code');
    if (navigator.clipboard)
      place.append(el('button', {class: 'plain small square', 'aria-label': 'Copy', title: 'Copy', onclick: async () => {
        await navigator.clipboard.writeText(code?.textContent ?? '').then(() => say('Copied.'), () => say('The browser does not let the page copy.', true));
      }}, icon('copy')));
  }
}
