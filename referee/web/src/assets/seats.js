// @ts-check
// The players: names, colours, goals, whose turn it is, and clocks.

import { clockText, duration, fill, h, hidden, letter, s, short } from "./common.js";
import { badge, safe, token } from "./board.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").Seat} Seat */
/** @typedef {import("./types.js").Frame} Frame */

/** Times above this are shown as unlimited: thirty days. */
const UNLIMITED_MS = 30 * 24 * 3600 * 1000;

/** The name of a side of the board. @param {number} dx to the right @param {number} dy downwards */
export function side(dx, dy) {
  const words = [["upper left", "top", "upper right"], ["left", "", "right"],
    ["lower left", "bottom", "lower right"]];
  return words[Math.sign(dy) + 1]?.[Math.sign(dx) + 1] ?? "";
}

/** The goal of a colour, from the board's data.
 * @param {Viewer} viewer @param {string} colour */
export function goal(viewer, colour) {
  const own = viewer.store.match.board.edges.filter((edge) => edge.colour === colour);
  const sides = own.map((edge) => boardSide(viewer, edge.cells));
  const symbol = letter(colour);
  if (sides.length > 1) return `joins ${sides.join(" and ")}`;
  if (sides.length === 1) return `to the ${sides[0]} edge`;
  const { ground } = viewer.store.position(0);
  const cells = ground.flatMap((kind, cell) => (kind === `target-${colour}` ? [cell] : []));
  if (!cells.length) return "";
  const small = colour === "peg" ? "x" : symbol.toLowerCase();
  return `to the ${cells.length} cells ${small}, ${boardSide(viewer, cells)}`;
}

/** The side of the board on which cells are. @param {Viewer} viewer @param {number[]} cells */
function boardSide(viewer, cells) {
  const { board } = viewer;
  const all = board.cells.map((_, cell) => cell);
  const mean = (/** @type {number[]} */ of, /** @type {"x"|"y"} */ axis) =>
    of.reduce((sum, cell) => sum + board.seen(cell)[axis], 0) / of.length;
  const away = (/** @type {"x"|"y"} */ axis) => mean(cells, axis) - mean(all, axis);
  const [dx, dy] = [away("x"), away("y")];
  const far = Math.hypot(dx, dy);
  const part = (/** @type {number} */ n) => (Math.abs(n) < 0.3 * far ? 0 : n);
  return side(part(dx), part(dy)) || "in the middle";
}

/** @param {Viewer} viewer */
export function seats(viewer) {
  const { match } = viewer.store;
  const cards = match.seats.map((seat) => card(seat));
  cards.forEach(({ element }) => element.style.setProperty("--seats", String(cards.length)));
  const general = h("p", { class: "soft figures" });
  const rows = h("div", { class: "soft figures board-rows" });
  const element = h("section", { class: "seats", "aria-label": "Players" },
    cards.map(({ element }) => element), general, rows);
  const show = () => {
    const frame = viewer.frame();
    match.seats.forEach((seat, at) => {
      const parts = cards[at];
      if (parts) updateCard(viewer, seat, frame, parts);
    });
    const free = frame.figures.filter((figure) => figure.colour === null);
    fill(general, free.map((figure) => `${figure.name}: ${figure.value}`).join(" · "));
    general.hidden = !free.length;
    fill(rows, (frame.rows ?? []).map(itemRow));
    rows.hidden = !frame.rows?.length;
  };
  const tick = () => {
    match.seats.forEach((seat, at) => {
      const parts = cards[at];
      if (parts) clock(viewer, seat.seat, viewer.frame(), parts);
    });
  };
  return { element, show, tick };
}

/** A row of items beside the board. @param {[string, string|null, string[]]} row */
function itemRow([name, owner, items]) {
  const shown = items.map((item) => s("svg", { class: "item", viewBox: "-18 -18 36 36", "aria-hidden": "true" },
    token(item.startsWith(" ") ? `${owner ?? ""}${item}` : item, "")));
  const read = items.map((item) => item.trim()).join(", ");
  return h("p", { "aria-label": `${name}: ${read}` }, owner && badge(owner), `${name}: `, shown);
}

/** @typedef {ReturnType<typeof card>} Card */

/** @param {Seat} seat */
function card(seat) {
  const symbol = h("span", { class: "seat-symbol" });
  const goalText = h("span", { class: "soft seat-goal" });
  const turn = h("span", { class: "seat-state" });
  const time = h("span", { class: "seat-time" });
  const bar = h("span", { class: "bar" }, h("span", { class: "bar-left" }));
  const figure = h("span", { class: "seat-figure" });
  const agent = seat.human ? "human" : seat.agent ?? "";
  const kind = seat.name.startsWith(agent) ? null : agent;
  // Of a long name the end stays in sight: it distinguishes agents of one name.
  const [, first = "", tail = ""] = /^(.*?)( #\d+| \([^()]*\))?$/s.exec(seat.name) ?? [];
  const name = h("span", { class: "seat-name" },
    h("bdi", { class: "name", title: short(seat.name, 400) },
      h("span", { class: "name-start" }, short(first, 60)), tail && h("span", null, short(tail, 24))),
    kind && h("span", { class: "soft" }, short(kind, 24)));
  const element = h("div", { class: "seat", title: short(seat.name, 400) }, symbol,
    h("div", { class: "seat-words" },
      h("div", { class: "seat-line" }, name, turn, time), bar,
      h("div", { class: "seat-line seat-more" }, goalText, figure)));
  return { element, symbol, goalText, turn, time, bar, figure, colour: "", goalKey: "" };
}

/** @param {Viewer} viewer @param {Seat} seat @param {Frame} frame @param {Card} parts */
function updateCard(viewer, seat, frame, parts) {
  const colour = viewer.colourOf(frame, seat.seat);
  if (parts.colour !== colour) {
    parts.colour = colour;
    fill(parts.symbol, badge(colour));
    parts.element.className = `seat seat-${safe(colour)}`;
  }
  const goalKey = `${colour} ${viewer.board.quarters}`;
  if (parts.goalKey !== goalKey) {
    parts.goalKey = goalKey;
    const words = goal(viewer, colour);
    fill(parts.goalText, words);
    parts.goalText.title = colour && colour !== "peg" ? `${colour}: ${words}` : words;
  }
  const end = viewer.player.atEnd ? viewer.store.end : null;
  const moves = !end && frame.to_move === seat.seat;
  const place = end?.places?.[seat.seat];
  const fault = viewer.store.out(frame.index).get(seat.seat);
  parts.element.classList.toggle("to-move", moves);
  parts.element.classList.toggle("winner", place === 1);
  parts.element.classList.toggle("loser", fault !== undefined || (place ?? 1) > 1);
  const out = fault === undefined ? "" : `out: ${fault}`;
  fill(parts.turn, place ? result(end?.places ?? [], place) : out || (moves ? "▶ to move" : ""),
    place && out ? `, ${out}` : "");
  const own = frame.figures.filter((figure) => figure.colour === colour && colour);
  const figures = own.map(({ name, value }) => `${name}: ${value}`).join(" · ");
  // With many cards there is no room for names.
  const isShort = viewer.store.match.seats.length > 2;
  fill(parts.figure, isShort ? own.map(({ value }) => value).join(" · ") : figures,
    isShort && hidden(` ${own.map(({ name }) => name).join(" · ")}`));
  parts.figure.title = figures;
  clock(viewer, seat.seat, frame, parts);
}

/** A place in words. @param {number[]} places @param {number} place */
function result(places, place) {
  const isShared = places.filter((other) => other === place).length > 1;
  if (places.length === 1) return place === 1 ? "✓" : "";
  if (place === 1) return isShared ? "draws" : "★ wins";
  return places.length === 2 ? "loses" : `${place}${["", "st", "nd", "rd"][place] ?? "th"}`;
}

/** The time left, or null if it is unlimited.
 * @param {number|null} left */
function limited(left) {
  return left !== null && left < UNLIMITED_MS ? left : null;
}

/** Shows the time left; in a live match it counts down.
 * @param {Viewer} viewer @param {number} seat @param {Frame} frame @param {Card} parts */
function clock(viewer, seat, frame, parts) {
  const { store } = viewer;
  const { bank_ms: bank, move_ms: move } = store.match;
  let left = limited(frame.left_ms[seat] ?? null);
  let thinking = null;
  if (viewer.player.atEnd && store.running && store.asked?.seat === seat) {
    thinking = store.asked.for_ms + performance.now() - store.askedAt;
    const had = limited(store.asked.left_ms) ?? left ?? move;
    left = had === null ? null : had - thinking;
  }
  const full = Math.max(bank ?? move ?? 0, 1);
  parts.bar.hidden = left === null;
  if (left === null) {
    fill(parts.time, thinking === null ? "" : `${duration(Math.floor(thinking / 100) * 100)}`);
    return;
  }
  const text = clockText(left);
  if (parts.time.textContent !== text) fill(parts.time, text, hidden(" left"));
  const share = Math.max(0, Math.min(1, left / full));
  const inner = /** @type {HTMLElement} */ (parts.bar.firstElementChild);
  inner.style.width = `${100 * share}%`;
  parts.bar.classList.toggle("low", share < 0.15);
}
