// Drawn shapes, for a first try without photos.

import {el} from './dom.js';

const side = 256, photosOfClass = 6;
const colours = ['#c0392b', '#2471a3', '#1e8449', '#b7950b', '#7d3c98', '#515a5a'];

/** Corners of each shape. */
const shapes = new Map([['Circle', 60], ['Triangle', 3], ['Star', 10]]);

/** @param {number} low @param {number} high */
const between = (low, high) => low + Math.random() * (high - low);

/** @param {string} name @param {number} number @returns {Promise<File>} */
async function drawn(name, number) {
  const canvas = el('canvas', {width: side, height: side}), context = canvas.getContext('2d');
  const corners = shapes.get(name) ?? 3, radius = between(60, 95), turned = between(0, 6.28);
  context.fillStyle = `hsl(${between(0, 360)} 30% ${between(80, 95)}%)`;
  context.fillRect(0, 0, side, side);
  context.translate(side / 2 + between(-20, 20), side / 2 + between(-20, 20));
  context.fillStyle = colours[number % colours.length];
  context.beginPath();
  for (let corner = 0; corner < corners; ++corner) {
    const far = name === 'Star' && corner % 2 ? 0.45 * radius : radius, angle = turned + 6.2832 * corner / corners;
    context.lineTo(far * Math.cos(angle), far * Math.sin(angle));
  }
  context.fill();
  /** @type {Blob} */
  const blob = await new Promise(done => canvas.toBlob(done, 'image/png'));
  return new File([blob], `${name.toLowerCase()}-${number + 1}.png`, {type: 'image/png'});
}

/** @returns {Promise<Map<string, File[]>>} */
export async function drawnClasses() {
  const classes = new Map();
  for (const name of shapes.keys()) classes.set(name, await Promise.all(Array.from({length: photosOfClass}, (_, number) => drawn(name, number))));
  return classes;
}
