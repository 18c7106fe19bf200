// How well the classes tell their own photos apart, and which are mixed up.

import {call, pause} from './api.js';
import {byId, el, onClick, say} from './dom.js';
import {on, state, tell} from './state.js';
import {counted, displayName} from './words.js';

// Seconds without a change before it is estimated, and as a multiple of what the last estimate took: hundreds of classes
// take a minute, in which the server would do little else.
const restBefore = 1.5, restPerWork = 3;
const restWhenBusy = 15;
// Classes times photos up to which it is estimated without a request: 50 classes of 8 photos.
const mostUnasked = 20_000;
const mostPairs = 2;
let latest = 0, lastTook = 0;
/** The change that the estimate follows. @type {number | undefined} */
let estimatedAt;
let asking = new AbortController();

/** Gives up an estimate that is being made, so that the server has its hands free. */
export function stopEstimating() {
  ++latest;
  asking.abort();
}

const isLarge = () => state.classes.length * state.classes.reduce((sum, one) => sum + one.images, 0) > mostUnasked;

/** Updates the estimate: some time after the last change, or on request. @param {boolean} [wanted] */
async function estimate(wanted = false) {
  stopEstimating();
  if (isLarge() && !wanted) return;
  const turn = latest;
  asking = new AbortController();
  if (!wanted) await pause(Math.max(restBefore, restPerWork * lastTook));
  while (turn === latest && state.classes.length >= 2) {
    const begun = performance.now();
    try {
      state.accuracy = await call('GET', 'v1/accuracy', undefined, {signal: asking.signal});
      estimatedAt = state.change?.id;
      lastTook = (performance.now() - begun) / 1000;
      return tell('accuracy');
    } catch (error) {
      if (/** @type {any} */ (error).status !== 503) return;  // too few photos, or no right to ask
      await pause(restWhenBusy);
    }
  }
}

/** Pairs of classes by how many photos of either are taken for the other. @param {Accuracy} found */
function confusedPairs(found) {
  /** @type {Map<string, {names: string[], count: number}>} */
  const pairs = new Map();
  for (const one of found.mistakes) {
    const names = [one.class, one.taken_for].sort(), key = names.join('\n');
    pairs.set(key, {names, count: (pairs.get(key)?.count ?? 0) + 1});
  }
  return [...pairs.values()].sort((a, b) => b.count - a.count).slice(0, mostPairs);
}

/** @param {string} name */
const link = name => el('a', {href: '#teach/' + encodeURIComponent(name)}, displayName(name));

/** @param {number | null} share */
const whole = share => Math.round(100 * Number(share));

/** @param {Accuracy} found */
function summary(found) {
  if (found.accuracy !== null)
    return [`About ${whole(found.expected)} of 100 new photos will be right`, el('span', {class: 'wide'}, ` (between ${whole(found.low)} and ${whole(found.high)})`)];
  return [found.moments < found.images ? 'The photos of a class show one moment: add some of another before this can be measured.'
                                       : 'Each class needs two photos before this can be measured.'];
}

/** @param {Accuracy} found */
function more(found) {
  if (found.accuracy === null) return '';
  const gain = Math.round(found.gain ?? 0), right = found.asked - found.mistakes.length;
  return `Your own photos, each asked about as if it were new: ${right} of ${found.asked} right${found.moments < found.images ? ' (photos of one moment count once)' : ''}.` +
         (found.nearly_same > 0 ? ' In most classes the photos are nearly the same: if these show one moment, fewer will be right. Add other moments.' :
          gain >= 1 ? ` With three more photos of each class about ${gain} more of 100 should be right.` : '');
}

function show() {
  const found = state.classes.length >= 2 ? state.accuracy : null;
  byId('accuracy').hidden = !found && !isLarge();
  byId('estimate').hidden = !isLarge() || (found !== null && estimatedAt === state.change?.id);
  byId('accuracy-text').replaceChildren(...found ? summary(found) : ['How well will it do?']);
  byId('accuracy-more').textContent = found ? more(found) : 'With this many classes the estimate takes minutes.';
  byId('estimate').textContent = found ? 'Estimate again' : 'Estimate the accuracy';
  if (!found) return;
  const pairs = confusedPairs(found);
  byId('confused').replaceChildren(...pairs.map(({names, count}) =>
    el('li', {}, link(names[0]), ' and ', link(names[1]), ` are confused (${counted(count, 'photo')})`)));
}

export function listenToAccuracy() {
  on('recognizer', () => { show(); estimate(); });
  on('accuracy', show);
  onClick('estimate', async () => {
    say('With this many classes this takes minutes. You can continue meanwhile.');
    await estimate(true);
    say('Estimated.');
  });
}
