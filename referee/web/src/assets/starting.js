// @ts-check
// The form that starts a match.

import { errorMessage, fill, h, post } from "./common.js";
import { matchLink } from "./rows.js";

/** @typedef {import("./types.js").Overview} Overview */
/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./types.js").Field} Field */
/** @typedef {import("./types.js").AgentLine} AgentLine */

const PERSON = "@human";
/** The setup field with the number of players. */
const SEATS = "seats";

/** @param {Game} game */
function titleOf(game) {
  const words = game.title ?? game.name.replaceAll("-", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The agents that can play a game, a person first.
 * @param {Overview} overview @param {Game} game */
function agentsOf(overview, game) {
  const fit = overview.agents.filter(({ games }) => games === null || games.includes(game.name));
  const others = fit.filter(({ agent }) => agent !== PERSON);
  return [{ agent: PERSON, about: "you", games: null }, ...others];
}

/** An agent in the list: its name and description. @param {AgentLine} line */
function agentLabel({ agent, about }) {
  if (agent === PERSON) return "you";
  return about && about !== agent ? `${agent}: ${about}` : agent;
}

/** The ends of a range such as `2..4`. @param {string} text @returns {[number, number]|null} */
function between(text) {
  const found = /^(\d+)\s*\.\.=?\s*(\d+)/.exec(text);
  return found && [Number(found[1]), Number(found[2])];
}

/** A setup field: a list, a number or text, by its values.
 * @param {Field} field */
function input(field) {
  const listed = field.range.split("|").map((value) => value.trim());
  if (listed.length > 1 && listed.every((value) => /^("[^"]*"|\d+|true|false)$/.test(value))) {
    return h("select", { name: field.name }, listed.map((value) => h("option", {
      value, selected: value === JSON.stringify(field.default),
    }, value.replaceAll("\"", ""))));
  }
  const range = between(field.range);
  const value = JSON.stringify(field.default) ?? "";
  if (range) {
    return h("input", { type: "number", name: field.name, min: range[0], max: range[1], value });
  }
  return h("input", { type: "text", name: field.name, value, autocomplete: "off" });
}

/** The value of a field: JSON if it parses, otherwise text. @param {string} text */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @param {string} text @param {HTMLElement} field @param {string|null} [hint] */
function labelled(text, field, hint) {
  return h("label", null, text, field, hint && h("span", { class: "soft hint" }, hint));
}

class StartForm {
  /** @param {Overview} overview */
  constructor(overview) {
    this.overview = overview;
    this.setup = h("div", { class: "fields" });
    this.seats = h("div", { class: "fields seat-fields" });
    this.about = h("p", { class: "soft" });
    this.problem = h("div", null);
    this.game = h("select", { onchange: () => this.choose() },
      overview.games.map((game) => h("option", { value: game.name }, titleOf(game))));
    this.number = h("select", { onchange: () => this.seatFields() });
    this.numberLabel = h("label", { class: "inline" }, "Seats", this.number);
    this.clock = h("input", { type: "text", placeholder: "60s+0.5s", autocomplete: "off" });
    this.pace = h("input", { type: "number", min: 0, max: 10000, step: 100, value: 500 });
    this.choose();
  }

  /** The game that is chosen. */
  get chosen() {
    return this.overview.games.find(({ name }) => name === this.game.value);
  }

  build() {
    const begin = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.begin();
    };
    return h("form", { class: "start-form", onsubmit: begin },
      h("div", { class: "start-first" },
        h("label", { class: "inline" }, "Game", this.game), this.numberLabel),
      this.about, this.seats,
      h("details", null, h("summary", null, "Setup, clock, pace"), this.setup,
        h("div", { class: "fields" },
          labelled("Clock", this.clock, "time per agent + increment per turn; default: 60s+0.5s, with a person none"),
          labelled("Pace", this.pace, "pause after each move, in ms"))),
      this.problem, h("button", { type: "submit", class: "main" }, "Start match"));
  }

  /** Shows the fields of the chosen game. */
  choose() {
    const game = this.chosen;
    if (!game) return;
    this.about.textContent = game.about;
    const fields = game.setup.filter((field) => field.name !== SEATS);
    fill(this.setup, fields.map((field) => {
      const element = input(field);
      // A list shows its values.
      const range = element instanceof HTMLSelectElement ? null : field.range;
      return h("div", null, labelled(field.name, element, range),
        h("p", { class: "soft hint" }, field.about));
    }));
    const counts = seatCounts(game);
    fill(this.number, counts.map((value) => h("option", { value }, value)));
    this.numberLabel.hidden = counts.length < 2;
    this.seatFields();
  }

  seatFields() {
    const game = this.chosen;
    if (!game) return;
    const agents = agentsOf(this.overview, game);
    const option = (/** @type {number} */ seat) => (/** @type {AgentLine} */ line,
      /** @type {number} */ at) => h("option", {
      value: line.agent, selected: at === Math.min(seat, 1),
    }, agentLabel(line));
    fill(this.seats, Array.from({ length: Number(this.number.value) }, (_, seat) =>
      labelled(`Seat ${seat}`, h("select", null, agents.map(option(seat))))));
  }

  /** The setup fields that differ from the default. */
  changedSetup() {
    /** @type {Record<string, unknown>} */
    const changed = {};
    for (const field of this.chosen?.setup ?? []) {
      const own = [...this.setup.querySelectorAll("input, select")]
        .find((element) => element.getAttribute("name") === field.name);
      if (!(own instanceof HTMLInputElement || own instanceof HTMLSelectElement)) continue;
      const value = read(own.value);
      if (JSON.stringify(value) !== JSON.stringify(field.default)) changed[field.name] = value;
    }
    const hasSeats = this.chosen?.setup.some(({ name }) => name === SEATS);
    return hasSeats ? { ...changed, [SEATS]: Number(this.number.value) } : changed;
  }

  async begin() {
    const seats = [...this.seats.querySelectorAll("select")].map(({ value }) => value);
    try {
      const { file } = await post("/api/matches", {
        game: this.game.value,
        setup: this.changedSetup(),
        seats,
        clock: this.clock.value.trim() || null,
        pace_ms: Number(this.pace.value) || 0,
      });
      location.assign(matchLink(file));
    } catch (error) {
      fill(this.problem, errorMessage(error));
    }
  }
}

/** @param {Overview} overview @param {boolean} isOpen */
export function starting(overview, isOpen) {
  return h("details", { open: isOpen || location.hash === "#start" },
    h("summary", null, h("h2", null, "Start a match")), new StartForm(overview).build());
}

/** The possible numbers of seats. @param {Game} game */
function seatCounts({ seats, setup }) {
  const text = setup.find(({ name }) => name === SEATS)?.range;
  if (text === undefined) return [...new Set(seats)].sort((a, b) => a - b);
  const [from, to] = between(text) ?? [];
  if (from === undefined || to === undefined) return text.split("|").map(Number).sort((a, b) => a - b);
  return Array.from({ length: to - from + 1 }, (_, more) => from + more);
}
