// What was changed, last first, how to take it back, and what was taken back.

import {lastAction, nextAction, redo, undo} from './actions.js';
import {call} from './api.js';
import {attempt, byId, el, onPress} from './dom.js';
import {on, state} from './state.js';
import {plainly, timeOf} from './words.js';

let isShown = false;

/** @param {boolean} shown */
export function openHistory(shown) {
  isShown = shown;
  if (shown) attempt(null, show);
}

/**
 * @param {Change} change
 * @param {string} label of the button
 * @param {() => Promise<void>} work
 */
function row(change, label, work) {
  const button = el('button', {class: 'plain', 'aria-label': `${label}: ${plainly(change.what)}`, onclick: () => attempt(button, work)}, label);
  return el('li', {}, el('span', {class: 'name'}, plainly(change.what)), el('span', {class: 'about'}, change.time ? timeOf(change.time) : ''), button);
}

async function show() {
  /** @type {{changes: Change[], undone: Change[]}} */
  const {changes, undone} = await call('GET', 'v1/changes');
  byId('changes').replaceChildren(...changes.map((change, i) => row(change, i ? 'Undo to here' : 'Undo', () => undo(change.id))));
  byId('undone').replaceChildren(...undone.map((change, i) => row(change, i ? 'Redo to here' : 'Redo', () => redo(change.id))).reverse());
  byId('undone-part').hidden = undone.length === 0;
  byId('no-changes').hidden = changes.length + undone.length > 0;
}

/** @param {'undo' | 'redo'} id @param {Change | null} change @param {string} word @param {{what: string} | null} action */
function showStep(id, change, word, action) {
  const button = byId(id), what = action?.what ?? (change ? plainly(change.what) : '');
  button.setAttribute('aria-disabled', String(!change));
  button.title = what ? `${word}: ${what}` : `There is nothing to ${id}`;
  button.setAttribute('aria-label', button.title);
}

export function listenToHistory() {
  on('recognizer', () => {
    showStep('undo', state.change, 'Undo', lastAction());
    showStep('redo', state.redo, 'Redo', nextAction());
    if (isShown) attempt(null, show);
  });
  onPress('undo', () => { if (state.change) attempt(null, () => undo()); });
  onPress('redo', () => { if (state.redo) attempt(null, () => redo()); });
}
