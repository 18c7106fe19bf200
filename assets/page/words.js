// How names and numbers are shown.

import {state} from './state.js';

/** @param {number} p a share */
export const percent = p => p >= 0.9995 ? '100 %' : (100 * p).toFixed(p < 0.1 ? 1 : 0) + ' %';

/** @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = one + 's') => n.toLocaleString('en') + ' ' + (n === 1 ? one : many);

/**
 * What people call a class: its name without the number in front and with spaces, "Laysan Albatross" for
 * "002.Laysan_Albatross"; of a WordNet number the words.
 * @param {string} name
 */
export function displayName(name) {
  if (/^n\d{8}$/.test(name)) return state.classes.find(one => one.class === name)?.title || name;
  return name.replace(/^\d+\.(?=\D)/, '').replaceAll('_', ' ').trim() || name;
}

/**
 * The class that a text means: by its name or by what is shown for it; else a new one of that name.
 * @param {string} text
 */
export function classNamed(text) {
  const wanted = text.trim();
  const exact = state.classes.find(one => one.class === wanted);
  if (exact) return exact.class;
  const same = state.classes.filter(one => displayName(one.class).toLowerCase() === wanted.toLowerCase());
  return same.length === 1 ? same[0].class : wanted;
}

/** What people call an attribute. @param {string} name */
export const wordsFor = name => state.recognizer?.words[name] ?? name.replace('::', ': ').replaceAll('_', ' ');

/** @param {number} seconds since 1970 */
export const timeOf = seconds => new Date(1000 * seconds).toLocaleString('en', {dateStyle: 'medium', timeStyle: 'short'});

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 1.5) return '1 second';
  return seconds < 90 ? Math.round(seconds) + ' seconds' : Math.round(seconds / 60) + ' minutes';
}
