// @ts-check
// The ply that is shown, and playback.

import { save, SPEEDS } from "./settings.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./settings.js").Settings} Settings */

export class Player {
  /** @param {Store} store @param {Settings} settings @param {() => void} changed */
  constructor(store, settings, changed) {
    this.store = store;
    this.settings = settings;
    this.changed = changed;
    this.ply = 0;
    this.playing = false;
    this.timer = 0;
    /** Whether playback begins again at the end. */
    this.loops = false;
  }

  get atEnd() {
    return this.ply >= this.store.last;
  }

  /** @param {number} ply */
  go(ply) {
    this.ply = this.store.clamp(ply);
    if (this.playing && this.atEnd && !this.loops) this.stop();
    this.changed();
  }

  /** Steps, and stops playback. @param {number} by */
  step(by) {
    this.stop();
    this.go(this.ply + by);
  }

  /** @param {number} ply */
  jump(ply) {
    this.stop();
    this.go(ply);
  }

  toggle() {
    if (this.playing) {
      this.stop();
      this.changed();
      return;
    }
    this.playing = true;
    if (this.atEnd) this.ply = 0;
    this.changed();
    this.wait();
  }

  stop() {
    this.playing = false;
    clearTimeout(this.timer);
  }

  wait() {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.timer = Number(setTimeout(() => {
      this.go(this.atEnd ? 0 : this.ply + 1);
      this.wait();
    }, 1000 / this.settings.speed));
  }

  /** @param {number} speed in plies per second */
  setSpeed(speed) {
    this.settings.speed = speed;
    save(this.settings);
    this.wait();
    this.changed();
  }

  /** @param {number} by steps in the list of speeds */
  changeSpeed(by) {
    const at = SPEEDS.indexOf(this.settings.speed) + by;
    this.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))] ?? 1);
  }
}
