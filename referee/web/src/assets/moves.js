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
  const steps = h("div", { class: "problems" },
    problemButton(viewer, -1), problemButton(viewer, 1));
  const element = h("section", { class: "panel moves-panel", "aria-label": "Moves" },
    h("div", { class: "panel-head" }, h("h2", null, "Moves"), steps), list);
  list.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("button") : null;
    if (target) viewer.player.jump(Number(target.dataset.ply));
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
      current?.firstElementChild?.removeAttribute("aria-current");
      next?.firstElementChild?.setAttribute("aria-current", "step");
      current = next;
      if (next) keepInSight(list, next);
    }
    for (const button of steps.children) {
      const direction = button.getAttribute("data-to") === "1" ? 1 : -1;
      const to = viewer.store.problem(viewer.player.ply, direction);
      button.toggleAttribute("disabled", to === null);
    }
  };
  return { element, show };
}

/** Adds what is new, and replaces what has changed.
 * @param {Viewer} viewer @param {HTMLElement} list
 * @param {{item: HTMLLIElement, frame: Frame}[]} shown */
function update(viewer, list, shown) {
  viewer.store.frames.forEach((frame, at) => {
    const old = shown[at];
    if (old?.frame === frame) return;
    const item = entry(viewer, frame);
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

/** @param {Viewer} viewer @param {1|-1} direction */
function problemButton(viewer, direction) {
  const words = direction < 0 ? "Previous fault or output" : "Next fault or output";
  const act = () => {
    const to = viewer.store.problem(viewer.player.ply, direction);
    if (to !== null) viewer.player.jump(to);
  };
  const symbol = direction < 0 ? "◀ !" : "! ▶";
  const attributes = { type: "button", title: words, "aria-label": words, onclick: act };
  return h("button", { ...attributes, "data-to": direction },
    h("span", { "aria-hidden": "true" }, symbol));
}

/** @param {Viewer} viewer @param {Frame} frame */
function entry(viewer, frame) {
  const colour = frame.seat === null ? null : viewer.colourOf(frame, frame.seat);
  const words = { start: "Start", over: `End: ${short(frame.text, 60)}` }[frame.kind];
  const used = frame.used_ms === null ? null : duration(frame.used_ms);
  const attributes = { type: "button", "data-ply": frame.index, class: `move ${frame.kind}` };
  const button = h("button", attributes,
    h("span", { class: "move-turn" }, frame.kind === "played" ? `${frame.turn}` : ""),
    colour ? badge(colour) : h("span", { class: "badge" }),
    h("span", { class: "move-text" }, words ?? short(frame.text, 60)),
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
