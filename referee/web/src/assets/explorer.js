// @ts-check
// The opening explorer: what was played in the same position in other matches, and how they ended.

import { count, debounce, errorMessage, fill, get, h, s, short } from "./common.js";
import { matchLink, players } from "./rows.js";
import { dataTable } from "./workers.js";

/** @typedef {import("./whatif.js").WhatIf} WhatIf */
/** @typedef {import("./types.js").Explored} Explored */
/** @typedef {import("./types.js").Continuation} Continuation */
/** @typedef {import("./types.js").Frame} Frame */

/** How long a ply is shown before its position is searched. */
const REST_MS = 150;
/** The most actions in the table. */
const ACTIONS_MAX = 30;

export class Explorer {
  /** @param {WhatIf} whatIf @param {string} file */
  constructor(whatIf, file) {
    this.whatIf = whatIf;
    this.file = file;
    /** The ply that was searched last. @type {Frame|null} */
    this.searched = null;
    this.progress = h("p", { class: "soft", role: "status" });
    this.results = h("div", { class: "explored" });
    this.element = h("section", { "aria-label": "Other matches" },
      h("h2", null, "Other matches with this position"), this.progress, this.results);
    this.soon = debounce(REST_MS, () => this.search());
  }

  /** Searches the position that is shown, once the pane is. */
  show() {
    const { viewer } = this.whatIf;
    const frame = viewer.frame();
    if (this.searched === frame || viewer.settings.pane !== "whatif") return;
    this.searched = frame;
    this.soon();
  }

  async search() {
    const frame = this.searched;
    const { base, texts } = this.whatIf.path();
    const asked = { file: this.file, ply: base, actions: texts.join(";") };
    try {
      /** @type {Explored} */
      let found;
      do {
        found = await get("/api/explore", asked);
        if (frame !== this.searched) return;
        this.report(found);
      } while (found.read < found.all);
    } catch (error) {
      fill(this.progress);
      fill(this.results, errorMessage(error));
    }
  }

  /** @param {Explored} found */
  report({ contest, all, read, reached, next, matches }) {
    const where = contest === null ? "this folder" : "this contest";
    fill(this.progress, read < all
      ? [h("progress", { max: all, value: read, "aria-label": "Matches searched" }), ` ${read} of ${all} matches searched`]
      : `${reached} of the ${count(all, "match", "matches")} of ${where} reached it.`);
    const others = matches.filter(({ row }) => row.file !== this.file);
    fill(this.results, next.length > 0 && this.table(next), others.length > 0 && h("details", null,
      h("summary", null, count(others.length, "match", "matches")),
      h("ul", { class: "explored-list" }, others.map(({ row, ply }) =>
        h("li", null, h("a", { href: matchLink(row.file, `#ply=${ply}&pane=whatif`) }, players(row)),
          h("span", { class: "soft" }, ` ${short(row.result ?? "", 120)}`))))));
  }

  /** @param {Continuation[]} next */
  table(next) {
    const rows = next.slice(0, ACTIONS_MAX).map(({ action, matches, ...results }) => [
      h("button", {
        type: "button", class: "quiet",
        onclick: () => this.whatIf.attempt(() => this.whatIf.play(action)),
      }, short(action, 40)),
      matches.toLocaleString("en-GB"),
      bar(results),
    ]);
    return dataTable("Moves", ["move", "matches", "won / drawn / lost"], [false, true, false], rows);
  }
}

/** The results of the player to move, as a bar and numbers.
 * @param {{won: number, drawn: number, lost: number}} results */
function bar({ won, drawn, lost }) {
  const all = Math.max(1, won + drawn + lost);
  const part = (/** @type {string} */ name, /** @type {number} */ x, /** @type {number} */ value) =>
    s("rect", { class: name, x: `${100 * x / all}%`, width: `${100 * value / all}%`, height: "100%" });
  return h("span", { class: "result-bar" },
    s("svg", { "aria-hidden": "true" },
      part("won", 0, won), part("drawn", won, drawn), part("lost", won + drawn, lost)),
    h("span", null, [won, drawn, lost].map((value) => value.toLocaleString("en-GB")).join(" / ")));
}
