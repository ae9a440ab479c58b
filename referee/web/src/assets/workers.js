// @ts-check
// The workers of a contest on many machines, and tables.

import { agentName, count, h, short } from "./common.js";

/** @typedef {import("./types.js").Worker} Worker */

/** The columns, and whether they contain numbers. @type {[string, boolean][]} */
const COLUMNS = [["worker", false], ["busy", true], ["played", true], ["sandbox", false],
  ["last seen", false], ["state", false]];

/** The time since the worker was last seen. @param {number|null} seconds */
function silence(seconds) {
  if (seconds === null) return "";
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min ago`
    : `${count(Math.floor(seconds / 3600), "hour")} ago`;
}

/** @param {Worker} worker */
function cells({ name, busy, slots, played, sandbox, silent_s: seconds, state }) {
  return [agentName(name), `${busy} of ${slots}`, played.toLocaleString("en-GB"),
    short(sandbox, 40), silence(seconds), short(state, 200)];
}

/** @param {Worker[]} workers */
export function workerTable(workers) {
  const isNumber = COLUMNS.map(([, number]) => number);
  return dataTable("Workers", COLUMNS.map(([text]) => text), isNumber, workers.map(cells));
}

/** A table in a box that scrolls; numbers are aligned to the right.
 * @param {string} label @param {string[]} heads @param {boolean[]} isNumber
 * @param {(Node|string)[][]} rows */
export function dataTable(label, heads, isNumber, rows) {
  const kind = (/** @type {number} */ at) => (isNumber[at] ? "number" : null);
  const head = heads.map((text, at) => h("th", { scope: "col", class: kind(at) }, text));
  const body = rows.map((row) =>
    h("tr", null, row.map((cell, at) => h("td", { class: kind(at) }, cell))));
  return h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": label },
    h("table", null, h("thead", null, h("tr", null, head)), h("tbody", null, body)));
}
