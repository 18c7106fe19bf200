// What a person did, and undo and redo, which take whole actions back and bring them back.

import {ServerError, callJson, forgetThumbnails} from './api.js';
import {say} from './dom.js';
import {refresh, state} from './state.js';
import {counted, plainly} from './words.js';

/** Changes that belong together: one action of a person. @type {{what: string, changes: number[]}[]} */
const actions = [];
/** @type {Set<(changes: number[]) => void>} */
const undoneListeners = new Set(), redoneListeners = new Set();

/** @param {(changes: number[]) => void} listener gets the numbers of changes that were taken back, the last first */
export const onUndone = listener => undoneListeners.add(listener);
/** @param {(changes: number[]) => void} listener gets the numbers of changes that were done again */
export const onRedone = listener => redoneListeners.add(listener);

/** @param {string} what @param {(Change | null)[]} changes */
export function remember(what, changes) {
  const numbers = changes.flatMap(change => change ? [change.id] : []);
  if (numbers.length) actions.push({what, changes: numbers});
}

/** The action that undo would take back; null: only a change of the server's, or nothing. */
export const lastAction = () => actions.find(action => action.changes.at(-1) === state.change?.id) ?? null;
/** The action that redo would bring back; null as above. */
export const nextAction = () => actions.find(action => action.changes[0] === state.redo?.id) ?? null;

/**
 * One change after the other, as long as each is wanted.
 * @param {'undo' | 'redo'} step
 * @param {Change | null} first
 * @param {(id: number) => boolean} wanted
 * @param {(changes: number[]) => void} tell
 * @returns {Promise<{count: number, what: string}>} how many it were, and what the first one is called
 */
async function go(step, first, wanted, tell) {
  /** @type {{id: number, what: string}[]} */
  const done = [];
  try {
    for (let change = first; change && wanted(change.id);) {
      const answer = await callJson('POST', 'v1/' + step, {change: change.id});
      done.push(step === 'undo' ? answer.undone : answer.redone);
      change = step === 'undo' ? answer.change : answer.redo;
    }
  } catch (error) {
    if (!(error instanceof ServerError) || error.status !== 409) throw error;
    throw new Error(`Another window or program changed something meanwhile. It is shown now: press again to ${step} that.`);
  } finally {
    tell(done.map(change => change.id));
    await refresh();
  }
  return {count: done.length, what: done[0]?.what ?? ''};
}

/**
 * Undoes the last action, also one of another client.
 * @param {number} [until] also everything after and including this change
 */
export async function undo(until) {
  if (!state.change) return;
  const action = lastAction(), own = new Set(action?.changes ?? [state.change.id]);
  const {count, what} = await go('undo', state.change, id => until === undefined ? own.has(id) : id >= until, undone => {
    forgetThumbnails();  // a number is given again once what had it is gone for good
    for (const listener of undoneListeners) listener(undone);
  });
  say(count > 1 && until !== undefined ? `${counted(count, 'change')} taken back.` : `Taken back: ${action?.what ?? plainly(what)}.`);
}

/**
 * Does the action again that was taken back last.
 * @param {number} [until] also everything before and including this change
 */
export async function redo(until) {
  if (!state.redo) return;
  const action = nextAction(), own = new Set(action?.changes ?? [state.redo.id]);
  const {count, what} = await go('redo', state.redo, id => until === undefined ? own.has(id) : id <= until, redone => {
    for (const listener of redoneListeners) listener(redone);
  });
  say(count > 1 && until !== undefined ? `${counted(count, 'change')} done again.` : `Done again: ${action?.what ?? plainly(what)}.`);
}
