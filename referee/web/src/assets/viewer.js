// @ts-check
// The viewer of a match: the parts of the page, and the ply that they show.

import { agentName, byId, debounce, fill, h, moment, short } from "./common.js";
import { Board } from "./board.js";
import { controls, goTo, switches } from "./controls.js";
import { graph } from "./graph.js";
import { Grid } from "./grid.js";
import { helpDialog, keys } from "./keys.js";
import { moves } from "./moves.js";
import { panes } from "./panes.js";
import { Player } from "./player.js";
import { seats } from "./seats.js";
import { fromHash, save, themeButton, toHash, useTheme } from "./settings.js";
import { Store } from "./store.js";

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").MatchUpdate} MatchUpdate */
/** @typedef {import("./types.js").MatchData} MatchData */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./board.js").Choice} Choice */

/** The most characters of an announced sentence. */
const SPOKEN_MAX = 300;

export class Viewer {
  /** @param {MatchData} match @param {Source} source */
  constructor(match, source) {
    const asked = fromHash(location.hash);
    this.source = source;
    this.store = new Store(match);
    this.settings = asked.settings;
    /** Counts updates, for parts that depend on all plies. */
    this.version = 0;
    this.player = new Player(this.store, this.settings, () => this.changed());
    this.player.ply = this.asked(asked) ?? this.store.last;
    this.board = new Board(match);
    const title = `Board, ${match.game}`;
    /** Called when a cell is chosen. @type {(cell: number) => void} */
    this.onCell = () => {};
    this.grid = new Grid(this.board, title, (cell) => this.onCell(cell), () => this.leaveBoard());
    /** The cells that a person can choose. @type {Choice|null} */
    this.choice = null;
    /** @type {{show: () => void}[]} */
    this.parts = [];
    this.spoken = h("p", { class: "spoken", "aria-live": "polite" });
    this.remember = debounce(150, () => this.writeAddress());
  }

  /** The ply in an address.
   * @param {{ply: number|null, turn: number|null, fault: boolean}} address */
  asked({ ply, turn, fault }) {
    if (ply !== null) return this.store.clamp(ply);
    if (turn !== null) return this.store.ofTurn(turn);
    return fault ? this.store.firstFault() : null;
  }

  /** @returns {Frame} */
  frame() {
    const frame = this.store.frames[this.player.ply];
    if (!frame) throw new Error(`no ply ${this.player.ply}`);
    return frame;
  }

  /** The colour that a seat had at this ply. @param {Frame} frame @param {number} seat */
  colourOf(frame, seat) {
    return frame.colours[seat] ?? "";
  }

  /** Builds the page into this element. @param {HTMLElement} root */
  build(root) {
    const [under, look, where] = [controls(this), switches(this), goTo(this)];
    const [list, pane, who, scores] = [moves(this), panes(this), seats(this), graph(this)];
    const help = helpDialog();
    /** The place of a person's controls and of connection messages. */
    this.slot = h("div", { class: "slot" });
    fill(root,
      h("div", { class: "stage" },
        h("div", { class: "board-place" }, this.board.frame),
        this.slot, under.element, this.spoken,
        h("div", { class: "under" }, look.element, where)),
      h("div", { class: "beside" }, who.element, list.element),
      h("div", { class: "details" }, pane.element, scores.element, this.about()),
      help);
    this.parts = [under, look, list, pane, who, scores];
    keys(this, help, () => byId("go-to").focus());
    this.head(help);
    this.board.enlarge();
    window.addEventListener("hashchange", () => this.readAddress());
    setInterval(() => this.store.running && who.tick(), 100);
    this.changed();
  }

  /** Title and buttons in the page's head. @param {HTMLDialogElement} help */
  head(help) {
    const { match } = this.store;
    const names = match.seats.flatMap((seat, at) => [at ? " – " : "", agentName(seat.name)]);
    fill(byId("title"), names);
    document.title = `${short(match.seats.map((seat) => seat.name).join(" – "), 80)} · Referee`;
    this.result = byId("result");
    fill(byId("tools"),
      themeButton(this.settings, () => this.changed()),
      h("button", { type: "button", class: "quiet", "aria-label": "Keyboard help", title: "Keyboard help (?)",
        onclick: () => help.showModal() }, "?"));
  }

  /** The settings of the match. */
  about() {
    const { match } = this.store;
    const setup = Object.entries(match.setup)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`);
    /** @type {[string, string][]} */
    const facts = [
      ["game", match.game], ["setup", short(setup.join(", "), 300)], ["clock", match.clock],
      ["seed", String(match.seed)], ["match", match.match], ["started", moment(match.started)],
      ["referee", match.referee], ["file", match.file],
    ];
    return h("details", { class: "panel about" }, h("summary", null, "About this match"),
      h("dl", { class: "facts wide" }, facts.map(([name, value]) =>
        h("div", null, h("dt", null, name), h("dd", null, value)))), this.downloads());
  }

  downloads() {
    const { picture } = this.source;
    if (!picture) return null;
    const usual = ["svg", "png", "gif", "apng", "html", "txt"];
    const forms = [...usual, ...(this.store.match.notations ?? [])];
    const link = (/** @type {string} */ form) => h("a", {
      href: picture(form, 0), download: true,
      onclick: (/** @type {MouseEvent} */ { currentTarget: link }) => {
        if (link instanceof HTMLAnchorElement) link.href = picture(form, this.player.ply);
      },
    }, form.toUpperCase());
    return h("p", { class: "downloads" }, "Download as ", forms.map(link));
  }

  /** Updates everything. */
  changed() {
    const position = this.store.position(this.player.ply);
    const frame = this.frame();
    const choice = this.player.atEnd ? this.choice : null;
    this.board.show(position, frame, this.settings, choice);
    this.grid.describe(position, frame, this.settings.marks, choice);
    for (const part of this.parts) part.show();
    this.announce(frame);
    this.showResult();
    this.remember();
  }

  /** Shows the ply as a sentence; fast playback doesn't announce it. @param {Frame} frame */
  announce(frame) {
    const isQuick = this.player.playing && this.settings.speed > 1;
    this.spoken.setAttribute("aria-live", isQuick ? "off" : "polite");
    const words = short(frame.sentence, SPOKEN_MAX);
    if (this.spoken.textContent !== words) this.spoken.textContent = words;
  }

  showResult() {
    if (!this.result) return;
    const { state, failure, frames } = this.store;
    const end = frames.findLast((frame) => frame.kind === "over");
    const words = {
      running: "running", torn: "incomplete: the referee was stopped",
      broken: `can't be shown further: ${failure ?? ""}`, over: "",
    }[state] ?? state;
    const dot = h("span", { class: "live-dot", "aria-hidden": "true" });
    fill(this.result, state === "running" && dot,
      end ? short(end.text, 300) : words, end && words ? ` (${words})` : "");
  }

  /** Applies an update of a live match; a page at its end stays there. @param {MatchUpdate} update */
  take(update) {
    const follows = this.player.atEnd;
    this.store.take(update);
    this.version += 1;
    if (follows) this.player.go(this.store.last);
    else this.player.go(this.player.ply);
  }

  /** @param {"flip"|"coords"|"marks"} name */
  turn(name) {
    this.settings[name] = !this.settings[name];
    save(this.settings);
    this.changed();
  }

  leaveBoard() {
    const slider = document.querySelector(".slider");
    if (slider instanceof HTMLElement) slider.focus();
  }

  writeAddress() {
    const ply = this.store.running && this.player.atEnd ? null : this.player.ply;
    const hash = toHash(this.settings, ply);
    if (hash !== location.hash) {
      history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
    }
  }

  readAddress() {
    const { settings, ...address } = fromHash(location.hash, this.settings);
    Object.assign(this.settings, settings);
    useTheme(this.settings.theme);
    const ply = this.asked(address);
    if (ply === null) this.changed();
    else this.player.jump(ply);
  }
}
