// The requests that the server answers, as openapi.json describes them.

import {byId, el} from './dom.js';

const deepest = 4;  // members within each other
const methods = ['get', 'post', 'patch', 'put', 'delete'];

/** @type {any} */
let description = {};

/** What a value means, which may stand elsewhere in the description. @param {any} value @returns {any} */
const meant = value => value?.$ref ? value.$ref.slice(2).split('/').reduce((/** @type {any} */ at, /** @type {string} */ part) => at[part], description) : value ?? {};

/** @param {any} schema @returns {string} */
function kind(schema) {
  const {type, items, enum: choices, anyOf, oneOf, format} = meant(schema);
  if (choices) return choices.join(' or ');
  if (anyOf ?? oneOf) return [...new Set((anyOf ?? oneOf).map(kind))].join(' or ');
  if (format === 'binary') return 'file';
  if (type === 'array') return 'list of ' + kind(items);
  return [type ?? 'any'].flat().join(' or ');
}

/** The members of an object, or of the objects in a list. @param {any} schema @param {number} depth @returns {any} */
function members(schema, depth = 0) {
  const own = meant(schema);
  if (own.items) return members(own.items, depth);
  const parts = [own, ...(own.allOf ?? []).map(meant)].flatMap(one => Object.entries(one.properties ?? {}));
  if (!parts.length || depth === deepest) return null;
  return el('ul', {}, ...parts.map(([name, value]) => row(name, value, depth)));
}

/** @param {string} name @param {any} schema @param {number} depth */
const row = (name, schema, depth) => el('li', {}, el('code', {}, name), ` ${kind(schema)}`, note(meant(schema)), members(schema, depth + 1));

/** @param {{description?: string, default?: unknown}} of */
const note = of => el('span', {class: 'hint'}, of.description ? ' – ' + of.description : '', of.default === undefined ? '' : ` (default: ${of.default})`);

/** @param {string} title @param {any[]} items */
const section = (title, items) => items.length ? el('div', {}, el('h3', {}, title), ...items) : null;

/** @param {any} content @param {string} [what] */
const bodies = (content, what = '') => Object.entries(content ?? {}).filter(([type]) => type !== 'image/*').map(([type, {schema}]) =>
  el('div', {}, el('p', {}, what, el('code', {}, type)), members(schema)));

/** @param {string} path @param {string} method @param {any} operation @param {any[]} common */
function card(path, method, operation, common) {
  const given = [...common, ...operation.parameters ?? []].map(meant), body = meant(operation.requestBody);
  const good = Object.entries(operation.responses).filter(([status]) => status < '400').map(([status, one]) => [status, meant(one)]);
  const refused = Object.keys(operation.responses).filter(status => status >= '400');
  return el('details', {class: 'card', id: operation.operationId},
            el('summary', {}, el('code', {}, el('strong', {}, method.toUpperCase()), ` ${path}`), ` ${operation.summary}`),
            el('p', {}, operation.description ?? ''),
            section('Parameters', given.length ? [el('ul', {}, ...given.map(one => el('li', {}, el('code', {}, one.in === 'query' ? `?${one.name}=` : `{${one.name}}`), ` ${kind(one.schema)}`, note({...one.schema, ...one}))))] : []),
            section('Body', bodies(body.content)),
            section('Answer', good.flatMap(([status, one]) => bodies(one.content, `${status}: ${one.description}, as `))),
            el('p', {class: 'hint'}, `Refusals: ${refused.join(', ')}`));
}

async function show() {
  description = await (await fetch('openapi.json')).json();
  const cards = Object.entries(description.paths).flatMap(([path, item]) =>
    methods.filter(method => item[method]).map(method => ({tag: item[method].tags[0], card: card(path, method, item[method], item.parameters ?? [])})));
  for (const {name, description: what} of description.tags)
    byId('main').append(el('h2', {}, what), ...cards.filter(one => one.tag === name).map(one => one.card));
  const wanted = byId(location.hash.slice(1));
  if (wanted) wanted.open = true;
}

show().catch(() => byId('main').append(el('p', {class: 'error'}, 'The server cannot be reached.')));
