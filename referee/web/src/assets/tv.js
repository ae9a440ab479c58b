// @ts-check
// Live matches for a projector: the most interesting ones, each until it has ended.

import { address, agentName, byId, count, errorMessage, fill, get, h, short } from "./common.js";
import { picture, players } from "./rows.js";
import { fromHash, themeButton } from "./settings.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Contest} Contest */
/** @typedef {import("./types.js").Overview} Overview */

/** How often to look, and how long an end is shown, in milliseconds. */
const [AGAIN_MS, END_MS] = [1000, 6000];
const SIZES = [1, 4, 9];
/** How many places of the standings are shown. */
const PLACES = 12;
const asked = new URLSearchParams(location.search);
const folder = asked.get("folder");

/** A match on the screen. */
class Slot {
  /** @param {Row} row */
  constructor(row) {
    this.row = row;
    /** When the end was first seen. */
    this.endedAt = 0;
    this.image = h("img", { class: "tv-board", alt: "" });
    this.words = h("p", { class: "tv-words" });
    this.result = h("p", { class: "tv-result", hidden: true });
    this.element = h("a", { class: "tv-slot", href: address("/match", { file: row.file }) },
      this.words, this.image, this.result);
    this.show(row);
  }

  /** @param {Row} row */
  show(row) {
    this.row = row;
    const source = picture(row);
    if (this.image.getAttribute("src") !== source) this.image.src = source;
    const turns = row.turns === null ? "" : count(row.turns, "turn");
    fill(this.words, players(row), h("span", { class: "soft" }, `${row.game} · ${turns}`));
    this.result.hidden = !row.result;
    fill(this.result, row.result ? short(row.result, 160) : "");
  }
}

/** The order of interest: leaders of the contest first, then players of close places, then long games.
 * @param {Row[]} live @param {string[]} leaders */
function byInterest(live, leaders) {
  const place = (/** @type {string} */ name) => {
    const at = leaders.indexOf(name);
    return at < 0 ? leaders.length : at;
  };
  const sum = (/** @type {Row} */ row) => row.names.reduce((all, name) => all + place(name), 0);
  const distance = (/** @type {Row} */ row) => {
    const places = row.names.map(place);
    return Math.max(...places) - Math.min(...places);
  };
  return live.toSorted((a, b) =>
    sum(a) - sum(b) || distance(a) - distance(b) || (b.turns ?? 0) - (a.turns ?? 0));
}

/** The names of a contest's standings, the first place first. @param {Contest} contest */
function names({ head, rows }) {
  const at = head.indexOf("player");
  return rows.map((row) => row[at] ?? "");
}

/** @param {Contest} contest */
function ticker({ head, rows }) {
  const [player, points] = [head.indexOf("player"), head.indexOf("points")];
  return h("ol", null, rows.slice(0, PLACES).map((row) => h("li", null,
    `${row[0] ?? ""}. `, agentName(row[player] ?? ""), points < 0 ? "" : ` ${row[points] ?? ""}`)));
}

/** The address of this server as a QR code; none for a page on this machine alone. */
function code() {
  const { hostname, origin } = location;
  if (["localhost", "127.0.0.1", "[::1]"].includes(hostname)) return null;
  const text = `${origin}${folder === null ? "/" : address("/contest", { folder })}`;
  return h("img", { class: "tv-code", src: address("/api/qr", { text }), alt: `QR code of ${text}` });
}

class Screen {
  constructor() {
    this.size = SIZES.includes(Number(asked.get("boards"))) ? Number(asked.get("boards")) : 4;
    /** @type {Slot[]} */
    this.slots = [];
    this.element = byId("screen");
    this.code = code();
  }

  /** The last matches that have ended, to show while none is live. @returns {Promise<Row[]>} */
  async ended() {
    const path = folder === null ? "/api/transcripts" : "/api/contest/games";
    return (await get(path, { folder: folder ?? "", count: this.size })).rows;
  }

  /** Shows the last matches, and later ones as they end. */
  async showEnded() {
    const rows = await this.ended();
    const isShown = (/** @type {Row} */ row) => this.slots.some((slot) => slot.row.file === row.file);
    if (rows.length !== this.slots.length || !rows.every(isShown)) this.slots = rows.map((row) => new Slot(row));
  }

  /** A match that is live no more. @param {Row} row @returns {Promise<Row>} */
  async again(row) {
    const { rows } = await get("/api/transcripts", { find: row.file, folder: row.file.replace(/\/?[^/]*$/, ""), count: 1 });
    return rows[0] ?? { ...row, live: false };
  }

  /** @param {Row[]} live in the order of interest */
  async update(live) {
    const now = Date.now();
    for (const slot of this.slots) {
      const row = live.find(({ file }) => file === slot.row.file);
      if (row) {
        slot.show(row);
      } else if (!slot.endedAt) {
        slot.endedAt = now;
        slot.show(await this.again(slot.row));
      }
    }
    const isDone = (/** @type {Slot} */ slot) => slot.endedAt > 0 && now - slot.endedAt > END_MS;
    const waiting = live.filter(({ file }) => !this.slots.some(({ row }) => row.file === file));
    this.slots = this.slots.slice(0, this.size).map((slot) => {
      const next = isDone(slot) ? waiting.shift() : undefined;
      return next ? new Slot(next) : slot;
    });
    while (this.slots.length < this.size && waiting.length) {
      const next = waiting.shift();
      if (next) this.slots.push(new Slot(next));
    }
    if (!live.length && this.slots.every(({ endedAt }) => !endedAt || now - endedAt > END_MS)) await this.showEnded();
    this.element.dataset.boards = String(this.size);
    if (!this.slots.length) fill(this.element, h("p", { class: "soft" }, "No matches yet."));
    else if (this.slots.some(({ element }, at) => this.element.children[at] !== element)
      || this.element.children.length !== this.slots.length) {
      fill(this.element, this.slots.map(({ element }) => element));
    }
  }

  async look() {
    if (folder === null) {
      /** @type {Overview} */
      const { title, live } = await get("/api/overview");
      fill(byId("title"), title);
      await this.update(byInterest(live, []));
      return;
    }
    /** @type {Contest} */
    const contest = await get("/api/contest", { folder });
    fill(byId("title"), short(contest.name, 120));
    fill(byId("result"), `${contest.played} of ${count(contest.games, "game")}`);
    fill(byId("ticker"), ticker(contest), this.code);
    await this.update(byInterest(contest.live, names(contest)));
  }
}

function start() {
  const { settings } = fromHash(location.hash);
  const screen = new Screen();
  const boards = h("select", {
    "aria-label": "Boards",
    onchange: () => {
      screen.size = Number(boards.value);
      history.replaceState(null, "", address("/tv", { folder, boards: screen.size }));
    },
  }, SIZES.map((size) => h("option", { value: size, selected: size === screen.size }, count(size, "board"))));
  fill(byId("tools"), boards,
    h("button", { type: "button", class: "quiet", onclick: () => document.documentElement.requestFullscreen() }, "Full screen"),
    themeButton(settings));
  if (folder === null) fill(byId("ticker"), screen.code);
  const again = async () => {
    try {
      await screen.look();
    } catch (error) {
      fill(screen.element, errorMessage(error));
      screen.slots = [];
    }
    setTimeout(again, AGAIN_MS);
  };
  again();
}

start();
