// @ts-check
// The viewer of a match: the parts of the page, and the ply that they show.

import { address, agentName, byId, debounce, fill, h, moment, short } from "./common.js";
import { Board, badge } from "./board.js";
import { controls, goTo, switches, zooming } from "./controls.js";
import { graph } from "./graph.js";
import { Grid } from "./grid.js";
import { helpDialog, keys } from "./keys.js";
import { mayMove } from "./motion.js";
import { moves } from "./moves.js";
import { panes } from "./panes.js";
import { Player } from "./player.js";
import { seats } from "./seats.js";
import { fromHash, save, themeButton, toHash, useTheme } from "./settings.js";
import { sharing } from "./share.js";
import { Store } from "./store.js";
import { tabs } from "./tabs.js";

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").MatchUpdate} MatchUpdate */
/** @typedef {import("./types.js").MatchData} MatchData */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./board.js").Choice} Choice */
/** @typedef {{ply: number, cells: number[], colour: string}} SentMove */

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
    this.board = new Board(match, (by) => this.player.step(by));
    /** The ply that was shown before this one. */
    this.before = this.player.ply;
    /** How many of the last `info` messages the board's marks leave out. */
    this.back = 0;
    const title = `Board, ${match.game}`;
    /** What a chosen cell may mean; the first that returns true has used it. @type {((cell: number) => boolean)[]} */
    this.onCell = [];
    const choose = (/** @type {number} */ cell) => this.onCell.some((use) => use(cell));
    this.grid = new Grid(this.board, title, choose, () => this.leaveBoard());
    /** The branch that is shown, for the address. @type {string|null} */
    this.tried = null;
    /** The cells that a person can choose. @type {Choice|null} */
    this.choice = null;
    /** A person's move after this ply that the server has not confirmed. @type {SentMove|null} */
    this.sent = null;
    /** @type {{show: () => void}[]} */
    this.parts = [];
    this.spoken = h("p", { class: "spoken", "aria-live": "polite" });
    /** The address that was read or written last. */
    this.hash = location.hash;
    this.remember = debounce(150, () => this.writeAddress());
  }

  /** The ply in an address.
   * @param {{ply: number|null, turn: number|null, fault: boolean}} address */
  asked({ ply, turn, fault }) {
    if (ply !== null) return this.store.clamp(ply);
    if (turn !== null) return this.store.ofTurn(turn);
    if (!fault) return null;
    this.settings.pane = "turn";
    return this.store.firstFault();
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
    const [under, look] = [controls(this), switches(this)];
    const [list, pane, who, scores] = [moves(this), panes(this), seats(this), graph(this)];
    const help = helpDialog();
    const more = h("section", { class: "pane", "aria-label": "More" },
      look.element, goTo(this), sharing(this), this.about());
    const whatIf = h("section", { class: "pane what-if", id: "what-if", "aria-label": "What if" },
      h("p", { class: "soft" }, "This page has only the recorded moves. In `referee serve` you can try others."));
    const all = tabs(this, [
      { name: "moves", title: "Moves", element: list.element },
      { name: "turn", title: "Turn", element: pane.element },
      { name: "scores", title: "Graph", element: scores.element, isEmpty: scores.isEmpty },
      { name: "whatif", title: "What if", element: whatIf },
      { name: "more", title: "More", element: more },
    ]);
    /** The place of a person's controls. */
    this.slot = h("div", { class: "slot" });
    const isPlayed = this.store.running && this.store.match.seats.some(({ human }) => human);
    this.slot.classList.toggle("for-person", isPlayed);
    fill(root,
      h("div", { class: "stage" }, this.board.frame, zooming(this)),
      h("div", { class: "beside" }, who.element, this.slot, all.element,
        h("div", { class: "foot" }, this.spoken, under.element)),
      help);
    this.parts = [under, look, list, pane, who, scores, all];
    keys(this, help, () => {
      this.settings.pane = "more";
      this.changed();
      byId("go-to").focus();
    });
    this.head(help);
    window.addEventListener("hashchange", () => this.readAddress());
    setInterval(() => this.store.running && who.tick(), 100);
    const { autoplay, loop } = fromHash(location.hash);
    this.player.loops = loop;
    this.changed();
    if (autoplay) this.player.toggle();
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
    const href = address("/compare", { a: match.file });
    const compare = this.source.lines && h("p", null, h("a", { href }, "Compare with another match"));
    return [this.downloads(), compare, h("dl", { class: "facts wide" }, facts.map(([name, value]) =>
      h("div", null, h("dt", null, name), h("dd", null, value))))];
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
    const position = this.position();
    const frame = this.frame();
    const choice = this.choice?.ply === this.player.ply ? this.choice : null;
    document.body.classList.toggle("in-branch", this.store.base !== null);
    const notes = this.settings.marks ? this.store.notes(this.player.ply, this.back) : [];
    this.board.show(position, frame, this.settings, choice, notes);
    this.grid.describe(position, frame, notes, choice);
    for (const part of this.parts) part.show();
    this.move(frame);
    this.announce(frame);
    this.showResult();
    this.remember();
  }

  /** The board, with a move that was sent. */
  position() {
    const { sent, store, player } = this;
    const position = store.position(player.ply);
    if (sent?.ply !== player.ply) return position;
    const pieces = position.pieces.slice();
    const [from, to] = [sent.cells[0] ?? 0, sent.cells.at(-1) ?? 0];
    const piece = from === to ? sent.colour : pieces[from] ?? null;
    pieces[from] = null;
    pieces[to] = piece;
    return { ...position, pieces };
  }

  /** Shows a person's move before the server confirms it; `null` takes it back. @param {SentMove|null} sent */
  showSent(sent) {
    this.sent = sent;
    this.changed();
    if (sent && mayMove()) this.board.travel(sent.cells);
  }

  /** Moves the piece of a single step, forward or back. @param {Frame} frame */
  move(frame) {
    const [from, to] = [this.before, this.player.ply];
    this.before = to;
    if (from === to) return;
    const wasSent = this.sent?.ply === from && to === from + 1;
    this.sent = null;
    const isQuick = !mayMove();
    this.back = 0;
    if (isQuick || wasSent || Math.abs(to - from) !== 1) return;
    const back = this.store.frames[from]?.last ?? [];
    this.board.travel(to > from ? frame.last : back.length > 1 ? back.toReversed() : []);
  }

  /** Shows the ply as a sentence; fast playback doesn't announce it. @param {Frame} frame */
  announce(frame) {
    const isQuick = this.player.playing && this.settings.speed > 1;
    this.spoken.setAttribute("aria-live", isQuick ? "off" : "polite");
    const end = this.player.atEnd ? this.store.end : null;
    const words = short(end ? `${frame.sentence}. ${end.text}` : frame.sentence, SPOKEN_MAX);
    if (this.spoken.textContent !== words) this.spoken.textContent = words;
  }

  showResult() {
    if (!this.result) return;
    const { state, failure, end } = this.store;
    if (this.store.base !== null) return fill(this.result, "what if");
    const words = {
      running: "running", torn: "incomplete: the referee was stopped",
      broken: `can't be shown further: ${failure ?? ""}`, over: "",
    }[state] ?? state;
    const dot = h("span", { class: "live-dot", "aria-hidden": "true" });
    const winners = (end?.places ?? []).flatMap((place, seat) => (place === 1 ? [seat] : []));
    fill(this.result, state === "running" && dot,
      end && winners.length === 1 && badge(this.colourOf(end, winners[0] ?? 0)),
      end ? short(end.text, 300) : words, end && words ? ` (${words})` : "");
  }

  /** Applies an update of a live match; a page at its end stays there. @param {MatchUpdate} update */
  take(update) {
    const follows = this.player.atEnd && this.store.base === null;
    this.store.take(update);
    this.version += 1;
    if (follows) this.player.go(this.store.last);
    else this.player.go(this.player.ply);
  }

  /** @param {import("./settings.js").Switch} name */
  turn(name) {
    this.settings[name] = !this.settings[name];
    save(this.settings);
    this.changed();
  }

  /** Back to the recorded match; set by what makes branches. */
  leaveBranch() {}

  /** Shows the branch of an address; set by what makes branches. @param {string} _tried */
  openBranch(_tried) {}

  leaveBoard() {
    const slider = document.querySelector(".controls .slider");
    if (slider instanceof HTMLElement) slider.focus();
  }

  /** The address of this ply. */
  link() {
    return location.href.replace(/#.*|$/, toHash(this.settings, this.player.ply, this.tried));
  }

  writeAddress() {
    // Somebody entered an address; its event follows.
    if (location.hash !== this.hash) return;
    const ply = this.store.running && this.player.atEnd && !this.tried ? null : this.player.ply;
    const hash = toHash(this.settings, ply, this.tried);
    if (hash !== location.hash) {
      history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
      this.hash = location.hash;
    }
  }

  readAddress() {
    this.hash = location.hash;
    const { settings, tried, ...address } = fromHash(location.hash, this.settings);
    Object.assign(this.settings, settings);
    useTheme(this.settings.theme);
    if (tried !== this.tried) {
      this.leaveBranch();
      if (tried) return this.openBranch(tried);
    }
    const ply = this.asked(address);
    if (ply === null) this.changed();
    else this.player.jump(ply);
  }
}
