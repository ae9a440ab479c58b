// @ts-check
// The page of a team: hands in, shows what becomes of each version, and the games.

import { agentName, byId, count, errorMessage, fill, get, h, moment, post, ServerError, short } from "./common.js";
import { handIn } from "./handing.js";
import { flag, matchCard, matchLink, nextList, paged, players, TO_FAULT } from "./rows.js";
import { fromHash, themeButton } from "./settings.js";
import { versionList } from "./versions.js";

/** @typedef {import("./types.js").TeamPage} TeamPage */
/** @typedef {import("./types.js").ContestRow} ContestRow */

const AGAIN_MS = 2000;
/** What follows the # in a team's link. */
const SECRET = /^#[0-9a-f]{32}$/;

/** Exchanges the secret of a link for a cookie, and takes it out of the address. */
async function enter() {
  const { hash } = location;
  if (!SECRET.test(hash)) return;
  // Neither the history nor a copied address has it.
  history.replaceState(null, "", location.pathname);
  await post("/api/team/enter", { secret: hash.slice(1) });
}

/** @param {ContestRow} row @param {string} own @param {boolean} isWall */
function gameRow(row, own, isWall) {
  if (isWall) return matchCard(row, `#${row.number} · round ${row.round}`);
  const lost = row.faults.filter(({ seat }) => row.names[seat] === own);
  const faults = lost.map(({ kind, text }) => h("span", { class: "row-fault" },
    flag(kind), " ", short(text ?? "", 200)));
  return h("li", null, h("a", { class: "match-row", href: matchLink(row.file, faults.length ? TO_FAULT : "") },
    h("span", { class: "row-game" }, `#${row.number}`),
    players(row),
    h("span", { class: "row-result" }, row.result ? short(row.result, 120) : "no result", faults),
    h("span", { class: "row-facts soft" }, row.turns === null ? "" : count(row.turns, "turn"))));
}

/** The games of the team's versions. */
function games() {
  const chosen = h("select", { onchange: () => list.again() });
  const lost = h("input", { type: "checkbox", onchange: () => list.again() });
  const query = () => ({ folder: "", agent: chosen.value, lost: lost.checked || null });
  const list = paged("/api/contest/games", query, (row, isWall) => gameRow(row, chosen.value, isWall), () => "No games yet.");
  fill(byId("games"),
    h("div", { class: "panel-head" }, h("h2", null, "Games"),
      h("div", { class: "inline" }, h("label", null, "Version ", chosen),
        h("label", { class: "check" }, lost, "lost"), list.tools)),
    list.element);
  let played = -1;
  /** Shows the games of these players; a list without new games keeps its focus. @param {string[]} names */
  return async (names) => {
    byId("games").hidden = !names.length;
    if (!names.length) return;
    if (chosen.options.length !== names.length) {
      fill(chosen, names.map((name) => h("option", { value: name }, short(name, 60))));
      played = -1;
    }
    const { total } = await get("/api/contest/games", { folder: "", agent: chosen.value, count: 1 });
    if (total !== played) await list.load();
    played = total;
  };
}

/** @param {TeamPage} page */
function until(page) {
  if (page.refused) {
    const again = page.again ? ` Try again at ${moment(page.again)}.` : "";
    return `You can't hand in now: ${page.refused}.${again}`;
  }
  return page.closes ? `You can hand in until ${moment(page.closes)}.` : "You can hand in at any time.";
}

async function start() {
  const { settings } = fromHash("");
  fill(byId("title"), "Your team");
  try {
    await enter();
    const page = await get("/api/team");
    fill(byId("tools"), h("a", { class: "back", href: "/contest" }, "Standings"), themeButton(settings));
    show(page);
  } catch (error) {
    fill(byId("tools"), h("a", { class: "back", href: "/contest" }, "Standings"), themeButton(settings));
    fill(byId("problem"), errorMessage(error));
  }
}

/** @param {TeamPage} first */
function show(first) {
  let page = first;
  let known = "";
  document.title = `${short(page.team, 60)} · Referee`;
  fill(byId("title"), agentName(page.team));
  const showGames = games();
  const acting = () => page.token;
  const refresh = async () => {
    try {
      page = await get("/api/team");
      fill(byId("problem"));
      await update();
    } catch (error) {
      fill(byId("problem"), errorMessage(error));
      if (error instanceof ServerError && error.status === 401) return false;
    }
    return true;
  };
  const list = versionList(acting, refresh);
  const upload = handIn(page.limits, acting, refresh);
  const update = async () => {
    fill(byId("result"), until(page));
    upload.show(page.refused === null);
    // A list that is the same keeps its focus.
    const now = JSON.stringify(page.versions);
    if (now !== known) list.show(page.versions);
    known = now;
    const next = page.next ?? [];
    byId("next").hidden = !next.length;
    fill(byId("next"), h("h2", null, "Next games"), nextList(next));
    await showGames(page.versions.flatMap(({ player }) => (player ? [player] : [])));
  };
  for (const id of ["hand-in", "versions"]) byId(id).hidden = false;
  const again = async () => {
    if (await refresh()) setTimeout(again, AGAIN_MS);
  };
  again();
}

await start();
