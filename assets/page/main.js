'use strict';

const $ = id => document.getElementById(id);
// `settled`: for the numbers of changes that enrolled an answered image, what shows its answer again.
const state = {key: sessionStorage.getItem('key') || '', classes: [], change: null, words: {}, settled: new Map()};
// As many of the largest images as the server takes in one request.
const imagesAtOnce = 5;

/// One request to the API: its JSON, or an Error that says what the server said.
async function call(method, path, body, type) {
  const headers = {};
  if (state.key) headers.Authorization = 'Bearer ' + state.key;
  if (type) headers['Content-Type'] = type;
  let response;
  try {
    response = await fetch(path, {method, headers, body});
  } catch (error) {
    throw new Error('The server cannot be reached.');
  }
  if (response.status === 401) askForKey();
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ? answer.error.message : 'The server said ' + response.status + '.');
  return answer;
}
const callJson = (method, path, value) => call(method, path, JSON.stringify(value), 'application/json');
const classPath = name => 'v1/classes/' + encodeURIComponent(name);

function say(text, wrong = false) {
  $('status').textContent = text;
  $('status').classList.toggle('wrong', wrong);
}

/// Runs what a control starts, and says what went wrong. A control loses the focus where it is disabled: who works by
/// keyboard finds it again.
async function attempt(control, work) {
  const focused = control && document.activeElement === control;
  if (control) control.disabled = true;
  try {
    await work();
  } catch (error) {
    say(error.message, true);
  } finally {
    if (control) control.disabled = false;
    showUndo();
    if (focused && document.activeElement === document.body)
      (control.disabled || !control.isConnected ? $('main') : control).focus();
  }
}

function askForKey() {
  $('key-form').hidden = false;
  $('key').focus();
}

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const percent = p => p >= 0.9995 ? '100 %' : (100 * p).toFixed(1) + ' %';
const counted = (n, one, many) => n + ' ' + (n === 1 ? one : many);

// What people call an attribute.
const wordsFor = name => state.words[name] ?? name;

function showUndo() {
  $('undo').disabled = !state.change;
  $('undo').textContent = state.change ? 'Undo: ' + state.change.what : 'Undo';
}

function classRow(one) {
  const row = element('li');
  row.append(element('span', one.class, 'name'));
  const about = [counted(one.images, 'image', 'images')];
  if (one.title && one.title !== one.class) about.unshift(one.title);
  if (one.attributes.length) about.push(one.attributes.slice(0, 6).map(has => wordsFor(has.name)).join(', ') + (one.attributes.length > 6 ? ', …' : ''));
  row.append(element('span', about.join(' · '), 'about'));
  const remove = element('button', 'Remove', 'plain');
  remove.type = 'button';
  remove.setAttribute('aria-label', 'Remove ' + one.class);
  remove.addEventListener('click', () => attempt(remove, async () => {
    await call('DELETE', classPath(one.class));
    await refresh();
    say(one.class + ' was removed. Undo brings it back.');
    $('undo').focus();
  }));
  row.append(remove);
  return row;
}

// What other rates would cost.
const exchangeText = calibration => (calibration.exchange ?? []).map(
    one => ' At ' + percent(one.false_accept) + ': ' + percent(one.accepted) + '.').join('');

async function refresh() {
  const [listed, recognizer] = await Promise.all([call('GET', 'v1/classes'), call('GET', 'v1/recognizer')]);
  state.classes = listed.classes;
  state.change = listed.change;
  state.words = recognizer.words;
  $('classes').replaceChildren(...listed.classes.map(classRow));
  if (!listed.classes.length) $('classes').append(element('li', 'None yet: enrol one from a few images.', 'hint'));
  $('class-names').replaceChildren(...listed.classes.map(one => new Option(one.class)));
  $('attribute-names').replaceChildren(...recognizer.attributes.map(name => new Option(wordsFor(name), name)));
  $('attributes-field').hidden = recognizer.attributes.length === 0;
  $('summary').textContent = counted(listed.classes.length, 'class', 'classes') + ', ' +
      counted(listed.classes.reduce((sum, one) => sum + one.images, 0), 'image', 'images');
  const calibration = recognizer.calibration;
  $('calibration').textContent = calibration
      ? 'Calibrated on ' + counted(calibration.images, 'image', 'images') + ': ' + percent(calibration.false_accept) +
          ' of other things pass, ' + percent(calibration.accepted) + ' of your own photos are kept.' +
          exchangeText(calibration)
      : 'Not calibrated: “none of these” is never the answer.';
  showUndo();
}

async function enrol(name, files, attributes) {
  const form = new FormData();
  for (const file of files) form.append('image', file, file.name || 'photo');
  if (attributes) form.append('attributes', attributes);
  const done = await call('POST', classPath(name) + '/examples', form);
  await refresh();
  let text = done.added ? counted(done.added, 'image', 'images') + ' added to ' + name + '.'
                        : done.is_new ? name + ' was added.' : name + ' holds that already.';
  if (done.unreadable.length) text += ' ' + counted(done.unreadable.length, 'image', 'images') + ' could not be read: ' + done.unreadable[0].reason + '.';
  say(text);
  return done;
}

function bar(share) {
  const svg = $('bar-template').content.cloneNode(true).querySelector('svg');
  svg.querySelector('rect').setAttribute('width', (100 * share).toFixed(2) + '%');
  return svg;
}

/// What is kept for the image is given back once it is shown, or cannot be.
function showBlob(image, blob) {
  const address = URL.createObjectURL(blob);
  for (const event of ['load', 'error']) image.addEventListener(event, () => URL.revokeObjectURL(address), {once: true});
  image.src = address;
}

async function thumbnail(image, example) {
  const headers = state.key ? {Authorization: 'Bearer ' + state.key} : {};
  const response = await fetch('v1/examples/' + example + '/thumbnail', {headers});
  if (response.ok) showBlob(image, await response.blob());
}

function nearExample(one) {
  const figure = element('figure');
  const image = element('img');
  image.alt = 'An enrolled image of ' + one.class;
  thumbnail(image, one.example).catch(() => {});
  figure.append(image, element('figcaption', one.class));
  return figure;
}

function showVerdict(item, text, none) {
  const verdict = item.querySelector('.verdict');
  verdict.classList.toggle('none', none);
  verdict.textContent = text;
}

function showRanking(item, answer) {
  const best = answer.ranking[0];
  const none = answer.none_of_these === true;
  showVerdict(item, none ? 'None of these' : best.class, none);
  const said = answer.ranking.map(one => ({name: one.class, probability: one.probability}));
  if (typeof answer.none === 'number') said.push({name: 'None of these', probability: answer.none});
  said.sort((a, b) => b.probability - a.probability);
  item.querySelector('.ranking').replaceChildren(...said.map(one => {
    const row = element('li');
    row.append(bar(one.probability), element('span', one.name), element('span', percent(one.probability)));
    return row;
  }));
  const note = item.querySelector('.nearest-note');
  note.hidden = none || !answer.nearest_note;
  note.textContent = answer.nearest_note ? 'The nearest photo is of another class: ' + answer.nearest_note + '.' : '';
  const telling = item.querySelector('.telling');
  telling.hidden = answer.attributes.length === 0;
  telling.textContent = 'For ' + best.class + ' (+) or against it: ' +
      answer.attributes.map(one => one.words + ' ' + (one.effect > 0 ? '+' : '') + one.effect.toFixed(2)).join(', ');
  item.querySelector('.nearest').replaceChildren(...answer.nearest.map(nearExample));
  item.querySelector('.confirm').textContent = (none ? 'It is ' : 'Yes, ') + best.class;
}

function offerCorrection(item, file, answer) {
  const confirm = item.querySelector('.confirm');
  const form = item.querySelector('.correction');
  const settle = (control, name) => attempt(control, async () => {
    const done = await enrol(name, [file]);
    const note = element('p', 'Enrolled as ' + name + '.', 'hint');
    form.hidden = true;
    form.after(note);
    showVerdict(item, name, false);
    if (done.change) {
      state.settled.set(done.change.id, () => {
        note.remove();
        form.hidden = false;
        showRanking(item, answer);
      });
    }
    $('undo').focus();
  });
  confirm.addEventListener('click', () => settle(confirm, answer.ranking[0].class));
  form.addEventListener('submit', event => {
    event.preventDefault();
    const name = item.querySelector('.right-class').value.trim();
    if (!name) return say('Say what it is.', true);
    settle(event.submitter, name);
  });
}

function answerItem(file, answer) {
  const item = $('answer-template').content.cloneNode(true).querySelector('li');
  const photo = item.querySelector('.photo');
  photo.alt = file.name || 'Your image';
  showBlob(photo, file);
  if (answer.error) {
    item.querySelector('.verdict').textContent = 'It could not be read: ' + answer.error + '.';
    item.querySelector('.correction').remove();
  } else {
    showRanking(item, answer);
    offerCorrection(item, file, answer);
  }
  return item;
}

async function classify(files) {
  const images = [...files];
  if (!images.length) return;
  say('Looking at ' + counted(images.length, 'image', 'images') + ' …');
  for (let begin = 0; begin < images.length; begin += imagesAtOnce) {
    const some = images.slice(begin, begin + imagesAtOnce);
    const form = new FormData();
    for (const file of some) form.append('image', file, file.name || 'photo');
    const done = await call('POST', 'v1/classify', form);
    $('answers').prepend(...done.answers.map((answer, i) => answerItem(some[i], answer)));
  }
  const first = document.querySelector('#answers .verdict').textContent;
  say(images.length === 1 ? 'Answer: ' + first : counted(images.length, 'image', 'images') + ' answered.');
}

function listen() {
  for (const id of ['ask-files', 'ask-camera']) {
    $(id).addEventListener('change', () => attempt(null, async () => {
      await classify($(id).files);
      $(id).value = '';
    }));
  }
  const drop = $('drop');
  for (const event of ['dragenter', 'dragover']) drop.addEventListener(event, () => drop.classList.add('over'));
  for (const event of ['dragleave', 'drop']) drop.addEventListener(event, () => drop.classList.remove('over'));
  // Beside the zone a browser would leave the page and show the file.
  for (const event of ['dragover', 'drop'])
    addEventListener(event, e => { if (e.dataTransfer.types.includes('Files')) e.preventDefault(); });
  drop.addEventListener('drop', e => { attempt(null, () => classify(e.dataTransfer.files)); });
  addEventListener('paste', e => { if (e.clipboardData.files.length) attempt(null, () => classify(e.clipboardData.files)); });
  $('enrol-form').addEventListener('submit', event => {
    event.preventDefault();
    attempt(event.submitter, async () => {
      await enrol($('class-name').value.trim(), $('enrol-files').files, $('attributes').value.trim());
      event.target.reset();
      $('class-name').focus();
    });
  });
  $('undo').addEventListener('click', () => attempt($('undo'), async () => {
    const done = await callJson('POST', 'v1/undo', {change: state.change.id});
    const showAgain = state.settled.get(done.undone.id);
    if (showAgain) showAgain();
    state.settled.delete(done.undone.id);
    await refresh();
    say('Taken back: ' + done.undone.what + '.');
  }));
  $('calibrate').addEventListener('click', () => attempt($('calibrate'), async () => {
    say('Calibrating …');
    await callJson('POST', 'v1/calibrate', {});
    await refresh();
    say('Calibrated.');
  }));
  $('key-form').addEventListener('submit', event => {
    event.preventDefault();
    state.key = $('key').value.trim();
    sessionStorage.setItem('key', state.key);
    $('key-form').hidden = true;
    attempt(event.submitter, refresh);
  });
}

listen();
attempt(null, refresh);
