// @ts-check
// The board: the server's SVG of the empty board, with pieces and marks.

import { h, letter, s, short } from "./common.js";
import { Lens } from "./lens.js";
import { animate } from "./motion.js";

/** @typedef {import("./types.js").MatchData} MatchData */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Info} Info */
/** @typedef {import("./store.js").Position} Position */
/** @typedef {Record<import("./settings.js").Switch, boolean>} Look */
/** @typedef {(layer: string, at: number|string, key: string,
 *   make: () => Element[]) => void} Want */
/** @typedef {{ply: number, selected: number|null, legal: Set<number>, route: number[]}} Choice */

/** Layers that change with each ply. */
const DRAWN = ["ground", "last", "pieces", "chain", "marks"];
/** On boards with more cells, the last action gets a wide ring. */
const LARGE = 250;
/** A board that is this many times as high as wide can be laid flat. */
const HIGH = 1.3;

export class Board {
  /** @param {MatchData} match @param {(by: number) => void} step */
  constructor(match, step) {
    this.picture = match.board;
    this.cells = match.board.cells;
    this.svg = parsed(match.board.svg);
    /** @type {Map<string, SVGGElement>} */
    this.layers = new Map();
    for (const name of DRAWN) this.layers.set(name, this.layer(name));
    /** The elements that are shown, so that only changes are applied.
     * @type {Map<string, {key: string, elements: Element[]}>} */
    this.put = new Map();
    /** Clockwise, in quarters. */
    this.quarters = 0;
    const { width, height } = this.picture;
    this.canBeFlat = height > HIGH * width;
    const turn = this.svg.querySelector("g.turn");
    if (turn instanceof SVGElement) turn.style.transformOrigin = `${width / 2}px ${height / 2}px`;
    /** Instead of a board that has no cells. */
    this.plain = this.cells.length ? null : h("pre", { class: "board-words board-plain" });
    this.frame = h("div", { class: "board-frame" }, this.plain, this.svg);
    this.lens = new Lens(this.svg, this.frame, step);
    this.lens.fit({ x: 0, y: 0, width, height });
  }

  /** @param {string} name @returns {SVGGElement} */
  layer(name) {
    const found = this.svg.querySelector(`g.layer-${name}`);
    if (found) return /** @type {SVGGElement} */ (found);
    return this.svg.appendChild(s("g", { class: `layer-${name}` }));
  }

  /** The middle of a cell in the SVG, which may be flipped as a whole.
   * @param {number} cell */
  place(cell) {
    const { x, y } = this.cells[cell] ?? { x: 0, y: 0 };
    return { x, y };
  }

  /** The middle of a cell on the screen. @param {number} cell */
  seen(cell) {
    const { x, y } = this.place(cell);
    const [left, top] = [this.picture.width / 2, this.picture.height / 2];
    let [dx, dy] = [x - left, y - top];
    for (let quarter = 0; quarter < this.quarters; quarter += 1) [dx, dy] = [-dy, dx];
    return { x: left + dx, y: top + dy };
  }

  /** Turns the board. @param {Look} look */
  lay(look) {
    const isFlat = look.flat && this.canBeFlat;
    const quarters = (isFlat ? 3 : 0) + (look.flip ? 2 : 0);
    if (quarters % 4 === this.quarters) return;
    this.quarters = quarters % 4;
    this.svg.classList.toggle("flipped", look.flip);
    this.svg.classList.toggle("flat", isFlat);
    const { width, height } = this.picture;
    const swap = isFlat ? (width - height) / 2 : 0;
    this.lens.fit({ x: swap, y: -swap, width: width - 2 * swap, height: height + 2 * swap });
  }

  /** @param {Position} position @param {Frame} frame @param {Look} look
   * @param {Choice|null} choice @param {Info[]} notes */
  show(position, frame, look, choice, notes) {
    if (this.plain) this.plain.textContent = frame.words ?? "";
    this.lay(look);
    this.svg.classList.toggle("without-coordinates", !look.coords);
    /** @type {Map<string, {key: string, layer: string, make: () => Element[]}>} */
    const wanted = new Map();
    /** @param {string} layer @param {number|string} at @param {string} key
     *  @param {() => Element[]} make */
    const want = (layer, at, key, make) => {
      wanted.set(`${layer} ${at}`, { key, layer, make });
    };
    /** @param {string} layer @param {number} cell @param {string} symbol */
    const use = (layer, cell, symbol) => {
      want(layer, `${symbol.split("-")[0]} ${cell}`, symbol, () => [this.use(cell, symbol)]);
    };
    position.ground.forEach((kind, cell) => kind && use("ground", cell, `ground-${symbolOf(kind)}`));
    position.pieces.forEach((piece, cell) => piece
      && want("pieces", `piece ${cell}`, piece, () => [this.piece(cell, piece)]));
    if (look.marks) {
      this.wantLast(frame, want);
      this.wantChanges(frame, want);
    }
    for (const cell of frame.chain) use("chain", cell, "mark-chain");
    this.wantNotes(notes, frame, want);
    if (choice) this.wantChoice(choice, position, want);
    this.apply(wanted);
    const to = frame.last.at(-1);
    if (to !== undefined) this.lens.reveal(this.seen(to));
  }

  /** The last action: a ring and, for a move, its path. @param {Frame} frame
   * @param {Want} want */
  wantLast(frame, want) {
    const { last } = frame;
    if (!last.length) return;
    const [from = 0] = last;
    const to = last.at(-1) ?? 0;
    want("last", "to", `${to}`, () => [this.use(to, "mark-last")]);
    if (this.cells.length > LARGE) want("chain", "beacon", `${to}`, () => [this.beacon(to)]);
    if (last.length < 2) return;
    want("last", "from", `${from}`, () => [this.use(from, "mark-from")]);
    want("last", "way", last.join(" "), () => [this.path(last, "path")]);
  }

  /** What the last action did besides: pieces that were taken or left, old colours, new pads.
   * @param {Frame} frame @param {Want} want */
  wantChanges(frame, want) {
    for (const [cell, kind, colour] of frame.changes ?? []) {
      const { x, y } = this.place(cell);
      const at = `translate(${x} ${y})`;
      const piece = (/** @type {string} */ name, /** @type {string} */ transform) =>
        s("use", { href: `#piece-${symbolOf(colour ?? "")}`, class: name, transform });
      want("chain", `${kind} ${cell}`, `${colour}`, () => {
        if (kind === "grown") return [s("use", { href: "#mark-from", transform: at })];
        if (kind === "recoloured") return [piece("was", `${at} translate(11 -11) scale(0.45)`)];
        const more = kind === "exited" ? this.exit(cell, colour ?? "")
          : s("path", { class: "cross", d: "M-9-9 9 9M9-9-9 9", transform: at });
        return [piece("ghost", at), more];
      });
    }
  }

  /** An arrow from a cell off the board, over the edge of this colour if there is one.
   * @param {number} cell @param {string} colour */
  exit(cell, colour) {
    const { x, y } = this.place(cell);
    const edge = this.picture.edges.find((edge) => edge.colour === colour)?.cells ?? [cell];
    const middle = (/** @type {"x"|"y"} */ axis) =>
      edge.reduce((sum, at) => sum + this.place(at)[axis], 0) / edge.length;
    const [dx, dy] = [middle("x") - this.picture.width / 2, middle("y") - this.picture.height / 2];
    const turn = Math.round(Math.atan2(dy, dx) * 180 / Math.PI);
    return s("g", { class: "exit", transform: `translate(${x} ${y}) rotate(${turn})` },
      s("path", { class: "cross", d: "M0 0H32" }), s("path", { d: "M40 0L32 -5V5Z" }));
  }

  /** A wide ring around a cell. @param {number} cell */
  beacon(cell) {
    const { x, y } = this.place(cell);
    return s("circle", { class: "beacon", cx: x, cy: y, r: 44 });
  }

  /** The agents' marks: a colour by rank for numbers, and the lines that they expect.
   * @param {Info[]} notes @param {Frame} frame @param {Want} want */
  wantNotes(notes, frame, want) {
    for (const info of notes) {
      const numbers = info.marks.map(([, label]) => Number(label)).filter(Number.isFinite);
      const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
      for (const [cell, label] of info.marks) {
        const text = short(label, 4);
        const heat = label && numbers.length > 1 && most > least
          ? (Number(label) - least) / (most - least) : null;
        want("marks", `note ${cell}`, `${info.seat} ${label} ${heat}`, () => [
          heat === null ? this.use(cell, "mark-note") : this.heat(cell, heat, label),
          this.label(cell, text),
        ]);
      }
      info.pv.forEach((cells, at) => {
        const cell = cells.at(-1) ?? 0;
        const colour = frame.colours[(info.seat + at) % frame.colours.length];
        const stone = cells.length === 1 && colour
          && s("use", { href: `#piece-${symbolOf(colour)}`, class: "ghost", ...this.place(cell) });
        want("chain", `pv ${info.seat} ${at}`, `${cells.join(" ")} ${colour}`, () => [
          ...(stone ? [stone] : []),
          at === 0 && cells.length > 1 ? this.path(cells, "path pv") : this.order(cell, at + 1),
        ]);
      });
    }
  }

  /** The cells that a person can choose. Marks on pieces are rings, so that letters stay visible.
   * @param {Choice} choice @param {Position} position @param {Want} want */
  wantChoice(choice, position, want) {
    for (const cell of choice.legal) {
      const mark = position.pieces[cell] ? "mark-from" : "mark-legal";
      want("marks", `legal ${cell}`, mark, () => [this.use(cell, mark)]);
    }
    const { selected, route } = choice;
    if (selected !== null) {
      want("marks", "selected", `${selected}`, () => [this.use(selected, "mark-selected")]);
    }
    if (route.length > 1) {
      want("marks", "route", route.join(" "), () => [this.path(route, "route")]);
    }
  }

  /** Moves the piece that is at the end of a path along it. @param {number[]} cells */
  travel(cells) {
    const [piece] = this.put.get(`pieces piece ${cells.at(-1)}`)?.elements ?? [];
    if (piece) animate(piece, cells.map((cell) => this.place(cell)));
  }

  /** Removes old elements and adds new ones.
   * @param {Map<string, {key: string, layer: string, make: () => Element[]}>} wanted */
  apply(wanted) {
    for (const [name, { key, elements }] of this.put) {
      if (wanted.get(name)?.key === key) continue;
      for (const element of elements) element.remove();
      this.put.delete(name);
    }
    for (const [name, { key, layer, make }] of wanted) {
      if (this.put.has(name)) continue;
      const elements = make();
      this.layers.get(layer)?.append(...elements);
      this.put.set(name, { key, elements });
    }
  }

  /** @param {number} cell @param {string} symbol */
  use(cell, symbol) {
    return s("use", { href: `#${symbol}`, class: symbol, ...this.place(cell) });
  }

  /** A piece: its colour and, after a blank, the text on it. @param {number} cell @param {string} piece */
  piece(cell, piece) {
    const { x, y } = this.place(cell);
    // The outer element is the one that moves.
    return s("g", null, token(piece, `translate(${x} ${y})`));
  }

  /** A disc whose strength is between 0 and 1. @param {number} cell @param {number} share
   * @param {string} label */
  heat(cell, share, label) {
    const { x, y } = this.place(cell);
    // A click on it is one on the cell.
    return s("circle", { class: "heat", "data-of": cell, cx: x, cy: y, r: 13, "fill-opacity": 0.15 + 0.7 * share },
      s("title", null, label));
  }

  /** The number of an expected action. @param {number} cell @param {number} number */
  order(cell, number) {
    const { x, y } = this.place(cell);
    return s("g", { class: "pv-order", transform: `translate(${x} ${y})` },
      s("g", { class: "upright" }, s("circle", { r: 7, cx: 9, cy: -9 }),
        s("text", { x: 9, y: -9 }, String(number))));
  }

  /** A short text on a cell. @param {number} cell @param {string} text */
  label(cell, text) {
    const { x, y } = this.place(cell);
    return s("g", { transform: `translate(${x} ${y})` },
      s("text", { class: "upright note", y: 4 }, text));
  }

  /** The path of a piece. @param {number[]} cells @param {string} name */
  path(cells, name) {
    const points = cells.map((cell) => this.place(cell)).map(({ x, y }) => `${x},${y}`).join(" ");
    return s("polyline", { class: name, points });
  }
}

/** Parses the server's SVG. It is the only markup that pages insert; scripts and styles are removed.
 * @param {string} text @returns {SVGSVGElement} */
function parsed(text) {
  const read = new DOMParser().parseFromString(text, "image/svg+xml");
  const root = read.documentElement;
  if (root.localName !== "svg") throw new Error("the board can't be shown");
  for (const element of read.querySelectorAll("script, style, foreignObject")) element.remove();
  /** @type {unknown} */
  const imported = document.importNode(root, true);
  const svg = /** @type {SVGSVGElement} */ (imported);
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  return svg;
}

/** Describes a cell.
 * @param {string} name @param {string|null} piece @param {string|null} ground
 * @param {string[]} more */
export function describeCell(name, piece, ground, more) {
  const parts = [name];
  if (piece) parts.push(piece === "peg" ? "peg" : `${piece} piece`);
  if (ground === "pad") parts.push("pad");
  if (ground?.startsWith("target-")) parts.push(`goal of ${ground.slice("target-".length)}`);
  if (!piece && ground !== "pad") parts.push("empty");
  return [...parts, ...more].join(", ");
}

/** The name of a colour in ids of symbols. @param {string} colour */
function symbolOf(colour) {
  return colour.replace("#", "");
}

/** A piece as in a frame's `set`: its colour and, after a blank, the text on it. Without a colour it is a card.
 * @param {string} piece @param {string} transform */
export function token(piece, transform) {
  const [colour = "", text] = piece.split(" ");
  const id = symbolOf(colour);
  if (!text) return s("use", { href: `#piece-${id}`, class: `piece-${id}`, transform });
  const named = /^[a-z]+$/.test(colour);
  const ink = colour ? (named ? { class: `upright piece-text fill-letter-${colour}` }
    : { class: "upright piece-text", fill: inkOn(colour) }) : { class: "upright piece-text card" };
  return s("g", { class: `piece-${id}`, transform }, colour && s("use", { href: `#disc-${id}` }),
    s("text", { ...ink, "font-size": textSize(text, colour ? 20 : 33) }, text));
}

/** The size of a text with so much room, also if its letters are wide. @param {string} text @param {number} room */
function textSize(text, room) {
  const widths = [...text].map((glyph) => /[MW@%mw]/.test(glyph) ? 1.05 : /[A-Z]/.test(glyph) ? 0.8 : 0.68);
  return Math.min(17, room / widths.reduce((sum, width) => sum + width, 0.01)).toFixed(1);
}

/** Black or white, whichever is read better on `#rrggbb`. @param {string} colour */
function inkOn(colour) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  return 0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2 > 0.18 ? "#000" : "#fff";
}

/** A small picture of a colour: a piece with its letter.
 * @param {string} colour */
export function badge(colour) {
  const mark = s("text", { x: 12, y: 12, class: "badge-letter" }, letter(colour));
  const name = `badge badge-${safe(colour)}`;
  return painted(colour, s("svg", { class: name, viewBox: "0 0 24 24", "aria-hidden": "true" },
    s("circle", { cx: 12, cy: 12, r: 10.5 }), mark));
}

/** Gives an element a colour that has no name, and so no class. @template {SVGElement} T
 * @param {string} colour @param {T} element @returns {T} */
export function painted(colour, element) {
  if (/^#[0-9a-f]{6}$/i.test(colour)) element.style.setProperty("--badge", colour);
  return element;
}

/** A colour's name for a class; colours come from transcripts, so anything else is replaced.
 * @param {string} colour */
export function safe(colour) {
  return /^[a-z]+$/.test(colour) ? colour : "other";
}
