// @ts-check
// The page of a contest: standings, which are refreshed while it runs, and games.

import { address, agentName, byId, count, errorMessage, fill, get, h, short } from "./common.js";
import { flag, matchCard, matchLink, paged, players, showLive, TO_FAULT } from "./rows.js";
import { fromHash, themeButton } from "./settings.js";
import { dataTable, workerTable } from "./workers.js";

/** @typedef {import("./types.js").Contest} Contest */
/** @typedef {import("./types.js").ContestRow} ContestRow */

const AGAIN_MS = 2000;
/** The columns with names. */
const NAMES = ["player", "agent"];
const folder = new URLSearchParams(location.search).get("folder") ?? "";

/** @param {Contest} contest */
function standings(contest) {
  const isNumber = contest.head.map((_, at) =>
    contest.rows.every((row) => /^[-+−]?(\d[\d.,%±– ]*)?$/.test(row[at] ?? "")));
  const rows = contest.rows.map((row) => row.map((text, at) =>
    (NAMES.includes(contest.head[at] ?? "") ? agentName(text) : short(text, 80))));
  return dataTable("Standings", contest.head, isNumber, rows);
}

/** What each player got against each other. @param {Contest} contest */
function crossTable({ cross, played }) {
  if (!cross || !played) return null;
  const isNumber = cross.head.map((_, at) => at !== 1);
  const rows = cross.rows.map((row) => row.map((text, at) => (at === 1 ? agentName(text) : text)));
  return h("details", null, h("summary", null, "Cross table"),
    h("p", { class: "soft" }, "Points of the row's player against the column's, in percent."),
    dataTable("Cross table", cross.head, isNumber, rows));
}

/** Remarks about the standings. @param {Contest} contest */
function notes({ notes }) {
  if (!notes.length) return null;
  return h("details", null, h("summary", null, "Notes"),
    notes.map((note) => h("p", { class: "soft" }, note)));
}

/** @param {Contest} contest */
function progress(contest) {
  const done = `${contest.played} of ${count(contest.games, "game")} played`;
  const parts = [contest.format, done];
  if (contest.void) parts.push(`${contest.void} void`);
  return [contest.running && h("span", { class: "live-tag" }, "running"), " ", parts.join(" · "),
    h("progress", { max: Math.max(1, contest.games), value: contest.played, "aria-label": done })];
}

/** A game, with a link to its first fault or its end.
 * @param {ContestRow} row @param {boolean} isWall */
function gameRow(row, isWall) {
  if (isWall) return matchCard(row, `#${row.number} · round ${row.round}`);
  const hash = row.faults.length ? TO_FAULT : "";
  const faults = row.faults.map(({ seat, kind, text }) => h("span", { class: "row-fault" },
    flag(kind), " ", agentName(row.names[seat] ?? ""),
    `: ${short(text ?? "", 160)}`));
  return h("li", null, h("a", { class: "match-row", href: matchLink(row.file, hash) },
    h("span", { class: "row-game" }, `#${row.number}`),
    players(row),
    h("span", { class: "row-result" }, row.live && h("span", { class: "live-tag" }, "live"), " ",
      row.result ? short(row.result, 120) : "no result", faults),
    h("span", { class: "row-facts soft" }, `round ${row.round}`,
      row.turns === null ? "" : ` · ${count(row.turns, "turn")}`)));
}

function games() {
  const all = () => h("option", { value: "" }, "all agents");
  const agent = h("select", { onchange: () => list.again() }, all());
  const box = (/** @type {string} */ text) => {
    const input = h("input", { type: "checkbox", onchange: () => list.again() });
    return { input, label: h("label", { class: "check" }, input, text) };
  };
  const [faults, lost] = [box("with faults"), box("lost by this agent")];
  lost.input.disabled = true;
  // The filters are in the address; the agent is set when the names are known.
  const given = new URLSearchParams(location.search);
  let asked = given.get("agent") ?? "";
  faults.input.checked = given.has("faults");
  lost.input.checked = given.has("lost");
  agent.addEventListener("change", () => {
    lost.input.disabled = !agent.value;
    if (!agent.value) lost.input.checked = false;
  });
  const query = () => ({
    folder,
    agent: agent.value,
    faults: faults.input.checked || null,
    lost: lost.input.checked || null,
  });
  const remember = () => history.replaceState(null, "", address(location.pathname, query()));
  for (const input of [agent, faults.input, lost.input]) {
    input.addEventListener("change", remember);
  }
  const list = paged("/api/contest/games", query, gameRow, () => "No games match.");
  fill(byId("games"),
    h("div", { class: "panel-head" }, h("h2", null, "Games"),
      h("div", { class: "inline" }, h("label", null, "Agent ", agent), lost.label, faults.label, list.tools)),
    list.element);
  /** @param {string[]} names */
  const setAgents = (names) => {
    if (agent.options.length === names.length + 1) return;
    const chosen = agent.value;
    fill(agent, all(), names.map((name) => h("option", { value: name }, short(name, 60))));
    agent.value = names.includes(chosen || asked) ? chosen || asked : "";
    asked = "";
    lost.input.disabled = !agent.value;
    if (!agent.value) lost.input.checked = false;
  };
  return { list, setAgents };
}

/** The live matches and the workers, which change all the time.
 * @param {Contest} contest */
function showPresent({ live, workers }) {
  showLive(live);
  byId("workers").hidden = !workers.length;
  fill(byId("workers"), h("div", { class: "panel-head" }, h("h2", null, "Workers"),
    h("span", { class: "soft" }, "speed: thousand positions per second and core")),
    workerTable(workers));
}

async function start() {
  const { settings } = fromHash(location.hash);
  fill(byId("tools"), h("a", { class: "back", href: address("/tv", { folder }) }, "TV"), themeButton(settings));
  const { list, setAgents } = games();
  let known = "";
  const refresh = async () => {
    let again = true;
    try {
      /** @type {Contest} */
      const contest = await get("/api/contest", { folder });
      showPresent(contest);
      const now = JSON.stringify({ ...contest, live: null, workers: null });
      if (now !== known) {
        known = now;
        document.title = `${short(contest.name, 60)} · Referee`;
        fill(byId("title"), short(contest.name, 120));
        fill(byId("result"), progress(contest));
        const report = address("/files", { file: `${folder}/report.html` });
        fill(byId("standings"),
          h("div", { class: "panel-head" }, h("h2", null, "Standings"),
            h("span", { class: "inline" },
              contest.last && h("a", { href: matchLink(contest.last, "#ply=0&pane=whatif") }, "Openings"),
              contest.public ? h("a", { href: "/team" }, "Your team") : h("a", { href: report }, "Full report"))),
          standings(contest), crossTable(contest), notes(contest));
        setAgents(contest.players);
        await list.load();
      }
      again = contest.running;
    } catch (error) {
      fill(byId("standings"), errorMessage(error));
    }
    if (again) setTimeout(refresh, AGAIN_MS);
  };
  await refresh();
}

await start();
