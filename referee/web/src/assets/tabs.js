// @ts-check
// The panes beside the board, one at a time.

import { h } from "./common.js";
import { save } from "./settings.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./settings.js").Settings} Settings */
/** @typedef {{name: Settings["pane"], title: string, element: HTMLElement,
 *   isEmpty?: () => boolean}} Pane */

/** @param {Viewer} viewer @param {Pane[]} panes */
export function tabs(viewer, panes) {
  const { settings } = viewer;
  const buttons = panes.map(({ name, title }) => h("button", {
    type: "button", class: "tab", "data-pane": name,
    onclick: () => {
      settings.pane = name;
      save(settings);
      viewer.changed();
    },
  }, title));
  const element = h("div", { class: "panes" },
    h("div", { class: "tabs", role: "group", "aria-label": "Panes" }, buttons),
    panes.map((pane) => pane.element));
  const show = () => {
    const wanted = panes.find(({ name, isEmpty }) => name === settings.pane && !isEmpty?.());
    const shown = wanted ?? panes[0];
    const frame = viewer.frame();
    panes.forEach((pane, at) => {
      pane.element.hidden = pane !== shown;
      const button = buttons[at];
      if (!button) return;
      button.disabled = pane.isEmpty?.() ?? false;
      button.setAttribute("aria-pressed", String(pane === shown));
      const hasOutput = frame.fault !== null || frame.stderr.length + frame.infos.length > 0;
      button.classList.toggle("has-output", pane.name === "turn" && hasOutput);
    });
  };
  return { element, show };
}
