// @ts-check
// Lists of matches, for the home page and contests.

import { address, agentName, byId, count, errorMessage, fill, get, h, post } from "./common.js";
import { debounce, moment, short } from "./common.js";
import { badge } from "./board.js";
import { RESIGNED } from "./store.js";
import { isDark } from "./settings.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").NextGame} NextGame */

const PAGE = 50;
/** Leads to the ply of a match's first fault. */
export const TO_FAULT = "#fault";

/** The players, in seat order. @param {Row} row */
export function players(row) {
  return h("span", { class: "players" }, row.names.map((name, seat) =>
    h("span", { class: "player" }, badge(row.colours[seat] ?? ""), agentName(name))));
}

/** The tag of a fault or a resignation. @param {string} kind */
export function flag(kind) {
  return h("span", { class: kind === RESIGNED ? "flag" : "flag fault" }, kind);
}

/** @param {string} file @param {string} [hash] */
export function matchLink(file, hash = "") {
  return `${address("/match", { file })}${hash}`;
}

/** @param {Row} row */
export function matchRow(row) {
  const href = matchLink(row.file, row.fault ? TO_FAULT : "");
  const stop = row.live && row.own && stopButton(row.file);
  return h("li", stop ? { class: "with-stop" } : null, h("a", { class: "match-row", href },
    h("span", { class: "row-game" }, row.game),
    players(row),
    h("span", { class: "row-result" },
      row.live && h("span", { class: "live-tag" }, "live"),
      row.fault && flag(row.fault),
      row.result ? short(row.result, 120) : row.live ? "" : "no result"),
    h("span", { class: "row-facts soft" },
      row.turns === null ? "" : `${count(row.turns, "turn")} · `, moment(row.started),
      row.worker && [" · on ", agentName(row.worker)])), stop);
}

/** The address of a picture of a match's last position; it differs for every position.
 * @param {Row} row */
export function picture(row) {
  const v = `${row.turns ?? 0}${row.live ? "-live" : ""}`;
  return address("/api/thumbnail", { file: row.file, dark: isDark(), v });
}

/** A match as its board, which follows the match. @param {Row} row @param {string} [about] */
function card(row, about = "") {
  const image = h("img", { class: "thumbnail", alt: "", loading: "lazy", decoding: "async" });
  // Such as of a game whose rules are not here.
  image.addEventListener("error", () => image.style.setProperty("visibility", "hidden"));
  const words = h("span", { class: "card-words" });
  const href = matchLink(row.file, row.fault ? TO_FAULT : "");
  const element = h("li", { class: "match-card" }, h("a", { href }, image, words),
    row.live && row.own && stopButton(row.file));
  const update = (/** @type {Row} */ now) => {
    const source = picture(now);
    if (image.getAttribute("src") !== source) image.src = source;
    fill(words, players(now),
      h("span", { class: "row-result" }, now.live && h("span", { class: "live-tag" }, "live"),
        now.fault && flag(now.fault), now.result ? short(now.result, 120) : now.live ? "" : "no result"),
      h("span", { class: "soft row-facts" }, about || now.game,
        now.turns === null ? "" : ` · ${count(now.turns, "turn")}`,
        !about && now.started ? " · " : "",
        !about && h("span", { class: "when" }, moment(now.started)),
        now.worker && " · on ", now.worker && agentName(now.worker)));
  };
  update(row);
  return { element, update };
}

/** @param {Row} row @param {string} [about] what it is, instead of its game */
export function matchCard(row, about) {
  return card(row, about).element;
}

const WALL_KEY = "referee-wall";

/** Whether matches are shown as boards. */
function isWall() {
  try {
    return localStorage.getItem(WALL_KEY) !== "0";
  } catch {
    return true;
  }
}

/** Buttons for boards or a list. @param {() => void} changed */
function wallButtons(changed) {
  const buttons = [["Boards", "1"], ["List", "0"]].map(([title, value]) => h("button", {
    type: "button", "data-wall": value ?? null,
    onclick: () => {
      try {
        localStorage.setItem(WALL_KEY, value ?? "1");
      } catch {
        // Nothing is stored in private windows.
      }
      show();
      changed();
    },
  }, title));
  const show = () => buttons.forEach((button) =>
    button.setAttribute("aria-pressed", String((button.dataset.wall === "1") === isWall())));
  show();
  return h("div", { class: "inline wall-buttons", role: "group", "aria-label": "Show matches as" }, buttons);
}

/** The cards of live matches, by file. @type {Map<string, ReturnType<typeof card>>} */
const liveCards = new Map();

/** Shows the live matches. @param {Row[]} live */
export function showLive(live) {
  byId("live").hidden = !live.length;
  const list = byId("live-list");
  list.classList.toggle("wall", isWall());
  if (!isWall()) {
    liveCards.clear();
    fill(list, live.map((row) => matchRow(row)));
    return;
  }
  for (const [file, { element }] of liveCards) {
    if (live.some((row) => row.file === file)) continue;
    element.remove();
    liveCards.delete(file);
  }
  for (const row of live) {
    const known = liveCards.get(row.file);
    const shown = known ?? card(row);
    shown.update(row);
    liveCards.set(row.file, shown);
    if (!known || !list.contains(shown.element)) list.append(shown.element);
  }
}

/** A button that stops a match of this server after a confirmation.
 * @param {string} file */
export function stopButton(file) {
  const problem = h("div", null);
  const stop = async () => {
    try {
      await post("/api/stop", { file });
      dialog.close();
    } catch (error) {
      fill(problem, errorMessage(error));
    }
  };
  const title = "Stop this match?";
  const dialog = h("dialog", { "aria-label": title, onclose: () => dialog.remove() },
    h("h2", null, title), h("p", null, "It will be void: there is no winner."), problem,
    h("div", { class: "inline" },
      h("button", { type: "button", class: "danger", onclick: stop }, "Stop the match"),
      h("button", { type: "button", onclick: () => dialog.close() }, "Continue the match")));
  const ask = () => {
    fill(problem);
    document.body.append(dialog);
    dialog.showModal();
  };
  return h("button", { type: "button", class: "stop danger", onclick: ask }, "Stop");
}

/** A list that is fetched page by page.
 * @param {string} path @param {() => Record<string, string|number|boolean|null>} query
 * @param {(row: any, isWall: boolean) => Node} make @param {() => string} none the text of an empty list */
export function paged(path, query, make, none) {
  let from = 0;
  let asked = 0;
  const list = h("ul", { class: "rows" });
  const where = h("span", { class: "soft", role: "status" });
  /** @param {string} text @param {number} by */
  const turn = (text, by) => h("button", { type: "button", onclick: () => {
    from = Math.max(0, from + by);
    load();
  } }, text);
  const [newer, older] = [turn("◀ Newer", -PAGE), turn("Older ▶", PAGE)];
  const load = async () => {
    const own = asked += 1;
    try {
      const { total, rows } = await get(path, { ...query(), from, count: PAGE });
      if (own !== asked) return;
      list.classList.toggle("wall", isWall() && rows.length > 0);
      const one = (/** @type {any} */ row) => make(row, isWall());
      fill(list, rows.length ? rows.map(one) : h("li", { class: "soft none" }, none()));
      pages.hidden = total <= PAGE;
      const last = Math.min(total, from + PAGE);
      fill(where, total ? `${from + 1} to ${last} of ${total.toLocaleString("en-GB")}` : "");
      newer.disabled = from === 0;
      older.disabled = last >= total;
    } catch (error) {
      if (own === asked) fill(list, h("li", null, errorMessage(error)));
    }
  };
  const again = () => {
    from = 0;
    return load();
  };
  const pages = h("div", { class: "inline pages" }, newer, where, older);
  const element = h("div", null, list, pages);
  return { element, tools: wallButtons(() => load()), load, again, soon: debounce(250, again) };
}

/** Games that have no result yet. @param {NextGame[]} games */
export function nextList(games) {
  const row = (/** @type {NextGame} */ { number, round, game, players: names }) => h("li", { class: "entry" },
    h("span", null, names.flatMap((name, seat) => [seat > 0 && " – ", agentName(name)])),
    h("span", { class: "soft" }, `#${number} · round ${round} · ${short(game, 60)}`));
  return h("ul", { class: "rows" }, games.length ? games.map(row) : h("li", { class: "soft none" }, "None is decided yet."));
}
