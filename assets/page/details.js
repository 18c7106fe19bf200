// One photo: how probable each class is, the enrolled photos that look most like it, and what it really is.

import {undo} from './actions.js';
import {attempt, bar, byId, el, onPress, part, refill, sayAt, showBlob} from './dom.js';
import {exampleImage} from './pictures.js';
import {classOf, confirm, decide, decideNone, drop, firstOf, reopen} from './photos.js';
import {state} from './state.js';
import {addTests} from './testing.js';
import {classNamed, displayName, percent, plainly} from './words.js';
import {hideWhere, listenToWhere, zoom} from './zoom.js';

/** @type {Photo | null} */
let photo = null;
/** @type {HTMLElement | undefined} */
let opener;

export const isOpen = () => photo !== null;

/** @param {Photo} which @param {HTMLElement} [from] the card that it was opened by */
export function open(which, from) {
  opener = from;
  if (photo !== which) {
    photo = which;
    hideWhere();
    byId('details-file').textContent = which.name;
    const picture = byId('details-photo');
    picture.alt = which.name;
    showBlob(picture, which.blob);
    byId('right-class').value = '';
  }
  byId('details').hidden = false;
  byId('photos-layout').classList.add('with-details');
  fill();
}

export function close() {
  if (!photo) return;
  photo = null;
  byId('details').hidden = true;
  byId('photos-layout').classList.remove('with-details');
  if (opener?.isConnected) part(opener, '.open').focus({preventScroll: true});
}

/** For keys: focuses the field for the class. */
export const pick = () => byId('right-class').focus();

/** @param {Photo} which */
export function hasChanged(which) {
  if (which === photo) fill();
}

/** What the photo can be, the most probable first; but the answer's own choice is above "none of these" if that
    is below a half and yet above each class. @param {Answer} answer */
function choices(answer) {
  const said = answer.ranking.map((one, i) => ({name: /** @type {string | null} */ (one.class), probability: one.probability, key: i < 5 ? String(i + 1) : ''}));
  if (typeof answer.none === 'number') said.push({name: null, probability: answer.none, key: '0'});
  const verdict = answer.none_of_these ? null : answer.ranking[0]?.class;
  return said.sort((a, b) => Number(b.name === verdict) - Number(a.name === verdict) || b.probability - a.probability);
}

/** @param {{name: string | null, probability: number, key: string}} choice */
function choiceRow({name, probability, key}) {
  const which = /** @type {Photo} */ (photo);
  const button = el('button', {class: name === null ? 'choice none' : 'choice', title: key ? 'Key ' + key : null,
                               onclick: () => attempt(null, async () => name === null ? decideNone([which]) : decide([which], name))},
                    bar(probability), el('kbd', {'aria-hidden': 'true'}, key),
                    el('span', {class: 'choice-name'}, name === null ? 'None of these' : displayName(name)), el('span', {class: 'choice-percent'}, percent(probability)));
  return el('li', {}, button);
}

/** @param {Answer['nearest'][number]} one */
const nearExample = one => el('figure', {}, exampleImage(one.example, '', true), el('figcaption', {}, displayName(one.class)));

/** @param {Answer} answer */
function fillAnswer(answer) {
  refill(byId('ranking'), choices(answer).map(choiceRow));
  byId('nearest').replaceChildren(...answer.nearest.map(nearExample));
  byId('nearest-title').hidden = answer.nearest.length === 0;
  const note = !answer.none_of_these && answer.nearest_note;
  sayAt(byId('nearest-note'), note ? plainly(answer.nearest_note) + '.' : '');
  const telling = answer.attributes.map(one => `${one.words} ${one.effect > 0 ? '+' : '−'}${Math.abs(one.effect).toFixed(2)}`);
  sayAt(byId('telling'), telling.length ? `Attributes for (+) or against (−) ${displayName(answer.ranking[0].class)}: ${telling.join(', ')}` : '');
}

function fill() {
  if (!photo) return;
  const {verdict, answer, error} = photo;
  const first = firstOf(photo);
  const title = byId('details-verdict');
  const name = classOf(photo);
  title.textContent = error ? 'This photo cannot be read' : !answer ? 'Waiting …' : name === null ? 'None of these' : displayName(name);
  title.classList.toggle('none', !error && answer !== null && name === null);
  byId('details-note').textContent = error || (verdict ? verdict.class === null ? 'Yours, to learn “none of these” from.' : 'Added to the class by you.' : answer ? percent(first.probability) : '');
  byId('details-answer').hidden = !answer;
  if (answer) fillAnswer(answer);
  byId('confirm').hidden = verdict !== null || !answer;
  byId('confirm').setAttribute('aria-label', `It is right: ${name === null ? 'none of these' : displayName(name)}`);
  byId('as-test').hidden = verdict !== null || !answer;
  byId('not-any').hidden = verdict !== null || first.none || !answer;
  byId('take-back').hidden = !canTakeBack();
}

/** Whether what was decided is the last change, or no change at all. */
function canTakeBack() {
  const verdict = photo?.verdict;
  return Boolean(verdict) && (verdict?.class === null || verdict?.changes.includes(state.change?.id ?? -1));
}

/** @param {any} control @param {(which: Photo) => Promise<unknown>} work */
function withPhoto(control, work) {
  const which = photo;
  if (which) attempt(control, () => work(which), byId('details-error'));
}

export function listenToDetails() {
  onPress('details-close', close);
  onPress('enlarge', () => { if (photo) zoom(photo); });
  listenToWhere(() => photo);
  onPress('confirm', () => withPhoto(byId('confirm'), which => confirm([which])));
  onPress('not-any', () => withPhoto(byId('not-any'), async which => decideNone([which])));
  onPress('take-back', () => withPhoto(byId('take-back'), async which => which.verdict?.class === null ? reopen(which) : undo()));
  onPress('as-test', () => withPhoto(byId('as-test'), async which => {
    const name = classNamed(byId('right-class').value) || firstOf(which).name;
    if (!name) throw new Error('Choose its class.');
    await addTests([which.file], name);
    drop(which);
  }));
  byId('correction').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const name = classNamed(byId('right-class').value);
    if (!name) {
      sayAt(byId('details-error'), 'Choose its class.');
      return byId('right-class').focus();
    }
    withPhoto(event.submitter, async which => {
      await decide([which], name);
      byId('right-class').value = '';
      opener?.isConnected && part(opener, '.open').focus({preventScroll: true});
    });
  });
}
