// @ts-check
// The keyboard, and its help.

import { h } from "./common.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */

/** @type {[string, string][]} */
const KEYS = [
  ["← →", "previous, next ply"],
  ["Shift + ← →", "back, forward 10 plies"],
  ["Home, End", "first, last ply"],
  ["Space", "play or pause"],
  ["+ −", "faster, slower"],
  ["f", "flip the board"],
  ["l", "lay a high board flat"],
  ["z, Shift + z", "enlarge the board, show it whole"],
  ["c", "show coordinates"],
  ["d", "show the agents' marks"],
  ["[ ]", "previous, next fault or output"],
  ["/", "go to a ply"],
  ["b", "from a branch back to the game"],
  ["?", "this help"],
];
/** @type {[string, string][]} */
const BOARD_KEYS = [
  ["Tab", "to the board"],
  ["Arrows", "next cell"],
  ["Home, End", "first and last cell of the row"],
  ["Enter, Space", "choose the cell"],
  ["Escape", "leave the board"],
];

/** @param {string} title @param {[string, string][]} keys */
function section(title, keys) {
  return [h("h3", null, title), h("dl", { class: "keys" }, keys.map(([key, what]) =>
    h("div", null, h("dt", null, h("kbd", null, key)), h("dd", null, what))))];
}

export function helpDialog() {
  const close = () => dialog.close();
  const dialog = h("dialog", { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys"), section("Anywhere", KEYS),
    section("On the board", BOARD_KEYS),
    h("button", { type: "button", onclick: close }, "Close"));
  return dialog;
}

/** Whether keys go into a field. @param {EventTarget|null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "range";
  return target.matches("select, textarea") || target.isContentEditable;
}

/** Handles the keys of the page; the grid handles those of the board.
 * @param {Viewer} viewer @param {HTMLDialogElement} help @param {() => void} ask asks for a ply */
export function keys(viewer, help, ask) {
  const { player } = viewer;
  /** @type {Map<string, (event: KeyboardEvent) => void>} */
  const does = new Map([
    ["ArrowLeft", (event) => player.step(event.shiftKey ? -10 : -1)],
    ["ArrowRight", (event) => player.step(event.shiftKey ? 10 : 1)],
    ["Home", () => player.jump(0)],
    ["End", () => player.jump(viewer.store.last)],
    [" ", () => player.toggle()],
    ["+", () => player.changeSpeed(1)],
    ["=", () => player.changeSpeed(1)],
    ["-", () => player.changeSpeed(-1)],
    ["f", () => viewer.turn("flip")],
    ["l", () => viewer.turn("flat")],
    ["z", () => viewer.board.lens.enlarge(1)],
    ["Z", () => viewer.board.lens.enlarge(-99)],
    ["c", () => viewer.turn("coords")],
    ["d", () => viewer.turn("marks")],
    ["[", () => toProblem(viewer, -1)],
    ["]", () => toProblem(viewer, 1)],
    ["/", ask],
    ["b", () => viewer.leaveBranch()],
    ["?", () => help.showModal()],
  ]);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    if (isTyping(target) || document.querySelector("dialog[open]")) return;
    const isPressed = target instanceof Element && target.closest("button, summary, a") !== null;
    if (event.key === " " && isPressed) return;
    const act = does.get(event.key);
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}

/** Goes to the next ply with a fault or output in this direction, and shows it.
 * @param {Viewer} viewer @param {1|-1} direction */
export function toProblem(viewer, direction) {
  const to = viewer.store.problem(viewer.player.ply, direction);
  if (to === null) return;
  viewer.settings.pane = "turn";
  viewer.player.jump(to);
}
