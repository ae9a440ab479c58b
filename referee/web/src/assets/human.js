// @ts-check
// A person's own moves: by clicks on the board, by buttons, or typed.

import { fill, get, h, hidden, post, short, trouble } from "./common.js";
import { choose, legalFrom, placeless } from "./choosing.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").Action} Action */
/** @typedef {import("./types.js").Waiting} Waiting */

/** When to ask again while a person is to move and the server doesn't wait yet: it may be that it
 * never will, because the person plays on another page. */
const [AGAIN_LEAST_MS, AGAIN_MOST_MS] = [200, 5000];

/** @param {string} text @param {string|null} kind @param {() => void} act */
function button(text, kind, act) {
  return h("button", { type: "button", class: kind, onclick: act }, text);
}

/** A result as a person reads it: `You win: connected` where one person alone has played.
 * @param {import("./types.js").Seat[]} seats @param {string} text */
export function outcome(seats, text) {
  const [person, ...more] = seats.filter(({ human }) => human);
  const isOnly = person && !more.length
    && seats.filter(({ name }) => name === person.name).length === 1;
  const won = `${person?.name} wins`;
  return isOnly && text.startsWith(won) ? `You win${text.slice(won.length)}` : text;
}

export class Human {
  /** @param {Viewer} viewer @param {string} file */
  constructor(viewer, file) {
    this.viewer = viewer;
    this.file = file;
    /** @type {Action[]} */
    this.actions = [];
    this.turn = 0;
    /** Whose move it is: the name and the colour. */
    this.whose = "";
    this.busy = false;
    this.timer = 0;
    this.wait = AGAIN_LEAST_MS;
    /** @type {number|null} */
    this.selected = null;
    /** Several actions with the same ends, to choose among. @type {Action[]} */
    this.among = [];
    this.note = h("div", { class: "human-note", role: "status" });
    this.list = h("div", { class: "choices" });
    this.options = h("datalist", { id: "actions" });
    this.typed = h("input", {
      type: "text", list: "actions", id: "typed-move", class: "typed",
      placeholder: "move", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    });
    this.panel = this.build();
    viewer.onCell = (cell) => this.click(cell);
    /** How it ended, for those who have played. */
    this.outcome = h("p", { class: "outcome panel", role: "status", hidden: true });
    viewer.slot?.append(this.panel, this.outcome);
  }

  build() {
    const resign = button("Resign", "danger", () => this.ask.showModal());
    const form = h("form", {
      class: "inline",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const text = this.typed.value.trim();
        if (text) this.play(text);
      },
    }, h("label", null, hidden("Your move"), this.typed),
    h("button", { type: "submit", class: "main" }, "Move"), resign);
    this.ask = h("dialog", { "aria-labelledby": "resign-title" },
      h("h2", { id: "resign-title" }, "Resign this match?"),
      h("div", { class: "inline" },
        button("Resign", "danger", () => this.resign()),
        button("Play on", null, () => this.ask.close())));
    return h("section", { class: "human panel", "aria-label": "Your move", hidden: true },
      this.note, this.list, form, this.options, this.ask);
  }

  /** Whether a person is asked for a move now, by the transcript. */
  get isAsked() {
    const { asked, running, sheet } = this.viewer.store;
    return running && asked !== null && (sheet.seats[asked.seat]?.human ?? false);
  }

  /** Looks whether the server waits for a person's move, since something has happened. */
  look() {
    this.wait = AGAIN_LEAST_MS;
    return this.lookNow();
  }

  async lookNow() {
    clearTimeout(this.timer);
    this.conclude();
    if (!this.isAsked) {
      this.rest();
      return;
    }
    if (!this.panel.hidden && this.turn === this.viewer.store.asked?.turn) return;
    /** @type {Waiting} */
    let waiting;
    try {
      waiting = await get("/api/seat", { file: this.file });
    } catch {
      waiting = { waiting: false };
    }
    if (waiting.waiting) this.begin(waiting);
    else this.lookAgain();
  }

  lookAgain() {
    clearTimeout(this.timer);
    this.timer = Number(setTimeout(() => this.lookNow(), this.wait));
    this.wait = Math.min(AGAIN_MOST_MS, 2 * this.wait);
  }

  /** @param {Waiting} waiting */
  begin(waiting) {
    this.actions = waiting.actions ?? [];
    this.turn = waiting.turn ?? 0;
    this.whose = this.who(waiting);
    this.selected = null;
    this.among = [];
    this.busy = false;
    this.typed.value = "";
    fill(this.options, this.actions.map(({ text }) => h("option", { value: text })));
    this.panel.hidden = false;
    document.body.classList.add("asked");
    this.showState();
    this.show([]);
  }

  /** Whose move it is: on one screen several may play. @param {Waiting} waiting */
  who({ seat = 0, colour }) {
    const { sheet, frames, last } = this.viewer.store;
    const shown = colour ?? frames[last]?.colours[seat] ?? "";
    const name = short(sheet.seats[seat]?.name ?? "", 40);
    return shown ? `${shown} (${name})` : name;
  }

  rest() {
    if (this.panel.hidden) return;
    this.panel.hidden = true;
    document.body.classList.remove("asked");
    this.ask.close();
    this.actions = [];
    this.viewer.choice = null;
    this.viewer.changed();
  }

  /** Shows the result of a match that ended while the page was open. */
  conclude() {
    const { running, frames, sheet } = this.viewer.store;
    const isPlayed = sheet.state === "running" && sheet.seats.some(({ human }) => human);
    if (running || !isPlayed || !this.outcome.hidden) return;
    const end = frames.findLast(({ kind }) => kind === "over")?.text ?? "The match is over.";
    fill(this.outcome, h("strong", null, short(outcome(sheet.seats, end), 300)), " ",
      h("a", { href: "/#start" }, "Play again"));
    this.outcome.hidden = false;
  }

  /** @param {number} cell */
  click(cell) {
    if (this.panel.hidden || this.busy || !this.viewer.player.atEnd) return;
    const chosen = choose(this.actions, this.selected, cell, this.pieces());
    this.selected = chosen.selected;
    this.among = chosen.among;
    if (chosen.play) {
      this.play(chosen.play.text);
      return;
    }
    this.showState();
    this.show([]);
  }

  pieces() {
    return this.viewer.store.position(this.viewer.store.last).pieces;
  }

  /** What to do now, in words and buttons. */
  showState() {
    const others = placeless(this.actions, this.selected, this.pieces());
    const buttons = this.among.length ? this.among : others;
    fill(this.note, h("strong", null, this.words()));
    fill(this.list, buttons.map((action) => h("button", {
      type: "button",
      onclick: () => this.play(action.text),
      onfocus: () => this.show(action.cells),
      onpointerenter: () => this.show(action.cells),
    }, action.text)));
  }

  words() {
    if (!this.actions.length) return "There is nothing to play.";
    if (this.among.length > 1) return "There are several ways there: choose one.";
    if (this.selected !== null) return `${this.whose}: now click where it goes.`;
    return `Your move, ${this.whose}: click the board, or type it.`;
  }

  /** Lights up what can be chosen. @param {number[]} route */
  show(route) {
    const legal = legalFrom(this.actions, this.selected, this.pieces());
    this.viewer.choice = { selected: this.selected, legal, route };
    this.viewer.changed();
  }

  resign() {
    this.ask.close();
    this.play("resign");
  }

  /** @param {string} text */
  async play(text) {
    if (this.busy) return;
    this.busy = true;
    try {
      await post("/api/seat", { file: this.file, turn: this.turn, text });
      this.rest();
    } catch (error) {
      fill(this.note, trouble(error));
      this.selected = null;
      this.among = [];
      this.show([]);
      this.busy = false;
    }
  }
}
