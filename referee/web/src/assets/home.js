// @ts-check
// The home page: live matches, contests, all matches, and a form to start one.

import { address, byId, count, errorMessage, fill, get, h, moment, short } from "./common.js";
import { matchCard, matchRow, paged, showLive } from "./rows.js";
import { fromHash, themeButton } from "./settings.js";
import { starting } from "./starting.js";

/** @typedef {import("./types.js").Overview} Overview */
/** @typedef {import("./types.js").ContestLine} ContestLine */

const AGAIN_MS = 2000;

/** @param {ContestLine} contest */
function contestRow(contest) {
  const done = `${contest.played} of ${count(contest.games, "game")}`;
  const href = address("/contest", { folder: contest.folder });
  return h("li", null, h("a", { class: "contest-row", href },
    h("span", { class: "contest-name" }, contest.name || contest.folder,
      h("span", { class: "contest-folder soft" }, contest.folder)),
    h("span", { class: "soft" }, contest.problem ? short(contest.problem, 120) : contest.format),
    h("progress", { max: Math.max(1, contest.games), value: contest.played, "aria-label": done }),
    h("span", { class: "row-facts soft" },
      done, contest.changed !== null && [h("br"), moment(contest.changed)]),
    contest.running && h("span", { class: "live-tag" }, "running")));
}

/** @param {Overview} overview */
function showLists(overview) {
  const { live, contests } = overview;
  showLive(live);
  byId("contests").hidden = !contests.length;
  fill(byId("contest-list"), contests.map(contestRow));
}

function transcripts() {
  const find = h("input", {
    type: "search", placeholder: "minimax wins hex", value: new URLSearchParams(location.search).get("find") ?? "",
    oninput: () => {
      history.replaceState(null, "", address("/", { find: find.value }));
      list.soon();
    },
  });
  const list = paged("/api/transcripts", () => ({ find: find.value }), (row, isWall) => (isWall ? matchCard(row) : matchRow(row)),
    () => (find.value ? "No matches found." : "No matches yet."));
  fill(byId("matches"),
    h("div", { class: "panel-head" }, h("h2", null, "Matches"), h("label", null, "Find ", find), list.tools),
    list.element);
  return list;
}

async function start() {
  const { settings } = fromHash(location.hash);
  fill(byId("tools"), h("a", { class: "back", href: "/tv" }, "TV"), themeButton(settings));
  const list = transcripts();
  let known = -1;
  let isBuilt = false;
  const refresh = async () => {
    try {
      /** @type {Overview} */
      const overview = await get("/api/overview");
      fill(byId("problem"));
      fill(byId("title"), overview.title);
      document.title = `${overview.title} · Referee`;
      showLists(overview);
      if (!isBuilt && overview.can_start) fill(byId("start"), starting(overview, !overview.transcripts));
      byId("start").hidden = !overview.can_start;
      isBuilt = true;
      if (overview.transcripts !== known) await list.load();
      known = overview.transcripts;
    } catch (error) {
      fill(byId("problem"), errorMessage(error));
    }
    setTimeout(refresh, AGAIN_MS);
  };
  await refresh();
}

await start();
