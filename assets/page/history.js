// What was changed, last first, and how to take it back.

import {call} from './api.js';
import {attempt, byId, el} from './dom.js';
import {lastAction, undo} from './enrol.js';
import {on, state} from './state.js';
import {timeOf} from './words.js';

let isShown = false;

/** @param {boolean} shown */
export function openHistory(shown) {
  isShown = shown;
  if (shown) attempt(null, show);
}

async function show() {
  /** @type {import('./types').Change[]} */
  const changes = (await call('GET', 'v1/changes')).changes;
  byId('changes').replaceChildren(...changes.map((change, i) => {
    const button = el('button', {type: 'button', class: 'plain', 'aria-label': (i ? 'Undo back to here: ' : 'Undo: ') + change.what,
                                 onclick: () => attempt(button, () => undo(change.id))}, i ? 'Undo back to here' : 'Undo');
    return el('li', {}, el('span', {class: 'name'}, change.what), el('span', {class: 'about'}, change.time ? timeOf(change.time) : ''), button);
  }));
  byId('no-changes').hidden = changes.length > 0;
}

function showUndo() {
  const button = byId('undo'), what = lastAction()?.what ?? state.change?.what;
  button.setAttribute('aria-disabled', String(!state.change));
  button.title = what ? 'Undo: ' + what : 'There is nothing to undo';
  button.setAttribute('aria-label', button.title);
}

export function listenToHistory() {
  on('recognizer', () => {
    showUndo();
    if (isShown) attempt(null, show);
  });
  byId('undo').addEventListener('click', () => { if (state.change) attempt(null, () => undo()); });
}
