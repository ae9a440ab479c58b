// @ts-check
// A match, and the board after each of its plies.

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Info} Info */
/** @typedef {import("./types.js").MatchUpdate} MatchUpdate */
/** @typedef {import("./types.js").MatchData} MatchData */
/** @typedef {{frames: Frame[], end: Frame|null}} Line */
/** @typedef {{pieces: (string|null)[], ground: (string|null)[]}} Position */

/** How often the board is stored: any ply is fewer steps than this from a stored one. */
const KEPT_EVERY = 32;
/** The fault of a seat that resigned, which is no error. */
export const RESIGNED = "resigned";

export class Store {
  /** @param {MatchData} match */
  constructor(match) {
    this.match = match;
    this.cells = match.board.cells.length;
    /** @type {Frame[]} */
    this.frames = [];
    /** @type {Position[]} */
    this.kept = [];
    /** How the match ended. @type {Frame|null} */
    this.end = null;
    this.asked = match.asked;
    this.state = match.state;
    this.failure = match.problem;
    this.line = match.line;
    /** When `asked` arrived, by the page's clock. */
    this.askedAt = performance.now();
    /** The recorded match while a branch of it is shown. @type {Line|null} */
    this.main = null;
    /** The last recorded ply before the branch. @type {number|null} */
    this.base = null;
    this.put(match.plies);
  }

  /** The last ply's number. */
  get last() {
    return this.frames.length - 1;
  }

  get running() {
    return this.state === "running";
  }

  /** Applies an update of a live match. @param {MatchUpdate} update */
  take(update) {
    const { main, frames, end } = this;
    if (main) Object.assign(this, main);
    this.put(update.plies);
    if (main) {
      this.main = { frames: this.frames, end: this.end };
      Object.assign(this, { frames, end });
    }
    this.asked = update.asked;
    this.askedAt = performance.now();
    this.state = update.state;
    this.failure = update.problem;
    this.line = update.line;
  }

  /** Shows other plies after a recorded one. @param {number} base @param {{plies: Frame[]}} data */
  branch(base, { plies }) {
    this.main ??= { frames: this.frames, end: this.end };
    this.base = base;
    this.end = null;
    this.frames = this.main.frames.slice(0, base + 1);
    this.kept.length = Math.min(this.kept.length, Math.floor(base / KEPT_EVERY) + 1);
    // Nobody has used any time.
    this.put(plies.map((frame) => ({ ...frame, used_ms: null, cpu_ms: null })));
  }

  /** Shows the recorded plies again. */
  leave() {
    if (!this.main) return;
    Object.assign(this, this.main);
    this.kept.length = Math.min(this.kept.length, Math.floor((this.base ?? 0) / KEPT_EVERY) + 1);
    this.main = null;
    this.base = null;
  }

  /** Adds or replaces frames; those that would leave a gap are ignored.
   * @param {Frame[]} frames */
  put(frames) {
    for (const frame of frames) {
      if (frame.index > this.frames.length) break;
      if (frame.kind === "over") {
        this.finish(frame);
        break;
      }
      this.frames[frame.index] = frame;
      this.kept.length = Math.min(this.kept.length, Math.ceil(frame.index / KEPT_EVERY));
    }
  }

  /** Adds what was sent after the last ply to it: the end is no ply of its own, since nothing moves.
   * @param {Frame} end */
  finish(end) {
    const last = this.frames[end.index - 1];
    if (!last || this.end) return;
    this.end = end;
    this.frames[end.index - 1] = {
      ...last, figures: end.figures, chain: end.chain, fault: last.fault ?? end.fault,
      infos: [...last.infos, ...end.infos], stderr: [...last.stderr, ...end.stderr],
    };
  }

  /** The seats that have left the match up to a ply, with the code of their fault.
   * @param {number} ply @returns {Map<number, string>} */
  out(ply) {
    const frames = this.frames.slice(0, ply + 1).filter(({ kind }) => kind === "retired");
    return new Map(frames.map(({ seat, fault }) => [seat ?? -1, fault ?? ""]));
  }

  /** What the agents marked in the position after a ply: they sent it in the next one. Only the last
   * `info` of each that has marks counts, or the one before it that `back` says.
   * @param {number} ply @param {number} [back] @returns {Info[]} */
  notes(ply, back = 0) {
    const infos = (this.frames[ply + 1]?.infos ?? []).filter(({ marks, pv }) => marks.length || pv.length);
    const seats = [...new Set(infos.map(({ seat }) => seat))];
    return seats.flatMap((seat) => {
      const own = infos.filter((info) => info.seat === seat);
      return own[Math.max(0, own.length - 1 - back)] ?? [];
    });
  }

  /** The nearest ply that exists. @param {number} ply */
  clamp(ply) {
    return Math.max(0, Math.min(this.last, Math.trunc(ply) || 0));
  }

  /** The board after this ply. @param {number} ply @returns {Position} */
  position(ply) {
    const wanted = Math.floor(ply / KEPT_EVERY);
    while (this.kept.length <= wanted) this.kept.push(this.walk(this.kept.length * KEPT_EVERY));
    return ply % KEPT_EVERY ? this.walk(ply) : /** @type {Position} */ (this.kept[wanted]);
  }

  /** Computes the board from the nearest stored one. @param {number} ply @returns {Position} */
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

  /** Whether a ply has a fault or stderr. @param {Frame} frame */
  static hasProblem(frame) {
    return frame.fault !== null || frame.stderr.length > 0;
  }

  /** The nearest ply with a fault or stderr in this direction, or null.
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

  /** Whether a ply has a fault other than a resignation. @param {Frame} frame */
  static isFault(frame) {
    return frame.fault !== null && frame.fault !== RESIGNED;
  }

  /** The ply of a turn: its fault if there is one, else the first ply that is not earlier.
   * @param {number} turn */
  ofTurn(turn) {
    const faulty = this.frames.findIndex((frame) => frame.fault !== null && frame.turn === turn);
    if (faulty >= 0) return faulty;
    const played = this.frames.findIndex((frame) => frame.index > 0 && frame.turn >= turn);
    return played < 0 ? this.last : played;
  }

  /** The last plies in which each seat wrote to stderr and sent `info`. */
  latest() {
    /** @type {{stderr: Frame|null, infos: Frame|null}[]} */
    const seats = this.match.seats.map(() => ({ stderr: null, infos: null }));
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

  /** The scores of each seat: the last one of each ply. */
  scores() {
    /** @type {{ply: number, score: number}[][]} */
    const seats = this.match.seats.map(() => []);
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
