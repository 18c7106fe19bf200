// The page's state of the recognizer, and listeners to its changes.

import {call} from './api.js';

export const state = {
  /** @type {ClassEntry[]} */ classes: [],
  /** @type {RecognizerInfo | null} */ recognizer: null,
  /** Another number after each change. */ revision: 0,
  /** The change that undo would take back. @type {Change | null} */ change: null,
  /** The change that redo would bring back. @type {Change | null} */ redo: null,
  /** @type {Accuracy | null} */ accuracy: null,
};

const channels = new EventTarget();

/**
 * 'recognizer': its classes, calibration or last change are others now. 'accuracy': there is a new estimate, or none. 'tests': so it is of the test photos.
 * @param {'recognizer' | 'accuracy' | 'tests'} what
 * @param {() => void} listener
 */
export const on = (what, listener) => channels.addEventListener(what, listener);

/** @param {'recognizer' | 'accuracy' | 'tests'} what */
export const tell = what => channels.dispatchEvent(new Event(what));

export async function refresh() {
  const [listed, recognizer] = await Promise.all([call('GET', 'v1/classes'), call('GET', 'v1/recognizer')]);
  state.classes = listed.classes;
  state.revision = listed.revision;
  state.change = listed.change;
  state.redo = listed.redo;
  state.recognizer = recognizer;
  tell('recognizer');
}
