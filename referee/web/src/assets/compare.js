// @ts-check
// Two matches of a game side by side, stepped together, with the first move that differs.

import { address, agentName, byId, count, errorMessage, fill, get, h, short } from "./common.js";
import { Board, badge } from "./board.js";
import { matchCard, matchLink } from "./rows.js";
import { fromHash, themeButton } from "./settings.js";
import { Store } from "./store.js";

/** @typedef {import("./types.js").MatchData} MatchData */
/** @typedef {import("./types.js").Row} Row */

const asked = new URLSearchParams(location.search);

/** One of the two. */
class Side {
  /** @param {MatchData} match @param {string} which @param {(by: number) => void} step */
  constructor(match, which, step) {
    this.store = new Store(match);
    this.board = new Board(match, step);
    this.words = h("p", { class: "compare-move", "aria-live": "polite" });
    const { seats } = match;
    const colours = this.store.frames[0]?.colours ?? [];
    const names = seats.map(({ name }, seat) => h("span", { class: "player" },
      badge(colours[seat] ?? ""), agentName(name)));
    this.element = h("section", { class: "compare-side", "aria-label": `${which} match` },
      h("h2", null, h("a", { href: matchLink(match.file) }, h("span", { class: "players" }, names))),
      h("p", { class: "soft" }, short(this.store.end?.text ?? "no result", 160)),
      h("div", { class: "compare-board" }, this.board.frame), this.words);
  }

  /** What was played up to a ply, as text. @param {number} ply */
  move(ply) {
    return this.store.frames[ply]?.text ?? null;
  }

  /** @param {number} ply @param {import("./settings.js").Settings} settings @param {boolean} isOther */
  show(ply, settings, isOther) {
    const at = this.store.clamp(ply);
    const frame = this.store.frames[at];
    if (!frame) return;
    this.board.show(this.store.position(at), frame, settings, null, []);
    const isOver = ply > this.store.last;
    fill(this.words, isOver ? `over after ${count(this.store.last, "move")}` : short(frame.sentence, 200));
    this.element.classList.toggle("differs", isOther);
  }
}

/** The first ply at which the two differ, or null. @param {Side} one @param {Side} other */
function firstDifference(one, other) {
  const most = Math.max(one.store.last, other.store.last);
  for (let ply = 1; ply <= most; ply += 1) if (one.move(ply) !== other.move(ply)) return ply;
  return null;
}

/** Chooses the second match. @param {MatchData} match */
async function choose(match) {
  const { rows } = await get("/api/transcripts", { find: match.game, count: 60 });
  const others = rows.filter((/** @type {Row} */ row) => row.file !== match.file);
  fill(byId("compare"), h("h2", null, "Compare with"),
    others.length ? null : h("p", { class: "soft" }, `There is no other match of ${match.game}.`),
    h("ul", { class: "wall" }, others.map((/** @type {Row} */ row) => {
      const card = matchCard(row);
      card.querySelector("a")?.setAttribute("href",
        address("/compare", { a: match.file, b: row.file }));
      return card;
    })));
}

/** @param {MatchData} one @param {MatchData} other */
function show(one, other) {
  const { settings, ply: given } = fromHash(location.hash);
  /** @type {(by: number) => void} */
  const step = (by) => go(ply + by);
  const sides = /** @type {[Side, Side]} */ ([new Side(one, "First", step), new Side(other, "Second", step)]);
  const last = Math.max(...sides.map(({ store }) => store.last));
  const first = firstDifference(...sides);
  let ply = given ?? first ?? last;
  const where = h("output", { class: "where" });
  const slider = h("input", {
    type: "range", min: 0, max: last, step: 1, class: "slider", "aria-label": "Ply",
    oninput: () => go(Number(slider.value)),
  });
  const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ act) =>
    h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const difference = first === null
    ? h("span", null, "The moves are the same.")
    : h("button", { type: "button", onclick: () => go(first) }, `First difference: move ${first}`);
  /** @param {number} to */
  function go(to) {
    ply = Math.max(0, Math.min(last, to));
    slider.value = String(ply);
    where.textContent = `${ply} / ${last}`;
    for (const side of sides) side.show(ply, settings, first !== null && ply >= first);
    history.replaceState(null, "", `${location.pathname}${location.search}#ply=${ply}`);
  }
  fill(byId("compare"),
    h("div", { class: "compare-sides" }, sides.map(({ element }) => element)),
    h("div", { class: "compare-foot" },
      button("◀", "Previous ply", () => go(ply - 1)), slider,
      button("▶", "Next ply", () => go(ply + 1)), where, difference));
  document.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key];
    const isTyping = event.target instanceof HTMLInputElement;
    if (!by || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(ply + (event.shiftKey ? 10 * by : by));
  });
  go(ply);
}

async function start() {
  const { settings } = fromHash(location.hash);
  fill(byId("tools"), themeButton(settings));
  fill(byId("title"), "Two matches");
  try {
    /** @type {MatchData} */
    const one = await get("/api/match", { file: asked.get("a") ?? "" });
    if (asked.get("b") === null) {
      await choose(one);
      return;
    }
    /** @type {MatchData} */
    const other = await get("/api/match", { file: asked.get("b") ?? "" });
    const [left, right] = [one, other].map(({ board }) => board.cells.length);
    if (one.game !== other.game || left !== right) {
      throw new Error(`these are different games: ${one.game} on ${left} cells, ${other.game} on ${right}`);
    }
    show(one, other);
  } catch (error) {
    fill(byId("compare"), errorMessage(error));
  }
}

await start();
