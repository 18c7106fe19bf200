// A bar with a count and the time that is left.

import {byId, hush} from './dom.js';
import {duration} from './words.js';

/** One piece of work that people wait for. */
export class Progress {
  /** @param {string} what "Looking at photos" @param {number} total */
  constructor(what, total) {
    this.what = what;
    this.total = total;
    this.done = 0;
    this.begun = performance.now();
    this.stop = new AbortController();
    byId('progress-cancel').onclick = () => this.stop.abort();
    byId('progress').hidden = false;
    hush();
    this.show();
  }

  get signal() { return this.stop.signal; }

  /** @param {number} [count] */
  step(count = 1) {
    this.done += count;
    this.show();
  }

  show() {
    byId('progress-bar').max = this.total;
    byId('progress-bar').value = this.done;
    const spent = (performance.now() - this.begun) / 1000;
    const left = this.done > 0 && spent > 1 ? ` · about ${duration(spent / this.done * (this.total - this.done))} left` : '';
    byId('progress-text').textContent = `${this.what}: ${this.done} of ${this.total}${this.done < this.total ? left : ''}`;
  }

  finish() { byId('progress').hidden = true; }
}
