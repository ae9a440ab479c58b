// @ts-check
// Buttons, slider and switches under the board.

import { fill, h, s } from "./common.js";
import { SPEEDS } from "./settings.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */

/** SVG paths in a square of 24. */
const ICONS = {
  start: "M6 5v14M19 5 9 12l10 7z",
  back: "M15 5l-8 7 8 7",
  play: "M8 4.5v15L20 12z",
  pause: "M8 5v14M16 5v14",
  on: "M9 5l8 7-8 7",
  end: "M18 5v14M5 5l10 7-10 7z",
  larger: "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l5 5M10 7v6M7 10h6",
  smaller: "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l5 5M7 10h6",
};

/** @param {keyof typeof ICONS} name */
function icon(name) {
  return s("svg", { class: `icon icon-${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" },
    s("path", { d: ICONS[name] }));
}

/** @param {string|Element} symbol @param {string} label @param {() => void} act
 * @param {string} [keys] */
function button(symbol, label, act, keys) {
  const title = keys ? `${label} (${keys})` : label;
  return h("button", { type: "button", "aria-label": label, title, onclick: act },
    h("span", { "aria-hidden": "true" }, symbol));
}

/** @param {Viewer} viewer */
export function controls(viewer) {
  const { player } = viewer;
  const play = button(icon("play"), "Play", () => player.toggle(), "space");
  const slider = h("input", {
    type: "range", min: 0, step: 1, value: 0, "aria-label": "Ply", class: "slider",
    oninput: () => player.jump(Number(slider.value)),
  });
  const steps = h("div", { class: "steps", role: "group", "aria-label": "Steps" },
    button(icon("start"), "First ply", () => player.jump(0), "Home"),
    button("−10", "Back 10 plies", () => player.step(-10), "Shift+←"),
    button(icon("back"), "Previous ply", () => player.step(-1), "←"),
    play,
    button(icon("on"), "Next ply", () => player.step(1), "→"),
    button("+10", "Forward 10 plies", () => player.step(10), "Shift+→"),
    button(icon("end"), "Last ply", () => player.jump(viewer.store.last), "End"));
  const live = h("button", {
    type: "button", class: "live-end", hidden: true, onclick: () => player.jump(viewer.store.last),
  }, "Go to the live position");
  const where = h("output", { class: "where" });
  const speed = h("select", {
    class: "speed", "aria-label": "Speed", title: "Plies per second (+ faster, − slower)",
    onchange: () => player.setSpeed(Number(speed.value)),
  }, SPEEDS.map((value) => h("option", { value }, `${value === 0.5 ? "½" : value} /s`)));
  const element = h("div", { class: "controls" },
    h("div", { class: "controls-row" }, where, slider, live, speed), steps);
  return { element, show: () => showControls(viewer, { play, slider, live, where, speed }) };
}

/** @param {Viewer} viewer
 * @param {{play: HTMLButtonElement, slider: HTMLInputElement, live: HTMLButtonElement,
 *   where: HTMLOutputElement, speed: HTMLSelectElement}} parts */
function showControls(viewer, { play, slider, live, where, speed }) {
  const { player, store } = viewer;
  const label = player.playing ? "Pause" : "Play";
  play.classList.toggle("on", player.playing);
  play.setAttribute("aria-label", label);
  play.title = `${label} (space)`;
  if (play.dataset.shows !== label) {
    play.dataset.shows = label;
    fill(play, icon(player.playing ? "pause" : "play"));
  }
  slider.max = String(store.last);
  slider.value = String(player.ply);
  slider.style.setProperty("--done", `${(100 * player.ply) / Math.max(1, store.last)}%`);
  const frame = viewer.frame();
  slider.setAttribute("aria-valuetext", `Ply ${player.ply} of ${store.last}, ${frame.sentence}`);
  live.hidden = !store.running || player.atEnd;
  where.textContent = `${player.ply} / ${store.last}`;
  where.style.minWidth = `${2 * String(store.last).length + 3}ch`;
  speed.value = String(viewer.settings.speed);
}

/** The settings of the board. @param {Viewer} viewer */
export function switches(viewer) {
  const { settings } = viewer;
  /** @param {import("./settings.js").Switch} name @param {string} text @param {string} key */
  const one = (name, text, key) => {
    const act = () => viewer.turn(name);
    const attributes = { type: "button", title: `${text} (${key})`, onclick: act };
    return { name, element: h("button", attributes, text) };
  };
  const all = [
    one("flip", "Flip", "f"), one("coords", "Coordinates", "c"), one("marks", "Marks", "d"),
    ...(viewer.board.canBeFlat ? [one("flat", "Lay flat", "l")] : []),
  ];
  const element = h("div", { class: "inline", role: "group", "aria-label": "Board" },
    all.map((one) => one.element));
  const show = () => {
    for (const { name, element } of all) {
      element.setAttribute("aria-pressed", String(settings[name]));
    }
  };
  return { element, show };
}

/** The buttons in the corner of the board. @param {Viewer} viewer */
export function zooming({ board }) {
  return h("div", { class: "zooming", role: "group", "aria-label": "Size of the board" },
    button(icon("smaller"), "Smaller board", () => board.lens.enlarge(-1), "Shift+z"),
    button(icon("larger"), "Larger board", () => board.lens.enlarge(1), "z"));
}

/** The form that goes to a ply. @param {Viewer} viewer */
export function goTo(viewer) {
  const input = h("input", {
    type: "text", inputmode: "numeric", pattern: "[0-9]*", "aria-label": "Go to ply",
    placeholder: "ply", class: "go-to", id: "go-to",
  });
  const form = h("form", {
    class: "inline",
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const ply = Number.parseInt(input.value, 10);
      if (Number.isNaN(ply)) return;
      viewer.player.jump(ply);
      input.value = "";
      input.blur();
    },
  }, h("label", null, "Go to ply ", input), h("button", { type: "submit" }, "Go"));
  return form;
}
