// @ts-check
// The board: the server's SVG of the empty board, with pieces and marks.

import { h, letter, s, short } from "./common.js";

/** @typedef {import("./types.js").MatchData} MatchData */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./store.js").Position} Position */
/** @typedef {{flip: boolean, coords: boolean, marks: boolean}} Look */
/** @typedef {(layer: string, at: number|string, key: string,
 *   make: () => Element[]) => void} Want */
/** @typedef {{selected: number|null, legal: Set<number>, route: number[]}} Choice */

/** Layers that change with each ply. */
const DRAWN = ["ground", "last", "pieces", "chain", "marks"];
/** On boards with more cells, the last action gets a wide ring. */
const LARGE = 250;
/** The distance of cells with readable letters, and the widest narrow window, in pixels. */
const [READABLE, NARROW] = [24, 860];

export class Board {
  /** @param {MatchData} match */
  constructor(match) {
    this.picture = match.board;
    this.cells = match.board.cells;
    this.svg = parsed(match.board.svg);
    /** @type {Map<string, SVGGElement>} */
    this.layers = new Map();
    for (const name of DRAWN) this.layers.set(name, this.layer(name));
    /** The elements that are shown, so that only changes are applied.
     * @type {Map<string, {key: string, elements: Element[]}>} */
    this.put = new Map();
    this.flipped = false;
    this.frame = h("div", { class: "board-scroll" }, this.svg);
    this.zoom = 1;
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
    const { width, height } = this.picture;
    return this.flipped ? { x: width - x, y: height - y } : { x, y };
  }

  /** @param {Position} position @param {Frame} frame @param {Look} look
   * @param {Choice|null} choice */
  show(position, frame, look, choice) {
    this.flipped = look.flip;
    this.svg.classList.toggle("flipped", look.flip);
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
    position.ground.forEach((kind, cell) => kind && use("ground", cell, `ground-${kind}`));
    position.pieces.forEach((colour, cell) => colour && use("pieces", cell, `piece-${colour}`));
    this.wantLast(frame, want);
    for (const cell of frame.chain) use("chain", cell, "mark-chain");
    if (look.marks) this.wantNotes(frame, want);
    if (choice) this.wantChoice(choice, position, want);
    this.apply(wanted);
    const to = frame.last.at(-1);
    if (this.zoom > 1 && to !== undefined) this.reveal(to);
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

  /** A wide ring around a cell. @param {number} cell */
  beacon(cell) {
    const { x, y } = this.place(cell);
    return s("circle", { class: "beacon", cx: x, cy: y, r: 44 });
  }

  /** The agents' marks. @param {Frame} frame @param {Want} want */
  wantNotes(frame, want) {
    for (const info of frame.infos) {
      for (const [cell, label] of info.marks) {
        const text = short(label, 4);
        want("marks", `note ${cell}`, `${info.seat} ${label}`, () => [
          this.use(cell, "mark-note"),
          this.label(cell, text),
        ]);
      }
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

  /** Enlarges large boards until their letters are readable, except in narrow windows. */
  enlarge() {
    const [first] = this.cells;
    const next = first && this.cells[first.near[0] ?? -1];
    if (!first || !next || this.cells.length <= LARGE || innerWidth <= NARROW) return;
    const apart = Math.hypot(first.x - next.x, first.y - next.y) / this.picture.width;
    this.magnify(READABLE / (apart * Math.max(1, this.frame.clientWidth)));
  }

  /** Scrolls an enlarged board to a cell that is not visible. @param {number} cell */
  reveal(cell) {
    const { frame, svg } = this;
    const [box, all] = [frame.getBoundingClientRect(), svg.getBoundingClientRect()];
    const { x, y } = this.seen(cell);
    const left = all.left - box.left + (x / this.picture.width) * all.width;
    const top = all.top - box.top + (y / this.picture.height) * all.height;
    const isSeen = left > 0 && top > 0 && left < box.width && top < box.height;
    if (!isSeen) frame.scrollBy(left - box.width / 2, top - box.height / 2);
  }

  /** Sets the size of the board, relative to its space. @param {number} zoom */
  magnify(zoom) {
    const middle = (/** @type {number} */ at, /** @type {number} */ room) => at + room / 2;
    const { frame } = this;
    const share = [
      middle(frame.scrollLeft, frame.clientWidth) / Math.max(1, frame.scrollWidth),
      middle(frame.scrollTop, frame.clientHeight) / Math.max(1, frame.scrollHeight),
    ];
    this.zoom = Math.max(1, Math.min(4, zoom));
    frame.style.setProperty("--zoom", String(this.zoom));
    frame.classList.toggle("zoomed", this.zoom > 1);
    frame.scrollTo(
      /** @type {number} */ (share[0]) * frame.scrollWidth - frame.clientWidth / 2,
      /** @type {number} */ (share[1]) * frame.scrollHeight - frame.clientHeight / 2,
    );
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

/** A small picture of a colour: a piece with its letter.
 * @param {string} colour */
export function badge(colour) {
  const mark = s("text", { x: 12, y: 12, class: "badge-letter" }, letter(colour));
  const name = `badge badge-${safe(colour)}`;
  return s("svg", { class: name, viewBox: "0 0 24 24", "aria-hidden": "true" },
    s("circle", { cx: 12, cy: 12, r: 10.5 }), mark);
}

/** A colour's name for a class; colours come from transcripts, so anything else is replaced.
 * @param {string} colour */
export function safe(colour) {
  return /^[a-z]+$/.test(colour) ? colour : "other";
}
