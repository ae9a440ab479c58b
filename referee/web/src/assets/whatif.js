// @ts-check
// What if: other actions than the recorded ones, and what an agent would play.

import { byId, errorMessage, fill, get, h, post, short } from "./common.js";
import { choose, legalFrom, placeless } from "./choosing.js";
import { Explorer } from "./explorer.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").Action} Action */
/** @typedef {import("./types.js").BranchData} BranchData */
/** @typedef {import("./types.js").Overview} Overview */
/** @typedef {import("./types.js").Frame} Frame */

export class WhatIf {
  /** @param {Viewer} viewer @param {string} file */
  constructor(viewer, file) {
    this.viewer = viewer;
    this.file = file;
    /** The actions of the branch, as text. @type {string[]} */
    this.texts = [];
    /** What can be played at a ply. @type {{frame: Frame, data: BranchData}|null} */
    this.known = null;
    /** @type {number|null} */
    this.selected = null;
    /** @type {Action[]} */
    this.among = [];
    this.busy = false;
    /** What the list of choices shows. @type {{frame: Frame, texts: string}|null} */
    this.listed = null;
    this.note = h("p", { role: "status" });
    this.list = h("div", { class: "choices" });
    this.answer = h("div", { role: "status" });
    this.agents = h("select", { "aria-label": "Agent" });
    this.back = h("button", { type: "button", onclick: () => this.leave() }, "Back to the game");
    this.playing = h("button", { type: "button", onclick: () => this.playOn() }, "Play on from here");
    this.asking = h("div", { class: "inline", hidden: true }, this.agents,
      h("button", { type: "button", onclick: () => this.ask() }, "Ask for a move"),
      this.playing);
    this.explorer = new Explorer(this, file);
    fill(byId("what-if"), this.note, this.list, this.back, this.asking, this.answer, this.explorer.element);
    viewer.onCell.push((cell) => this.click(cell));
    viewer.parts.push(this);
    viewer.leaveBranch = () => this.leave();
    viewer.openBranch = (tried) => this.restore(tried);
  }

  /** Shows the branch of an address: its last recorded ply, then its actions. @param {string|null} words */
  restore(words) {
    const [base, ...texts] = (words ?? "").split(";");
    const at = this.viewer.store.clamp(Number(base));
    if (texts.length) this.attempt(() => this.go(at, texts, at + texts.length));
  }

  /** Offers the agents that the server may start. @param {Overview} overview */
  offer(overview) {
    const { game } = this.viewer.store.match;
    const fitting = overview.agents.filter(({ games }) => !games || games.includes(game));
    fill(this.agents, fitting.map(({ agent }) => h("option", { value: agent }, agent)));
    if (fitting.some(({ agent }) => agent === "@greedy")) this.agents.value = "@greedy";
    this.asking.hidden = !overview.can_play || !fitting.length;
    this.playing.hidden = !overview.can_start;
  }

  /** The last recorded ply, and the other actions after it, that lead to what is shown. */
  path() {
    const { store, player } = this.viewer;
    const base = Math.min(player.ply, store.base ?? player.ply);
    return { base, texts: this.texts.slice(0, player.ply - base) };
  }

  /** @param {number} base @param {string[]} texts @returns {Promise<BranchData>} */
  load(base, texts) {
    return get("/api/branch", { file: this.file, ply: base, actions: texts.join(";") });
  }

  /** What can be played in the position that is shown. */
  async actions() {
    const frame = this.viewer.frame();
    if (this.known?.frame !== frame) {
      const { base, texts } = this.path();
      const data = await this.load(base, texts);
      this.known = { frame, data };
    }
    return this.known.data.actions;
  }

  pieces() {
    return this.viewer.store.position(this.viewer.player.ply).pieces;
  }

  /** @param {number} cell */
  click(cell) {
    this.attempt(async () => {
      const actions = await this.actions();
      const chosen = choose(actions, this.selected, cell, this.pieces());
      this.selected = chosen.selected;
      this.among = chosen.among;
      if (chosen.play) await this.play(chosen.play.text);
      else this.open();
    });
    return true;
  }

  /** Shows the pane. */
  open() {
    this.viewer.settings.pane = "whatif";
    this.mark([]);
  }

  /** Marks the cells that can be chosen. @param {number[]} route */
  mark(route) {
    const { viewer, selected } = this;
    const legal = legalFrom(this.known?.data.actions ?? [], selected, this.pieces());
    viewer.choice = { ply: viewer.player.ply, selected, legal, route };
    viewer.changed();
  }

  /** Plays an action after what is shown; the recorded one is no branch. @param {string} text */
  async play(text) {
    const { store, player } = this.viewer;
    const recorded = store.frames[player.ply + 1];
    if (store.base === null && recorded?.kind === "played" && recorded.text === text) {
      return player.step(1);
    }
    const { base, texts } = this.path();
    await this.go(base, [...texts, text], base + texts.length + 1);
  }

  /** Shows a branch. @param {number} base @param {string[]} texts @param {number} ply */
  async go(base, texts, ply) {
    const { viewer } = this;
    const data = await this.load(base, texts);
    this.texts = texts;
    this.selected = null;
    this.among = [];
    viewer.choice = null;
    viewer.store.branch(base, data);
    viewer.tried = [base, ...texts].join(";");
    viewer.version += 1;
    viewer.settings.pane = "whatif";
    viewer.player.jump(ply);
    this.known = { frame: viewer.frame(), data };
    viewer.changed();
  }

  /** Back to the recorded match, where the branch began. */
  leave() {
    const { store, player } = this.viewer;
    const base = store.base ?? player.ply;
    store.leave();
    this.viewer.tried = null;
    this.texts = [];
    this.selected = null;
    this.viewer.choice = null;
    this.viewer.version += 1;
    fill(this.answer);
    player.jump(base);
  }

  /** @param {() => Promise<void>} act */
  async attempt(act) {
    if (this.busy) return;
    this.busy = true;
    try {
      await act();
    } catch (error) {
      this.selected = null;
      this.viewer.settings.pane = "whatif";
      this.viewer.changed();
      fill(this.answer, errorMessage(error));
    }
    this.busy = false;
  }

  /** Plays what an agent plays here. */
  ask() {
    this.attempt(async () => {
      const { base, texts } = this.path();
      const agent = this.agents.value;
      fill(this.answer, h("p", { class: "soft" }, `Waiting for ${agent}.`));
      const asked = { file: this.file, ply: base, actions: texts.join(";"), agent };
      /** @type {{frame: Frame}} */
      const { frame } = await post("/api/ask", asked);
      const { score, depth, nodes, text } = frame.infos.at(-1) ?? {};
      const facts = Object.entries({ score, depth, nodes })
        .flatMap(([name, value]) => (value === undefined || value === null ? [] : `${name} ${value}`));
      if (frame.kind === "played") await this.play(frame.text);
      fill(this.answer, h("p", null, `${agent}: ${short(frame.text, 300)}`,
        facts.length > 0 && ` (${facts.join(", ")})`, text && h("span", { class: "said" }, ` ${short(text, 300)}`)));
    });
  }

  /** Starts a match from here, between the reader and an agent. */
  playOn() {
    this.attempt(async () => {
      await this.actions();
      const { store } = this.viewer;
      const { game, setup, seats } = store.match;
      const { to_move: own } = this.viewer.frame();
      const position = this.known?.data.position;
      const { file } = await post("/api/matches", {
        game, setup: { ...setup, position },
        seats: seats.map((_, seat) => (seat === own ? "@human" : this.agents.value)),
      });
      location.assign(`/match?file=${encodeURIComponent(file)}`);
    });
  }

  instruction() {
    const { store, player } = this.viewer;
    const { selected, among } = this;
    if (among.length > 1) return "Several actions lead there: choose one.";
    if (selected !== null) return "Click a target.";
    if (store.base === null) return "Click a piece or a cell to play another action here.";
    const over = player.atEnd && this.known?.frame === this.viewer.frame() ? this.known.data.over : null;
    const count = store.last - store.base;
    const moves = `${count} ${count === 1 ? "move" : "moves"} after move ${store.base} of the game`;
    return over ? `What if: ${moves}. ${over}` : `What if: ${moves}.`;
  }

  /** Lists the actions that have no cell to click. @param {Action[]} actions */
  choices(actions) {
    const frame = this.viewer.frame();
    const texts = actions.map(({ text }) => text).join("\n");
    // The button under the pointer has to stay, or it is never clicked.
    if (this.listed?.frame === frame && this.listed.texts === texts) return;
    this.listed = { frame, texts };
    fill(this.list, actions.map((action) => h("button", {
      type: "button",
      onclick: () => this.attempt(() => this.play(action.text)),
      onfocus: () => this.mark(action.cells),
      onpointerenter: () => this.mark(action.cells),
    }, action.text)));
    this.list.hidden = !actions.length;
  }

  show() {
    const isHere = this.known?.frame === this.viewer.frame();
    if (!isHere) {
      this.selected = null;
      this.among = [];
    }
    fill(this.note, this.instruction());
    const actions = isHere && this.known ? this.known.data.actions : [];
    this.choices(this.among.length ? this.among : placeless(actions, this.selected, this.pieces()));
    this.back.hidden = this.viewer.store.base === null;
    this.explorer.show();
  }
}
