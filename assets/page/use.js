// What there is to take home: lines that use the recognizer, here and elsewhere.

import {hasKey} from './api.js';
import {byId, el, icon, say} from './dom.js';
import {on, state} from './state.js';

/** A word of a shell. @param {string} text */
const quoted = text => /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function show() {
  const info = state.recognizer;
  if (!info) return;
  const file = info.name + '.pcm', here = new URL('v1/classify', location.href).href;
  const local = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  byId('cli-line').textContent = `protocom classify ${quoted(file)} photo.jpg`;
  byId('python-line').textContent = `import protocom\nprotocom.Recognizer.open(${JSON.stringify(file)}).classify("photo.jpg").name`;
  byId('curl-line').textContent = `curl ${hasKey() ? '-H "Authorization: Bearer $KEY" ' : ''}-F image=@photo.jpg ${quoted(here)}`;
  byId('curl-key').hidden = !hasKey();
  byId('elsewhere').textContent = local ? 'This server answers this machine alone. Started like this it prints an address for a phone in the same network, with a key and encryption of that session alone:'
                                        : `Open ${location.origin} there; the live camera works where the address begins with https.`;
  byId('elsewhere-lines').hidden = !local;
  byId('serve-line').textContent = `protocom serve ${quoted(file)} --share`;
}

export function listenToUse() {
  on('recognizer', show);
  for (const place of document.querySelectorAll('.snippet')) {
    const code = place.querySelector('code');
    if (navigator.clipboard)
      place.append(el('button', {type: 'button', class: 'plain small square', 'aria-label': 'Copy', title: 'Copy', onclick: async () => {
        await navigator.clipboard.writeText(code?.textContent ?? '').then(() => say('Copied.'), () => say('The browser does not let the page copy.', true));
      }}, icon('copy')));
  }
}
