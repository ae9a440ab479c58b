// @ts-check
// A match as far as it is known, and the board after any of its plies.

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").News} News */
/** @typedef {import("./types.js").Sheet} Sheet */
/** @typedef {{pieces: (string|null)[], ground: (string|null)[]}} Position */

/** Every so many plies the board is kept, so that none is more than this many steps away. */
const KEPT_EVERY = 32;
/** What stands in place of a fault where a seat gave up. */
export const RESIGNED = "resigned";

export class Store {
  /** @param {Sheet} sheet */
  constructor(sheet) {
    this.sheet = sheet;
    this.cells = sheet.board.cells.length;
    /** @type {Frame[]} */
    this.frames = [];
    /** @type {Position[]} */
    this.kept = [];
    this.asked = sheet.asked;
    this.state = sheet.state;
    this.trouble = sheet.problem;
    this.line = sheet.line;
    /** When `asked` arrived, on the page's clock. */
    this.askedAt = performance.now();
    this.put(sheet.plies);
  }

  /** The last ply's number. */
  get last() {
    return this.frames.length - 1;
  }

  get running() {
    return this.state === "running";
  }

  /** Takes in what a live match sent. @param {News} news */
  take(news) {
    this.put(news.plies);
    this.asked = news.asked;
    this.askedAt = performance.now();
    this.state = news.state;
    this.trouble = news.problem;
    this.line = news.line;
  }

  /** Frames replace those of the same number; one that would leave a gap is left out.
   * @param {Frame[]} frames */
  put(frames) {
    for (const frame of frames) {
      if (frame.index > this.frames.length) break;
      this.frames[frame.index] = frame;
      this.kept.length = Math.min(this.kept.length, Math.ceil(frame.index / KEPT_EVERY));
    }
  }

  /** A ply that there is. @param {number} ply */
  clamp(ply) {
    return Math.max(0, Math.min(this.last, Math.trunc(ply) || 0));
  }

  /** The board after this ply. @param {number} ply @returns {Position} */
  position(ply) {
    const wanted = Math.floor(ply / KEPT_EVERY);
    while (this.kept.length <= wanted) this.kept.push(this.walk(this.kept.length * KEPT_EVERY));
    return ply % KEPT_EVERY ? this.walk(ply) : /** @type {Position} */ (this.kept[wanted]);
  }

  /** Goes there from the last place that is kept. @param {number} ply @returns {Position} */
  walk(ply) {
    const base = Math.min(Math.floor(ply / KEPT_EVERY), this.kept.length - 1);
    const from = this.kept[base];
    const nothing = () => /** @type {(string|null)[]} */ (new Array(this.cells).fill(null));
    const pieces = from ? from.pieces.slice() : nothing();
    const ground = from ? from.ground.slice() : nothing();
    for (let at = from ? base * KEPT_EVERY + 1 : 0; at <= ply; at += 1) {
      const frame = this.frames[at];
      for (const [cell, colour] of frame?.set ?? []) pieces[cell] = colour;
      for (const [cell, kind] of frame?.ground ?? []) ground[cell] = kind;
    }
    return { pieces, ground };
  }

  /** Whether something went wrong in this ply or an agent wrote to stderr. @param {Frame} frame */
  static hasProblem(frame) {
    return frame.fault !== null || frame.stderr.length > 0;
  }

  /** The nearest ply with a problem in this direction, or null.
   * @param {number} ply @param {1|-1} direction */
  problem(ply, direction) {
    for (let at = ply + direction; at >= 0 && at <= this.last; at += direction) {
      const frame = this.frames[at];
      if (frame && Store.hasProblem(frame)) return at;
    }
    return null;
  }

  /** The ply of the first fault, else the last. */
  firstFault() {
    const at = this.frames.findIndex((frame) => Store.isFault(frame));
    return at < 0 ? this.last : at;
  }

  /** Whether a seat did something wrong, which giving up isn't. @param {Frame} frame */
  static isFault(frame) {
    return frame.fault !== null && frame.fault !== RESIGNED;
  }

  /** The ply of this turn: that of its fault if there was one, else the first that is as late.
   * @param {number} turn */
  ofTurn(turn) {
    const faulty = this.frames.findIndex((frame) => frame.fault !== null && frame.turn === turn);
    if (faulty >= 0) return faulty;
    const played = this.frames.findIndex((frame) => frame.index > 0 && frame.turn >= turn);
    return played < 0 ? this.last : played;
  }

  /** What each seat said last, and in which turns: stderr and `info` apart. */
  latest() {
    /** @type {{stderr: Frame|null, infos: Frame|null}[]} */
    const seats = this.sheet.seats.map(() => ({ stderr: null, infos: null }));
    for (const frame of this.frames) {
      for (const kind of /** @type {("stderr"|"infos")[]} */ (["stderr", "infos"])) {
        for (const { seat } of frame[kind]) {
          const notes = seats[seat];
          if (notes) notes[kind] = frame;
        }
      }
    }
    return seats;
  }

  /** Each seat's own scores: the last one of each ply. */
  scores() {
    /** @type {{ply: number, score: number}[][]} */
    const seats = this.sheet.seats.map(() => []);
    for (const frame of this.frames) {
      for (const info of frame.infos) {
        const seat = seats[info.seat];
        if (!seat || info.score === null) continue;
        if (seat.at(-1)?.ply === frame.index) seat.pop();
        seat.push({ ply: frame.index, score: info.score });
      }
    }
    return seats;
  }
}
