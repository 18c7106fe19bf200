// What there is to take home: the answers as a table, the photos in folders by class, the recognizer.

import {callBlob} from './api.js';
import {el, onClick, onPress, say} from './dom.js';
import {classOf, firstOf, photos} from './photos.js';
import {state} from './state.js';
import {onnxPath} from './use.js';
import {counted} from './words.js';

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  el('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A cell that no spreadsheet runs as a formula. @param {string | number} value */
function cell(value) {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/** @param {Photo} photo */
const nameOf = photo => classOf(photo) ?? 'none of these';

export function csv() {
  const rows = [['photo', 'class', 'probability', 'decided_by', 'none', 'error']];
  for (const photo of photos) {
    const {name, error, verdict, answer} = photo;
    rows.push(error ? [name, '', '', '', '', error] : [name, nameOf(photo), verdict ? '' : firstOf(photo).probability.toFixed(4),
                                                       verdict ? 'you' : 'recognizer', answer?.none?.toFixed(4) ?? '', '']);
  }
  return rows.map(row => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

const table = Array.from({length: 256}, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? n >>> 1 ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

/** @param {Uint8Array} bytes */
function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = table[(sum ^ byte) & 255] ^ sum >>> 8;
  return (sum ^ 0xffffffff) >>> 0;
}

/** Bytes of numbers, [value, bytes] each, lowest byte first. @param {[number, number][]} fields */
const packed = fields => new Uint8Array(fields.flatMap(([value, size]) => Array.from({length: size}, (_, i) => Math.floor(value / 256 ** i) & 255)));

const utf8Names = 0x800, firstDay = 0x21;  // 1980-01-01

/**
 * A zip file without compression, since photos do not shrink.
 * @param {{path: string, file: Blob}[]} files
 */
export async function zip(files) {
  /** @type {BlobPart[]} */
  const parts = [], directory = [];
  let offset = 0, directorySize = 0;
  for (const {path, file} of files) {
    const name = new TextEncoder().encode(path), bytes = new Uint8Array(await file.arrayBuffer());
    /** @type {[number, number][]} */
    const common = [[20, 2], [utf8Names, 2], [0, 4], [firstDay, 2], [crc32(bytes), 4], [bytes.length, 4], [bytes.length, 4], [name.length, 2], [0, 2]];
    const head = packed([[0x04034b50, 4], ...common]);
    const entry = packed([[0x02014b50, 4], [20, 2], ...common, [0, 10], [offset, 4]]);
    parts.push(head, name, file);
    directory.push(entry, name);
    offset += head.length + name.length + bytes.length;
    directorySize += entry.length + name.length;
  }
  const end = packed([[0x06054b50, 4], [0, 4], [files.length, 2], [files.length, 2], [directorySize, 4], [offset, 4], [0, 2]]);
  return new Blob([...parts, ...directory, end], {type: 'application/zip'});
}

const metadata = 14;  // field of an ONNX file (protobuf)

/** The classes of an ONNX file of protocom in the order of its numbers: its metadata have them as JSON. @param {Uint8Array} bytes @returns {string[]} */
export function labelsOf(bytes) {
  let at = 0;
  const number = () => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const text = () => {
    ++at;
    const size = number();
    return new TextDecoder().decode(bytes.subarray(at, at += size));
  };
  while (at < bytes.length) {
    const tag = number(), size = number(), end = at + (tag & 2 ? size : 0);
    if (tag >> 3 === metadata && text() === 'classes') return JSON.parse(text());
    at = end;
  }
  return [];
}

/** A name that every system takes for a file. @param {string} text */
const safe = text => text.replace(/[/\\:*?"<>|\u0000-\u001f]/g, '_').replace(/^\.+/, '_') || '_';

/** The photos in a folder for each class. */
export function sorted() {
  const taken = new Set();
  return photos.filter(photo => !photo.error).map(photo => {
    const folder = safe(nameOf(photo));
    const [, stem, end] = /** @type {string[]} */ (/^(.*?)(\.[^.]*)?$/.exec(safe(photo.name)));
    let path = `${folder}/${stem}${end ?? ''}`;
    for (let n = 2; taken.has(path); ++n) path = `${folder}/${stem}-${n}${end ?? ''}`;
    taken.add(path);
    return {path, file: photo.file};
  });
}

export function listenToExports() {
  onPress('csv', () => {
    download(new Blob([csv()], {type: 'text/csv'}), 'answers.csv');
    say(`${counted(photos.length, 'answer')} written to answers.csv.`);
  });
  onClick('take-pcm', async () => {
    const name = `${state.recognizer?.name}.pcm`;
    download(await callBlob('v1/recognizer/file'), name);
    say(`${name} is saved. Open it with protocom on any computer.`);
  });
  onClick('take-onnx', async () => {
    const name = state.recognizer?.name, model = await callBlob(onnxPath());
    const labels = labelsOf(new Uint8Array(await model.arrayBuffer())).map(one => one + '\n').join('');
    download(await zip([{path: `${name}.onnx`, file: model}, {path: `${name}.labels.txt`, file: new Blob([labels])}]), `${name}-onnx.zip`);
    say(`${name}-onnx.zip is saved, for programs that run ONNX.`);
  });
  onClick('zip', async () => {
    const files = sorted();
    download(await zip(files), 'sorted.zip');
    say(`${counted(files.length, 'photo')} written to sorted.zip, in a folder for each class.`);
  });
}
