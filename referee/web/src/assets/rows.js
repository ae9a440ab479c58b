// @ts-check
// Lists of matches, for the home page and contests.

import { address, agentName, byId, count, errorMessage, fill, get, h, post } from "./common.js";
import { debounce, moment, short } from "./common.js";
import { badge } from "./board.js";
import { RESIGNED } from "./store.js";

/** @typedef {import("./types.js").Row} Row */

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

/** Shows the live matches. @param {Row[]} live */
export function showLive(live) {
  byId("live").hidden = !live.length;
  fill(byId("live-list"), live.map((row) => matchRow(row)));
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
 * @param {(row: any) => Node} make @param {() => string} none the text of an empty list */
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
      fill(list, rows.length ? rows.map(make) : h("li", { class: "soft none" }, none()));
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
  const element = h("div", null, list, h("div", { class: "inline pages" }, newer, where, older));
  return { element, load, again, soon: debounce(250, again) };
}
