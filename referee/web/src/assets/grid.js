// @ts-check
// Makes the board's cells a grid for keys, screen readers and clicks.

import { describeCell } from "./board.js";
import { s } from "./common.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./board.js").Choice} Choice */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Info} Info */
/** @typedef {import("./store.js").Position} Position */

const STEPS = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);

export class Grid {
  /** @param {Board} board @param {string} title
   *  @param {(cell: number) => void} chosen a cell was clicked
   *  @param {() => void} left Escape was pressed */
  constructor(board, title, chosen, left) {
    this.board = board;
    this.chosen = chosen;
    this.left = left;
    /** @type {(SVGElement|null)[]} */
    this.cells = board.cells.map((_, cell) => board.svg.querySelector(`[data-cell="${cell}"]`));
    this.at = 0;
    /** The column in which up and down move. @type {number|null} */
    this.column = null;
    this.arrange(title);
    this.ring = s("g", { class: "focus-ring", "aria-hidden": "true" });
    (board.svg.querySelector("g.turn") ?? board.svg).append(this.ring);
    this.listen();
  }

  /** Puts the cells into rows, and hides everything else from screen readers. @param {string} title */
  arrange(title) {
    const { svg } = this.board;
    const grid = s("g", { role: "grid", "aria-label": title });
    /** @type {Map<number, {cell: number, element: SVGElement}[]>} */
    const rows = new Map();
    this.cells.forEach((element, cell) => {
      const row = this.board.cells[cell]?.row ?? 0;
      if (element) rows.set(row, [...(rows.get(row) ?? []), { cell, element }]);
    });
    const parent = this.cells[0]?.parentElement ?? null;
    for (const [, row] of [...rows].sort(([a], [b]) => a - b)) {
      row.sort((a, b) => this.x(a.cell) - this.x(b.cell));
      for (const { element } of row) {
        element.setAttribute("role", "gridcell");
        element.setAttribute("tabindex", "-1");
      }
      grid.append(s("g", { role: "row" }, row.map(({ element }) => element)));
    }
    if (parent && parent.localName === "g" && parent.parentElement) {
      parent.append(grid);
    } else {
      svg.querySelector("defs")?.after(grid);
    }
    hideRest(svg, grid);
    this.cells[0]?.setAttribute("tabindex", "0");
  }

  /** @param {number} cell */
  x(cell) {
    return this.board.cells[cell]?.x ?? 0;
  }

  listen() {
    const { svg } = this.board;
    const cellOf = (/** @type {Event} */ event) => {
      const target = event.target instanceof Element ? event.target.closest("[data-cell], [data-of]") : null;
      return target ? Number(target.getAttribute("data-cell") ?? target.getAttribute("data-of")) : null;
    };
    svg.addEventListener("click", (event) => {
      const cell = cellOf(event);
      if (cell === null) return;
      this.ring.classList.toggle("thin", event.detail > 0);
      this.move(cell, event.detail > 0);
      this.chosen(cell);
    });
    svg.addEventListener("focusin", (event) => {
      const cell = cellOf(event);
      if (cell !== null) this.mark(cell);
    });
    svg.addEventListener("focusout", () => this.ring.replaceChildren());
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const step = STEPS.get(event.key);
    this.ring.classList.remove("thin");
    if (step) {
      const to = this.beside(this.at, step[0] ?? 0, step[1] ?? 0);
      if (to !== null) this.move(to, true);
    } else if (event.key === "Home" || event.key === "End") {
      this.move(this.edge(event.key === "End"), true);
    } else if (event.key === "Enter" || event.key === " ") {
      this.chosen(this.at);
    } else if (event.key === "Escape") {
      this.left();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The first or last cell of the row. @param {boolean} end */
  edge(end) {
    const { y } = this.board.seen(this.at);
    const cells = this.board.cells.map((_, cell) => cell);
    const same = cells.filter((cell) => Math.abs(this.board.seen(cell).y - y) < 1);
    same.sort((a, b) => this.board.seen(a).x - this.board.seen(b).x);
    this.column = null;
    return (end ? same.at(-1) : same[0]) ?? this.at;
  }

  /** The next cell in a direction: the neighbour, or across a gap the nearest cell. Up and down stay in
   * a column, though rows may be offset by half a cell.
   * @param {number} from @param {number} dx @param {number} dy @returns {number|null} */
  beside(from, dx, dy) {
    const here = this.board.seen(from);
    if (dx) this.column = null;
    const column = dy ? (this.column ??= here.x) : here.x;
    /** @param {number} cell */
    const cost = (cell) => {
      const there = this.board.seen(cell);
      const [x, y] = [there.x - here.x, there.y - here.y];
      const along = x * dx + y * dy;
      if (along <= 0.1 || (dx && Math.abs(y) > along)) return Infinity;
      return dx ? along + 2 * Math.abs(y) : along + Math.abs(there.x - column) * 0.9;
    };
    const best = (/** @type {number[]} */ cells) => {
      const ranked = cells.map((cell) => ({ cell, bad: cost(cell) }));
      ranked.sort((a, b) => a.bad - b.bad);
      const first = ranked[0];
      return first && first.bad < Infinity ? first.cell : null;
    };
    const near = best(this.board.cells[from]?.near ?? []);
    return near ?? best(this.board.cells.map((_, cell) => cell));
  }

  /** Makes this cell the one in the tab order. @param {number} cell @param {boolean} focus */
  move(cell, focus) {
    this.cells[this.at]?.setAttribute("tabindex", "-1");
    this.at = cell;
    const element = this.cells[cell];
    element?.setAttribute("tabindex", "0");
    if (focus) element?.focus();
    if (focus) this.board.lens.reveal(this.board.seen(cell));
  }

  /** Draws the focus ring around a cell, above everything else.
   * @param {number} cell */
  mark(cell) {
    const copy = this.cells[cell]?.cloneNode(false);
    if (!(copy instanceof SVGElement)) return;
    for (const name of ["data-cell", "role", "tabindex", "aria-label"]) copy.removeAttribute(name);
    copy.setAttribute("class", "focus-cell");
    this.ring.replaceChildren(copy);
  }

  /** Labels every cell for screen readers.
   * @param {Position} position @param {Frame} frame @param {Info[]} notes
   * @param {Choice|null} choice */
  describe(position, frame, notes, choice) {
    /** @type {Map<number, string[]>} */
    const more = new Map();
    const add = (/** @type {number|undefined|null} */ cell, /** @type {string} */ words) => {
      if (cell !== undefined && cell !== null) more.set(cell, [...(more.get(cell) ?? []), words]);
    };
    add(frame.last.at(-1), "last move");
    if (frame.last.length > 1) add(frame.last[0], "the last move came from here");
    for (const cell of frame.chain) add(cell, "in the winning chain");
    for (const info of notes) {
      for (const [cell, label] of info.marks) add(cell, label ? `marked ${label}` : "marked");
    }
    add(choice?.selected, "selected");
    for (const cell of choice?.legal ?? []) add(cell, "can be chosen");
    this.cells.forEach((element, cell) => {
      const name = this.board.cells[cell]?.name ?? "";
      const [piece, ground] = [position.pieces[cell] ?? null, position.ground[cell] ?? null];
      const words = describeCell(name, piece, ground, more.get(cell) ?? []);
      if (element && element.getAttribute("aria-label") !== words) {
        element.setAttribute("aria-label", words);
      }
      element?.classList.toggle("choosable", choice?.legal.has(cell) ?? false);
    });
  }
}

/** Hides everything but the grid from screen readers.
 * @param {Element} top @param {Element} grid */
function hideRest(top, grid) {
  for (const child of top.children) {
    if (child === grid) continue;
    if (child.contains(grid)) hideRest(child, grid);
    else child.setAttribute("aria-hidden", "true");
  }
}
