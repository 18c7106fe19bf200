// Folders that are dropped or chosen: a subfolder is a class.

import {isPicture} from './pictures.js';

/**
 * @param {any} entry of a drop (FileSystemEntry)
 * @param {string[]} path
 * @returns {Promise<Found[]>}
 */
async function walk(entry, path) {
  if (entry.isFile) return [{path, file: await new Promise((done, failed) => entry.file(done, failed))}];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    /** @type {any[]} */
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return found;
    for (const one of some) found.push(...await walk(one, [...path, entry.name]));
  }
}

/**
 * Everything of a drop. Has to be called while the drop's event lasts.
 * @param {DataTransfer} data
 * @returns {Promise<Found[]>}
 */
export async function filesOfDrop(data) {
  const entries = [...data.items].map(item => item.kind === 'file' && item.webkitGetAsEntry ? item.webkitGetAsEntry() : null);
  if (entries.every(entry => entry === null)) return [...data.files].map(file => ({path: [], file}));
  const plain = [...data.files];
  const found = await Promise.all(entries.map((entry, i) => entry ? walk(entry, []) : Promise.resolve(plain[i] ? [{path: [], file: plain[i]}] : [])));
  return found.flat();
}

/** @param {FileList} files of an input for folders */
export const filesOfFolder = files => [...files].map(file => ({path: file.webkitRelativePath.split('/').slice(0, -1), file}));

// Parts of data sets and folders that programs keep for themselves are not classes.
const noClass = /^(train|val|valid|validation|test|images|photos|__macosx|lost\+found|@eadir|#recycle)$/i;

/**
 * The photos by class: the innermost folder that can be one.
 * @param {Found[]} found
 * @returns {Map<string, File[]>} empty: there are no folders of photos
 */
export function classesOf(found) {
  const classes = new Map();
  const inFolders = found.filter(({path, file}) => path.length && isPicture(file) && !file.name.startsWith('.'));
  const isNested = inFolders.some(({path}) => path.length > 1);
  const paths = inFolders.filter(({path}) => !isNested || path.length > 1);
  for (const {path, file} of paths.sort((a, b) => a.path.join('/').localeCompare(b.path.join('/'), 'en', {numeric: true}))) {
    const name = path.at(-1) ?? '';
    if (noClass.test(name) || name.startsWith('.')) continue;
    classes.set(name, [...classes.get(name) ?? [], file]);
  }
  return classes;
}

const learnt = /^(base|train|training)$/i, tested = [/^(novel|test|testing)$/i, /^(val|valid|validation|dev)$/i];

/**
 * The photos by class of a data set in parts ("train" and "test", each with the same classes): those to learn from and those to test with. Of other folders
 * all are to learn from.
 * @param {Found[]} found
 * @returns {Parts}
 */
export function partsOf(found) {
  for (const depth of [0, 1]) {  // the parts, or a folder of them, were chosen
    const inFolders = found.filter(({path, file}) => path.length > depth && isPicture(file));
    const [learn, ...others] = [learnt, ...tested].map(kind => inFolders.filter(({path}) => kind.test(path[depth])));
    const count = others.reduce((sum, some) => sum + some.length, learn.length), classes = classesOf(learn);
    const test = others.map(classesOf).find(some => [...some.keys()].some(name => classes.has(name)));
    if (test && count === inFolders.length) return {learn: classes, test};
  }
  return {learn: classesOf(found), test: new Map()};
}

/** @param {Found[]} found */
export const picturesOf = found => found.map(one => one.file).filter(file => isPicture(file) && !file.name.startsWith('.'));
