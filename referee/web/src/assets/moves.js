// @ts-check
// The list of plies, with faults and output.

import { duration, fill, h, hidden, short } from "./common.js";
import { badge } from "./board.js";
import { Store } from "./store.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").Frame} Frame */

/** Plies in one list: lists outside the window cost nothing. */
const GROUP = 50;

/** @param {Viewer} viewer */
export function moves(viewer) {
  const list = h("div", { class: "moves" });
  const element = h("section", { class: "pane moves-pane", "aria-label": "Moves" }, list);
  list.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("button") : null;
    if (target) viewer.player.jump(Number(target.dataset.ply));
  });
  // One stop of the Tab key; the arrows move inside.
  list.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (!by) return;
    event.preventDefault();
    viewer.player.step(by);
  });
  /** @type {{item: HTMLLIElement, frame: Frame}[]} */
  const shown = [];
  let version = -1;
  /** @type {HTMLLIElement|null} */
  let current = null;
  const show = () => {
    if (version !== viewer.version) update(viewer, list, shown);
    version = viewer.version;
    const next = shown[viewer.player.ply]?.item ?? null;
    if (next !== current) {
      const hasFocus = list.contains(document.activeElement);
      const [old, button] = [current?.firstElementChild, next?.firstElementChild];
      old?.removeAttribute("aria-current");
      old?.setAttribute("tabindex", "-1");
      button?.setAttribute("aria-current", "step");
      button?.setAttribute("tabindex", "0");
      if (hasFocus && button instanceof HTMLElement) button.focus({ preventScroll: true });
      current = next;
      if (next) keepInSight(list, next);
    }
  };
  return { element, show };
}

/** Adds what is new, and replaces what has changed.
 * @param {Viewer} viewer @param {HTMLElement} list
 * @param {{item: HTMLLIElement, frame: Frame}[]} shown */
function update(viewer, list, shown) {
  const { frames, base } = viewer.store;
  for (const { item } of shown.splice(frames.length)) {
    const list = item.parentElement;
    item.remove();
    if (!list?.childElementCount) list?.remove();
  }
  frames.forEach((frame, at) => {
    const old = shown[at];
    if (old?.frame === frame) return;
    const item = entry(viewer, frame);
    item.classList.toggle("tried", base !== null && at > base);
    if (old) old.item.replaceWith(item);
    else if (at % GROUP) list.lastElementChild?.append(item);
    else list.append(h("ol", { start: at }, item));
    shown[at] = { item, frame };
  });
}

/** Scrolls before the next paint, and again when the visible rows have their true heights.
 * @param {HTMLElement} list @param {HTMLElement} item */
function keepInSight(list, item) {
  requestAnimationFrame(() => {
    intoSight(list, item);
    requestAnimationFrame(() => intoSight(list, item));
  });
}

/** Scrolls the list alone, never the page. @param {HTMLElement} list @param {HTMLElement} item */
function intoSight(list, item) {
  const [box, row] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
  const room = box.height / 4;
  if (row.top < box.top + room) list.scrollTop -= box.top + room - row.top;
  else if (row.bottom > box.bottom - room) list.scrollTop += row.bottom - box.bottom + room;
}

/** @param {Viewer} viewer @param {Frame} frame */
function entry(viewer, frame) {
  const colour = frame.seat === null ? null : viewer.colourOf(frame, frame.seat);
  const words = frame.kind === "start" ? "Start" : short(frame.text, 60);
  const used = frame.used_ms === null ? null : duration(frame.used_ms);
  const attributes = {
    type: "button", tabindex: -1, "data-ply": frame.index, class: `move ${frame.kind}`,
  };
  const button = h("button", attributes,
    h("span", { class: "move-turn" }, frame.index || ""),
    colour ? badge(colour) : h("span", { class: "badge" }),
    h("span", { class: "move-text" }, words),
    flags(frame),
    used && h("span", { class: "move-time" }, used));
  return h("li", { class: Store.hasProblem(frame) ? "has-problem" : null }, button);
}

/** @param {Frame} frame */
function flags(frame) {
  const element = h("span", { class: "flags" });
  fill(element,
    frame.fault !== null
      && h("span", { class: Store.isFault(frame) ? "flag fault" : "flag" },
        short(frame.fault, 20), Store.isFault(frame) && hidden(" fault")),
    frame.stderr.length > 0 && h("span", { class: "flag output" }, "stderr"));
  return element;
}
