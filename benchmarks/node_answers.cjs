// What an exported file answers in npm's onnxruntime-node, as JSON: outputs by name, and milliseconds an image.
//   node node_answers.cjs NODE_MODULES MODEL.onnx IMAGES SIZES BATCH [THREADS]
// IMAGES: float32 of SIZES (n,3,h,w), one after the other. BATCH images are given at once.
const {readFileSync} = require('fs'), path = require('path');
const [modules, model, images, sizes, batch, threads = '1'] = process.argv.slice(2);
const ort = require(path.resolve(modules, 'onnxruntime-node'));

async function main() {
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: +threads, interOpNumThreads: 1});
  const bytes = readFileSync(images), all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const [count, ...one] = sizes.split(',').map(Number), length = one.reduce((product, side) => product * side), found = {};
  let spent = 0;
  for (let at = 0; at < count; at += +batch) {
    const some = Math.min(+batch, count - at), data = all.slice(at * length, (at + some) * length);
    const began = performance.now(), answers = await session.run({image: new ort.Tensor('float32', data, [some, ...one])});
    spent += performance.now() - began;
    for (const [name, {data: values}] of Object.entries(answers)) {
      const width = values.length / some, numbers = Array.from(values, Number);
      for (let i = 0; i < some; ++i) (found[name] ??= []).push(width > 1 || name === 'probabilities' ? numbers.slice(i * width, (i + 1) * width) : numbers[i]);
    }
  }
  console.log(JSON.stringify({...found, milliseconds: spent / count}));
}

main();
