// Requests to the server.

import {byId} from './dom.js';

let key = sessionStorage.getItem('key') ?? '';

/** A refusal of the server, or that there is none. */
export class ServerError extends Error {
  /** @param {string} message @param {number} [status] */
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** @returns {Record<string, string>} */
const credentials = () => key ? {Authorization: 'Bearer ' + key} : {};

/** Whether the server required a key and got one. */
export const hasKey = () => key !== '';

/** @param {string} text */
export function useKey(text) {
  key = text;
  sessionStorage.setItem('key', key);
  byId('key-form').hidden = true;
}

function askForKey() {
  byId('key-form').hidden = false;
  byId('key').focus();
}

/** @param {number} seconds */
export const pause = seconds => new Promise(done => setTimeout(done, 1000 * seconds));

/** Changes that this window made. @type {Set<number>} */
const own = new Set();
let underWay = 0;

/** Whether this window made a change, by its number. @param {number} id */
export const isOwn = id => own.has(id);
/** Whether this window is changing something. */
export const working = () => underWay > 0;

/** @param {any} answer */
function noteOwn(answer) {
  for (const change of [answer.change, answer.undone, answer.redone, ...answer.changes ?? []]) if (change) own.add(change.id);
}

/**
 * One request and its JSON. A server that is busy (429, 503) is asked again a few times.
 * @param {string} method
 * @param {string} path
 * @param {BodyInit} [body]
 * @param {{type?: string, signal?: AbortSignal}} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, body, options = {}) {
  const changes = method !== 'GET';
  underWay += Number(changes);
  try {
    const answer = await jsonOf(await answered(method, path, body, options), options.signal);
    if (changes) noteOwn(answer);
    return answer;
  } finally {
    underWay -= Number(changes);
  }
}

/**
 * The server's answer; {} for an empty body. Throws if the request is aborted or the body breaks off.
 * @param {Response} response
 * @param {AbortSignal} [signal]
 */
async function jsonOf(response, signal) {
  let text;
  try {
    text = await response.text();
  } catch (error) {
    throw signal?.aborted ? error : new ServerError('The connection to the server was lost.');
  }
  return text ? JSON.parse(text) : {};
}

/**
 * The next event of a stream; null: there was none.
 * @param {string} path
 * @param {AbortSignal} signal
 */
export async function nextEvent(path, signal) {
  const data = /^data: (.*)$/m.exec(await (await answered('GET', path, undefined, {signal})).text());
  return data ? JSON.parse(data[1]) : null;
}

/** The bytes of an answer. @param {string} path */
export const callBlob = async path => (await answered('GET', path)).blob();

/**
 * @param {string} method
 * @param {string} path
 * @param {BodyInit} [body]
 * @param {{type?: string, signal?: AbortSignal}} [options]
 */
async function answered(method, path, body, {type, signal} = {}) {
  const headers = credentials();
  if (type) headers['Content-Type'] = type;
  for (let tries = 0; ; ++tries) {
    let response;
    try {
      response = await fetch(path, {method, headers, body, signal});
    } catch (error) {
      if (signal?.aborted) throw error;
      byId('gone').hidden = false;
      throw new ServerError('The server cannot be reached.');
    }
    byId('gone').hidden = true;
    if (response.status === 401) askForKey();
    if (response.ok) return response;
    const answer = await response.json().catch(() => ({}));
    const busy = response.status === 429 || response.status === 503;
    if (!busy || tries === 3)
      throw new ServerError(sentence(answer.error?.message ?? 'the server answered ' + response.status), response.status);
    await pause(Math.min(Number(response.headers.get('Retry-After')) || 1, 5));
  }
}

/** @param {string} text */
const sentence = text => /at least one support/.test(text) ? 'Each class needs two photos before this can be measured.' : text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

/** @param {string} method @param {string} path @param {unknown} value */
export const callJson = (method, path, value) => call(method, path, JSON.stringify(value), {type: 'application/json'});

/** @param {string} name of a class */
export const classPath = name => 'v1/classes/' + encodeURIComponent(name);

/** @type {Map<string, Promise<Blob | null>>} */
const thumbnails = new Map();
const mostThumbnails = 3000;

/** Reloads the thumbnails. */
export const forgetThumbnails = () => thumbnails.clear();

/**
 * The small picture of a photo that the server keeps; null where none was kept.
 * @param {string} photo "v1/examples/12"
 */
export function thumbnail(photo) {
  let found = thumbnails.get(photo);
  if (!found) {
    found = fetch(photo + '/thumbnail', {headers: credentials()})
        .then(response => response.ok ? response.blob() : null, () => null);
    if (thumbnails.size >= mostThumbnails) thumbnails.clear();
    thumbnails.set(photo, found);
  }
  return found;
}
