// @ts-check
// The page of a team: hands in, shows what becomes of each version, and the games.

import { agentName, byId, count, errorMessage, fill, get, h, moment, post, ServerError, short } from "./common.js";
import { handIn } from "./handing.js";
import { flag, matchCard, matchLink, nextList, paged, players, TO_FAULT } from "./rows.js";
import { fromHash, themeButton } from "./settings.js";
import { versionList } from "./versions.js";

/** @typedef {import("./types.js").TeamPage} TeamPage */
/** @typedef {import("./types.js").ContestRow} ContestRow */
/** @typedef {import("./types.js").TeamRating} TeamRating */

const AGAIN_MS = 2000;
/** The server fits ratings, so they are asked for less often. */
const RATINGS_MS = 10_000;
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

/** @param {number} value */
function elo(value) {
  const text = Math.abs(value).toFixed(1);
  return text === "0.0" ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** @param {{elo: number, low: number|null, high: number|null}} rating */
function withInterval({ elo: own, low, high }) {
  const ends = [low === null ? "" : `from ${elo(low)}`, high === null ? "" : `to ${elo(high)}`].filter(Boolean);
  return `${elo(own)}${ends.length ? `, 95 % interval ${ends.join(" ")}` : ""}`;
}

/** @param {TeamRating} rating */
function inWords(rating) {
  return `${short(rating.player, 60)}: Elo ${withInterval(rating)}, ${count(rating.games, "game")}`;
}

/** The same as the picture. @param {TeamRating[]} ratings */
function pictureInWords(ratings) {
  const lines = ratings.map((rating) => {
    const first = rating.history[0];
    return inWords(rating) + (first ? `; after ${count(first.games, "game")} of the contest ${withInterval(first)}` : "");
  });
  return `Ratings with intervals, and over games. ${lines.join(". ")}.`;
}

/** The ratings of the team's versions. */
function ratings() {
  const now = h("p");
  const picture = h("img", null);
  fill(byId("ratings"), h("h2", null, "Rating"), now,
    h("div", { class: "rating-picture table-scroll", tabindex: "0", role: "region", "aria-label": "Ratings over games" }, picture));
  let due = 0;
  let known = "";
  return async () => {
    if (Date.now() < due) return;
    due = Date.now() + RATINGS_MS;
    const { ratings: own, picture: svg } = await get("/api/team/ratings");
    byId("ratings").hidden = !svg;
    if (!svg || svg === known) return;
    known = svg;
    fill(now, inWords(own[0]));
    picture.alt = pictureInWords(own);
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
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
  const showRatings = ratings();
  const acting = () => page.token;
  const refresh = async () => {
    try {
      const now = await get("/api/team");
      if (now.team !== first.team) {
        // What is done here would be done for that team.
        for (const id of ["hand-in", "versions"]) byId(id).hidden = true;
        fill(byId("problem"), h("p", { class: "error" }, `The link of another team, ${short(now.team, 60)}, was opened in this `
          + "browser. ", h("a", { href: location.pathname }, "Go to its page"), ", or open your team's link again."));
        return false;
      }
      page = now;
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
    await showRatings();
  };
  for (const id of ["hand-in", "versions"]) byId(id).hidden = false;
  const again = async () => {
    if (await refresh()) setTimeout(again, AGAIN_MS);
  };
  again();
}

await start();
