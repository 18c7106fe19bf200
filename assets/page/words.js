// How names and numbers are shown.

import {state} from './state.js';

/** @param {number} p a share */
export const percent = p => p >= 0.9995 ? '100 %' : (100 * p).toFixed(p < 0.1 ? 1 : 0) + ' %';

/** Of a hundred, as people count. @param {number} share */
export const ofHundred = share => share > 0 && share < 0.005 ? 'fewer than 1' : String(Math.round(100 * share));

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
 * What the server says of changes and photos, in the page's words: "enrol 4 images of '002.Laysan_Albatross'" is "Added 4
 * photos to Laysan Albatross".
 * @param {string} text
 */
export function plainly(text) {
  let plain = text;
  for (const one of state.classes) if (/[._]/.test(one.class)) plain = plain.replaceAll(one.class, displayName(one.class));
  plain = plain.replace(/'([^']+)'/g, (_, name) => displayName(name)).replaceAll('unlabelled', 'unsorted').replace(/\bimage(s?)\b/g, 'photo$1').replace(/\b1 examples\b/, '1 photo').replace(/\bexamples\b/, 'photos')
      .replace(/^(remov|mov|renam|merg)e /, '$1ed ').replace(/^confirm /, 'confirmed ').replace(/^enrol (\d+ photos?) of /, 'added $1 to ').replace(/^(?:enrol|add) /, 'added ').replace(/^calibrate$/, 'learned “none of these”');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** The order in which classes are listed. @param {string} a @param {string} b */
export const byName = (a, b) => displayName(a).localeCompare(displayName(b), 'en', {numeric: true});

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
