// What other windows and programs change is shown here too.

import {forgetThumbnails, isOwn, nextEvent, pause, working} from './api.js';
import {byId, say} from './dom.js';
import {on, refresh, state} from './state.js';
import {lookAtSharing} from './use.js';
import {plainly} from './words.js';

const againAfter = 3;  // s, once the server could not be asked
const ownWorkLasts = 0.3;  // s, between the requests of one action

/** The request that waits for the next change. Stopped while the page is hidden: browsers have few connections per server. */
let waiting = new AbortController();

const seen = () => new Promise(done => {
  const look = () => {
    if (document.hidden) return;
    document.removeEventListener('visibilitychange', look);
    done(null);
  };
  document.addEventListener('visibilitychange', look);
  look();
});

/** What this window does ends with a look of its own. */
async function quiet() {
  do await pause(ownWorkLasts); while (working());
}

/** The server is back, perhaps with other photos under the same numbers. */
async function takeUp() {
  forgetThumbnails();
  await refresh();
  lookAtSharing();
  say('The server is back.');
}

/** @param {{revision: number}} event */
async function take(event) {
  await quiet();
  if (event.revision === state.revision) return;
  const change = state.change?.id, redo = state.redo?.id;
  await refresh();
  if (state.redo && state.redo.id !== redo && !isOwn(state.redo.id)) say(`Another window or program undid: ${plainly(state.redo.what)}.`);
  else if (state.change && state.change.id !== change && !isOwn(state.change.id)) say(`Another window or program: ${plainly(state.change.what)}.`);
}

async function follow() {
  for (let wasGone = false; ;) {
    await seen();
    waiting = new AbortController();
    try {
      if (wasGone) await takeUp();
      wasGone = false;
      const event = await nextEvent(`v1/events?after=${state.revision}`, waiting.signal);
      if (event && event.revision !== state.revision) await take(event);
    } catch {
      wasGone ||= !byId('gone').hidden;
      if (!waiting.signal.aborted) await pause(againAfter);
    }
  }
}

let follows = false;

export function listenToOthers() {
  document.addEventListener('visibilitychange', () => { if (document.hidden) waiting.abort(); });
  on('recognizer', () => {  // known now, and the key that is required
    if (!follows) follow();
    follows = true;
  });
}
