// Small helpers for elements. Text from people and the server only ever becomes text, never markup.

/**
 * @param {string} id
 * @returns {any}
 */
export const byId = id => document.getElementById(id);

/** What is within an element. @param {Element | undefined} within @param {string} selector @returns {any} */
export const part = (within, selector) => within?.querySelector(selector);

/** @param {string} id @param {(event: MouseEvent) => unknown} work */
export const onPress = (id, work) => byId(id).addEventListener('click', work);

/**
 * An element: el('button', {class: 'plain', onclick: f}, 'Undo').
 * @param {string} tag
 * @param {Record<string, any>} [attributes] properties where the element has them (functions are listeners), else attributes
 * @param {...(Node | string | null)} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  if (tag === 'button') made.setAttribute('type', 'button');  // which sends no form
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (typeof value === 'function') made.addEventListener(name.replace(/^on/, ''), value);
    else if (name === 'class') made.className = value;
    else if (name in made && !name.startsWith('aria-') && name !== 'list') /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null));
  return made;
}

/** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] */
export function svg(tag, attributes, text) {
  const made = document.createElementNS(byId('curve').namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** One of the drawings at the beginning of the page. @param {string} name */
export function icon(name) {
  const made = svg('svg', {class: 'icon', 'aria-hidden': 'true'});
  made.append(svg('use', {href: '#i-' + name}));
  return made;
}

/** A cross that takes something away. @param {string} label @param {() => Promise<unknown>} work */
export function cross(label, work) {
  const button = el('button', {class: 'plain small square', 'aria-label': label, title: label, onclick: () => attempt(button, work)}, icon('close'));
  return button;
}

/**
 * A bar that fills a share of its width. SVG, because a strict policy forbids style attributes.
 * @param {number} share
 * @param {string} [look] its class
 */
export function bar(share, look = 'bar') {
  const drawing = svg('svg', {'aria-hidden': 'true', class: look});
  drawing.append(svg('rect', {height: '100%', width: (100 * share).toFixed(2) + '%'}));
  return drawing;
}

/** Refills a list; the focus stays at its place. @param {any} list @param {Node[]} items */
export function refill(list, items) {
  const at = [...list.querySelectorAll('button')].indexOf(document.activeElement);
  list.replaceChildren(...items);
  const buttons = list.querySelectorAll('button');
  if (at >= 0) buttons[Math.min(at, buttons.length - 1)]?.focus({preventScroll: true});
}

const shownFor = 8000;  // ms; what went wrong stays
/** @type {ReturnType<typeof setTimeout> | undefined} */
let fading;

/** @param {string} text @param {boolean} [wrong] */
export function say(text, wrong = false) {
  const status = byId('status');
  status.textContent = status.title = text;
  status.classList.toggle('wrong', wrong);
  status.classList.remove('over-with');
  clearTimeout(fading);
  if (!wrong) fading = setTimeout(() => status.classList.add('over-with'), shownFor);
}

/** What was said is of another view, or of earlier work. */
export function hush() {
  byId('status').className = 'over-with';
}

/**
 * What is wrong with a form, beside it. Empty: nothing.
 * @param {HTMLElement} place
 * @param {string} text
 */
export function sayAt(place, text) {
  place.textContent = text;
  place.hidden = text === '';
}

/**
 * Runs what a control starts. The control is disabled meanwhile and gets the focus back, since a disabled control loses
 * it. What goes wrong is said beside the form where there is a place for it, else in the status line.
 * @param {any} control
 * @param {() => Promise<unknown>} work
 * @param {HTMLElement | null} [place]
 */
export async function attempt(control, work, place = null) {
  const focused = control !== null && document.activeElement === control;
  if (control) control.disabled = true;
  if (place) sayAt(place, '');
  try {
    await work();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (place) sayAt(place, text);
    else say(text, true);
  } finally {
    if (control) control.disabled = false;
    const lost = document.activeElement === document.body || document.activeElement === null;
    if (focused && lost) (control.getClientRects().length ? control : byId('main')).focus({preventScroll: true});
  }
}

/** What the button does. @param {string} id @param {() => Promise<unknown>} work @param {string} [place] for what goes wrong */
export const onClick = (id, work, place) => byId(id).addEventListener('click', () => attempt(byId(id), work, place ? byId(place) : null));

/** The same of a form. @param {string} id @param {() => Promise<unknown>} work @param {string} [place] */
export const onSubmit = (id, work, place) => byId(id).addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  attempt(event.submitter, work, place ? byId(place) : null);
});

/**
 * Shows a blob; its address is given back once it is shown, or cannot be.
 * @param {HTMLImageElement} image
 * @param {Blob} blob
 * @param {() => void} [failed]
 */
export function showBlob(image, blob, failed) {
  const address = URL.createObjectURL(blob);
  for (const event of ['load', 'error']) image.addEventListener(event, () => URL.revokeObjectURL(address), {once: true});
  if (failed) image.addEventListener('error', failed, {once: true});
  image.src = address;
}
