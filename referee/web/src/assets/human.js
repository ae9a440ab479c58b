// @ts-check
// The moves of a person: by clicks on the board, by buttons, or typed.

import { errorMessage, fill, get, h, hidden, post, short } from "./common.js";
import { choose, legalFrom, placeless } from "./choosing.js";
import { Loupe } from "./loupe.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").Action} Action */
/** @typedef {import("./types.js").Waiting} Waiting */

/** How long to wait before asking the server again whether it waits for a person's move. It may never,
 * if the person plays in a terminal. */
const [AGAIN_LEAST_MS, AGAIN_MOST_MS] = [200, 5000];

/** @param {string} text @param {string|null} kind @param {() => void} act */
function button(text, kind, act) {
  return h("button", { type: "button", class: kind, onclick: act }, text);
}

/** The result for the reader: `You win: you connected your two sides` if they alone played.
 * @param {import("./types.js").Seat[]} seats @param {string} text */
export function outcome(seats, text) {
  const [person, ...more] = seats.filter(({ human }) => human);
  const isOnly = person && !more.length
    && seats.filter(({ name }) => name === person.name).length === 1;
  const won = `${person?.name} wins`;
  if (!isOnly || !text.startsWith(won)) return text;
  const why = text.slice(won.length).replace(/^: it /, ": you ");
  return `You win${why.replace(/\bits\b/, "your")}`;
}

/** Whether a finger chooses cells, which is easily off by one. */
function isTouched() {
  return matchMedia("(pointer: coarse)").matches;
}

export class Human {
  /** @param {Viewer} viewer @param {string} file */
  constructor(viewer, file) {
    this.viewer = viewer;
    this.file = file;
    /** @type {Action[]} */
    this.actions = [];
    /** An action's text, where the rules can't list the legal ones. @type {string|null} */
    this.example = null;
    this.turn = 0;
    /** The colour of the seat to move. */
    this.colour = "";
    /** Its colour and name. */
    this.whose = "";
    this.busy = false;
    /** The turn whose action was sent, unless it was refused. @type {number|null} */
    this.sent = null;
    this.timer = 0;
    this.wait = AGAIN_LEAST_MS;
    /** @type {number|null} */
    this.selected = null;
    /** Several actions to choose from. @type {Action[]} */
    this.among = [];
    /** The action that a tap has chosen: another tap on the same cell plays it. @type {Action|null} */
    this.preview = null;
    this.note = h("div", { class: "human-note", role: "status" });
    this.list = h("div", { class: "choices" });
    this.options = h("datalist", { id: "actions" });
    this.typed = h("input", {
      type: "text", list: "actions", id: "typed-move", class: "typed",
      placeholder: "action", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    });
    this.panel = this.build();
    viewer.onCell.push((cell) => this.click(cell));
    new Loupe(viewer.board.lens, () => !this.panel.hidden && viewer.player.atEnd);
    /** The result, for those who played. */
    this.outcome = h("p", { class: "outcome panel", role: "status", hidden: true });
    viewer.slot?.append(this.panel, this.outcome);
  }

  build() {
    const resign = button("Resign", "danger", () => this.resignDialog.showModal());
    const form = h("form", {
      class: "inline",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const text = this.typed.value.trim();
        if (text) this.play(text);
      },
    }, h("label", null, hidden("Your move"), this.typed),
    h("button", { type: "submit", class: "main" }, "Move"), resign);
    this.resignDialog = h("dialog", { "aria-labelledby": "resign-title" },
      h("h2", { id: "resign-title" }, "Resign this match?"),
      h("div", { class: "inline" },
        button("Resign", "danger", () => this.resign()),
        button("Continue", null, () => this.resignDialog.close())));
    return h("section", { class: "human panel", "aria-label": "Your move", hidden: true },
      this.note, this.list, form, this.options, this.resignDialog);
  }

  /** Whether a person is asked for a move now, by the transcript. */
  get isAsked() {
    const { asked, running, match } = this.viewer.store;
    return running && asked !== null && (match.seats[asked.seat]?.human ?? false);
  }

  /** Checks whether the server waits for a person's move. */
  check() {
    this.wait = AGAIN_LEAST_MS;
    return this.checkNow();
  }

  async checkNow() {
    clearTimeout(this.timer);
    this.showOutcome();
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
    // The answer may be about a turn that was just played, or that is not in the transcript yet: what comes
    // from there before that turn would hide the panel, with what was typed.
    const isCurrent = waiting.waiting && waiting.turn === this.viewer.store.asked?.turn;
    if (!isCurrent || waiting.turn === this.sent) this.checkLater();
    else if (this.panel.hidden || waiting.turn !== this.turn) this.begin(waiting);
  }

  checkLater() {
    clearTimeout(this.timer);
    this.timer = Number(setTimeout(() => this.checkNow(), this.wait));
    this.wait = Math.min(AGAIN_MOST_MS, 2 * this.wait);
  }

  /** @param {Waiting} waiting */
  begin(waiting) {
    this.actions = waiting.actions ?? [];
    this.example = waiting.example ?? null;
    this.turn = waiting.turn ?? 0;
    const { frames, last } = this.viewer.store;
    this.colour = waiting.colour ?? frames[last]?.colours[waiting.seat ?? 0] ?? "";
    this.whose = this.who(waiting);
    this.selected = null;
    this.among = [];
    this.preview = null;
    this.busy = false;
    this.typed.value = "";
    fill(this.options, this.actions.map(({ text }) => h("option", { value: text })));
    this.panel.hidden = false;
    document.body.classList.add("asked");
    this.showState();
    this.show([]);
  }

  /** The colour and name of the seat to move: several people may share a screen. @param {Waiting} waiting */
  who({ seat = 0 }) {
    const name = short(this.viewer.store.match.seats[seat]?.name ?? "", 40);
    return this.colour ? `${this.colour} (${name})` : name;
  }

  rest() {
    if (this.panel.hidden) return;
    this.panel.hidden = true;
    document.body.classList.remove("asked");
    this.resignDialog.close();
    this.actions = [];
    this.viewer.choice = null;
    this.viewer.changed();
  }

  /** Shows the result of a match that ended while the page was open. */
  showOutcome() {
    const { running, match } = this.viewer.store;
    const isPlayed = match.state === "running" && match.seats.some(({ human }) => human);
    if (running || !isPlayed || !this.outcome.hidden) return;
    const end = this.viewer.store.end?.text ?? "The match is over.";
    fill(this.outcome, h("strong", null, short(outcome(match.seats, end), 300)), " ",
      h("a", { href: "/#start" }, "Play again"));
    this.outcome.hidden = false;
  }

  /** @param {number} cell @returns {boolean} */
  click(cell) {
    const { player, store } = this.viewer;
    if (this.panel.hidden || !player.atEnd || store.base !== null) return false;
    if (this.busy) return true;
    const chosen = choose(this.actions, this.selected, cell, this.pieces());
    this.selected = chosen.selected;
    this.among = chosen.among;
    const { play } = chosen;
    const isFirst = play !== null && play.text !== this.preview?.text && isTouched();
    this.preview = isFirst ? play : null;
    if (play && !isFirst) {
      this.play(play.text);
      return true;
    }
    // The next tap must mean the same.
    if (isFirst) this.selected = play.cells.length > 1 ? play.cells[0] ?? null : null;
    this.showState();
    this.show(isFirst ? play.cells : []);
    return true;
  }

  pieces() {
    return this.viewer.store.position(this.viewer.store.last).pieces;
  }

  /** Shows what to do, and the buttons. */
  showState() {
    const others = placeless(this.actions, this.selected, this.pieces());
    const buttons = this.among.length ? this.among : others;
    fill(this.note, h("strong", null, this.instruction()));
    fill(this.list, buttons.map((action) => h("button", {
      type: "button",
      onclick: () => this.play(action.text),
      onfocus: () => this.show(action.cells),
      onpointerenter: () => this.show(action.cells),
    }, action.text)));
  }

  instruction() {
    if (this.example !== null) return `Your move, ${this.whose}: type the action, such as ${this.example}.`;
    if (!this.actions.length) return "There is no legal action.";
    if (this.preview) return `${this.preview.text}: tap again to play it, or elsewhere.`;
    if (this.among.length > 1) return "Several actions lead there: choose one.";
    if (this.selected !== null) return `${this.whose}: click a target.`;
    return `Your move, ${this.whose}: click a marked cell or type the action.`;
  }

  /** Marks the cells that can be chosen. @param {number[]} route */
  show(route) {
    const legal = legalFrom(this.actions, this.selected, this.pieces());
    const { last } = this.viewer.store;
    const [placed, more] = this.preview?.cells ?? [];
    const selected = more === undefined ? placed ?? this.selected : this.selected;
    this.viewer.choice = { ply: last, selected, legal, route };
    this.viewer.changed();
  }

  resign() {
    this.resignDialog.close();
    this.play("resign");
  }

  /** @param {string} text */
  async play(text) {
    if (this.busy) return;
    this.busy = true;
    const { turn } = this;
    this.sent = turn;
    fill(this.note, `${text}: sent.`);
    const { last } = this.viewer.store;
    const cells = this.actions.find((action) => action.text === text)?.cells ?? [];
    this.viewer.choice = null;
    if (cells.length) this.viewer.showSent({ ply: last, cells, colour: this.colour });
    try {
      await post("/api/seat", { file: this.file, turn, text });
      // The next turn may have begun before this answer came.
      if (this.turn === turn) this.rest();
    } catch (error) {
      if (this.turn !== turn) return;
      this.sent = null;
      this.viewer.showSent(null);
      fill(this.note, errorMessage(error));
      this.selected = null;
      this.among = [];
      this.show([]);
      this.busy = false;
    }
  }
}
