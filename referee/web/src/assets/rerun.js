// @ts-check
// Runs a recorded turn again with its agent, as `referee debug` does.

import { agentName, byId, duration, errorMessage, fill, h, post, short } from "./common.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").Rerun} Rerun */

const RUN = "Run this turn again";

/** The most characters of a shown text. */
const SHOWN_MAX = 2000;

export class RerunPanel {
  /** @param {Viewer} viewer @param {string} file */
  constructor(viewer, file) {
    this.viewer = viewer;
    this.file = file;
    /** The ply whose answer is shown. @type {unknown} */
    this.answered = null;
    /** Stops the agent that is waited for. @type {AbortController|null} */
    this.running = null;
    this.button = h("button", { type: "button", onclick: () => this.run() }, RUN);
    this.answer = h("div", { role: "status" });
    this.element = h("section", { class: "rerun", "aria-label": "Run again" }, this.button, this.answer);
    byId("rerun").append(this.element);
    viewer.parts.push(this);
  }

  /** The turn that is shown: a fault that ended the match comes after the last ply. */
  frame() {
    const { store, player } = this.viewer;
    return player.atEnd && store.end?.fault ? store.end : this.viewer.frame();
  }

  show() {
    const { store } = this.viewer;
    const frame = this.frame();
    const seat = store.match.seats[frame.seat ?? -1];
    this.element.hidden = store.base !== null || !seat || seat.human;
    if (this.answered !== frame) fill(this.answer);
  }

  async run() {
    if (this.running) {
      this.running.abort();
      return;
    }
    const frame = this.frame();
    this.answered = frame;
    this.running = new AbortController();
    fill(this.button, "Stop");
    fill(this.answer, h("p", { class: "soft" }, "Waiting for the agent."));
    /** @type {(Node|null)[]} */
    let answer;
    try {
      const question = { file: this.file, ply: frame.index };
      answer = parts(await post("/api/rerun", question, this.running.signal));
    } catch (error) {
      answer = [errorMessage(error)];
    }
    this.running = null;
    fill(this.button, RUN);
    if (this.answered === this.frame()) fill(this.answer, answer);
  }
}

/** @param {Rerun} rerun */
function parts({ report, note }) {
  const { got, recorded, same, strayed, wall_ms: wall, cpu_ms: cpu, wrong, fix, stderr } = report;
  const earlier = strayed.length > 0
    && h("p", null, `Its answers differ from the recording from turn ${strayed[0]} on.`);
  const text = (/** @type {string} */ title, /** @type {string} */ words) => h("figure", { class: "output" },
    h("figcaption", null, title),
    h("pre", { tabindex: 0, role: "group", "aria-label": title }, short(words, SHOWN_MAX)));
  return [
    h("p", null, agentName(report.agent), ` answered in ${duration(wall)} (${duration(cpu)} of CPU), `,
      h("strong", null, same ? "as in the match" : "otherwise than in the match"), "."),
    wrong === null ? null : h("div", { class: "fault-box" }, h("strong", null, `Wrong: ${short(wrong, SHOWN_MAX)}`),
      fix !== null && h("p", null, `Fix: ${short(fix, SHOWN_MAX)}`)),
    earlier || null,
    note === null ? null : h("p", { class: "soft" }, note),
    text("answer now", got.length ? got.join("\n") : "nothing"),
    same ? null : text("answer in the match", recorded.length ? recorded.join("\n") : "nothing"),
    stderr ? text("stderr", stderr) : null,
  ];
}
