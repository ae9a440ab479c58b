// @ts-check
// The page of an instructor: the teams, what waits and what failed, and everything that an instructor does.

import { address, agentName, byId, count, errorMessage, fill, get, h, moment, post, ServerError, short } from "./common.js";
import { acting, local, sent } from "./instructing.js";
import { nextList } from "./rows.js";
import { fromHash, themeButton } from "./settings.js";
import { dataTable } from "./workers.js";

/** @typedef {import("./types.js").InstructorPage} InstructorPage */
/** @typedef {import("./types.js").TeamLine} TeamLine */
/** @typedef {import("./types.js").Failures} Failures */

const AGAIN_MS = 2000;
const SECRET = /^#[0-9a-f]{32}$/;
/** @param {string} title */
const why = (title) => ({ name: "reason", title, required: true, maxlength: 300, wide: true });
const TIME = { type: "datetime-local" };

/** Exchanges the secret of the link for a cookie, and takes it out of the address. */
async function enter() {
  const { hash } = location;
  if (!SECRET.test(hash)) return;
  history.replaceState(null, "", location.pathname);
  await post("/api/instructor/enter", { secret: hash.slice(1) });
}

/** A link to a table of grades; why there is none is said. @param {string} text @param {string} href @param {Element} said */
function gradesLink(text, href, said) {
  const load = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const answer = await fetch(href, { cache: "no-store" });
      if (!answer.ok) {
        const { error, help } = await answer.json();
        throw new ServerError(error, help, answer.status);
      }
      fill(said);
      location.assign(href);
    } catch (error) {
      fill(said, errorMessage(error));
    }
  };
  return h("a", { class: "back", href, onclick: load }, text);
}

/** @param {TeamLine} team */
function state({ disqualified, player, settled, versions, why }) {
  if (disqualified) return h("span", { class: "failed" }, `disqualified: ${short(disqualified, 80)}`);
  if (!settled) return "under way";
  if (why) return h("span", { class: "warned", title: short(why, 300) }, player ? "last one doesn't play" : "doesn't play");
  if (player) return "plays";
  return versions ? "taken back" : "nothing yet";
}

/** @param {TeamLine[]} teams @param {(name: string) => void} choose */
function teamTable(teams, choose) {
  const heads = ["team", "id", "versions", "last upload", "state", "games", "faults", "rating", "until"];
  const isNumber = heads.map((head) => ["versions", "games", "faults", "rating"].includes(head));
  const rows = teams.map((team) => [
    h("button", { type: "button", class: "quiet", onclick: () => choose(team.name) }, agentName(team.name)),
    short(team.id, 40), String(team.versions), team.last ? moment(team.last) : "", state(team),
    String(team.games), String(team.faults), team.elo === null ? "" : team.elo.toFixed(0),
    team.until ? moment(team.until) : ""]);
  return dataTable("Teams", heads, isNumber, rows);
}

/** @param {string} title @param {Failures} failures @param {string} none */
function failures(title, { count: total, rows }, none) {
  return [h("h3", null, `${title} (${total})`), h("ul", { class: "rows" }, rows.length
    ? rows.map(({ game, cause, text, player }) => h("li", { class: "entry" }, h("span", null,
      h("span", { class: "flag fault" }, cause), ` game ${game} `, player && agentName(player)),
    h("span", { class: "soft" }, short(text, 300))))
    : h("li", { class: "soft none" }, none))];
}

/** What may be done with the whole course. @param {ReturnType<typeof acting>} acts */
function course({ form, send }) {
  const said = h("div", { role: "status", class: "said" });
  const pausing = form([why("Why games pause")], "Pause", ({ reason }) => ({ act: "pause", reason }), { said });
  const goOn = form([], "Go on", () => ({ act: "unpause" }), { said });
  const times = form([
    { name: "deadline", title: "Deadline", ...TIME },
    { name: "grace", title: "Grace, in minutes", type: "number", min: "0", value: "0" },
    { name: "freeze", title: "Freeze results at", ...TIME }], "Set the times",
  ({ deadline, grace, freeze }) => ({ act: "times", deadline: sent(deadline), grace: `${Number(grace) * 60}s`, freeze_at: sent(freeze) }),
  { said, keep: true });
  const now = h("button", { type: "button" }, "Freeze now");
  now.addEventListener("click", () => {
    const [deadline, grace] = times.inputs;
    send({ act: "times", deadline: sent(deadline?.value), grace: `${Number(grace?.value) * 60}s`,
      freeze_at: new Date().toISOString() }, said).then(() => { known = ""; });
  });
  times.element.append(now);
  const invite = form([
    { name: "name", title: "New team", required: true, wide: true }, { name: "id", title: "Id" },
    { name: "members", title: "Members, with ; between", wide: true }], "Invite",
  (values) => ({ act: "invite", ...values }), { said });
  const rerun = form([
    { name: "games", title: "Games by number", required: true, pattern: "[0-9 ,]+", placeholder: "17, 18" }, why("Why they are played again")], "Play again",
  ({ games, reason }) => ({ act: "rerun", games: (games ?? "").split(/[ ,]+/).filter(Boolean).map(Number), reason }), { said });
  fill(byId("course"), h("h2", null, "The course"),
    h("div", { class: "acts" }, pausing.element, goOn.element, times.element, invite.element, rerun.element), said,
    h("p", { class: "inline" }, h("a", { class: "back", href: "/api/instructor/archive", download: "" }, "Download everything"),
      gradesLink("Grades of the ladder", "/api/instructor/grades", said)));
  let known = "";
  return (/** @type {InstructorPage} */ page) => {
    pausing.element.hidden = page.paused;
    goOn.element.hidden = !page.paused;
    const given = [local(page.deadline), String(page.grace_ms / 60_000), local(page.freeze_at)];
    // What is being typed stays.
    if (known !== given.join() && !times.element.contains(document.activeElement)) {
      known = given.join();
      times.inputs.forEach((input, at) => { input.value = given[at] ?? ""; });
    }
  };
}

/** What may be done with a team. @param {ReturnType<typeof acting>} acts */
function oneTeam({ form }) {
  const said = h("div", { role: "status", class: "said" });
  const chosen = h("select", null);
  const name = () => chosen.value;
  const extend = form([{ name: "until", title: "Own deadline", ...TIME }], "Extend", ({ until }) =>
    ({ act: "extend", team: name(), until: sent(until) }), { said, keep: true });
  const renew = form([], "New link", () => ({ act: "renew", team: name() }), { said, sure: "The old one ends. Press again" });
  const out = form([why("Why it is disqualified")], "Disqualify", ({ reason }) => ({ act: "disqualify", team: name(), reason }),
    { said, sure: "Disqualify? Press again" });
  const back = form([], "Take the disqualification back", () => ({ act: "requalify", team: name() }), { said });
  const again = form([why("Why its games are played again")], "Play its games again", ({ reason }) =>
    ({ act: "rerun", player: teams.find((team) => team.name === name())?.player ?? name(), reason }), { said });
  /** @type {TeamLine[]} */
  let teams = [];
  const show = () => {
    const own = teams.find((team) => team.name === name());
    out.element.hidden = !!own?.disqualified;
    back.element.hidden = !own?.disqualified;
  };
  const fillUntil = () => {
    const [until] = extend.inputs;
    if (until) until.value = local(teams.find((team) => team.name === name())?.until ?? null);
  };
  chosen.addEventListener("change", () => {
    fill(said);
    for (const one of [renew, out]) one.calm();
    fillUntil();
    show();
  });
  fill(byId("team"), h("h2", null, "A team"), h("form", { class: "act" }, h("label", { class: "wide" }, "Team", chosen)),
    h("div", { class: "acts" }, extend.element, renew.element, out.element, back.element, again.element), said);
  return {
    /** @param {string} team */
    choose: (team) => {
      chosen.value = team;
      chosen.dispatchEvent(new Event("change"));
      chosen.focus();
    },
    /** @param {InstructorPage} page */
    update: (page) => {
      teams = page.teams;
      byId("team").hidden = !teams.length;
      if (chosen.options.length !== teams.length) {
        const before = chosen.value;
        fill(chosen, teams.map((team) => h("option", { value: team.name }, short(team.name, 60))));
        if (teams.some((team) => team.name === before)) chosen.value = before;
        if (chosen.value !== before) fillUntil();
      }
      show();
    },
  };
}

/** The final contest. @param {ReturnType<typeof acting>} acts */
function lastOne({ form }) {
  const said = h("div", { role: "status", class: "said" });
  const shown = h("div", null);
  const start = form([{ name: "rounds", title: "Rounds", type: "number", min: "1", max: "1000", value: "4", required: true }],
    "Start the final", ({ rounds }) => ({ act: "final", rounds: Number(rounds) }), { said, keep: true, sure: "Start it? Press again" });
  fill(byId("final"), h("h2", null, "Final"),
    h("p", { class: "soft" }, "A round robin of the last version of each team that plays. The ladder waits meanwhile."),
    start.element, said, shown);
  return (/** @type {InstructorPage} */ { final: last }) => {
    const isOpen = last !== null && last.outcome === null;
    start.press.disabled = isOpen;
    if (!last) return;
    const done = last.games === null ? "not begun" : `${last.played} of ${count(last.games, "game")} played`;
    const isNumber = last.head.map((_, at) => last.rows.every((row) => /^[-+−]?(\d[\d.,%±– ]*)?$/.test(row[at] ?? "")));
    fill(shown, h("h3", null, last.folder),
      h("p", null, isOpen && h("span", { class: "live-tag" }, "running"), done,
        h("progress", { max: Math.max(1, last.games ?? 1), value: last.played ?? 0, "aria-label": done })),
      last.outcome?.failed && h("p", { class: "failed" }, short(last.outcome.text, 600)),
      last.rows.length > 0 && dataTable("Standings of the final", last.head, isNumber,
        last.rows.map((row) => row.map((text) => short(text, 80)))),
      last.games !== null && h("p", null,
        gradesLink("Grades of the final", address("/api/instructor/grades", { of: last.folder }), said)));
  };
}

/** @param {InstructorPage} page */
function showLog({ log, changes }) {
  const done = log.map(({ at, by, text, order, outcome }) => h("li", { class: "entry" },
    h("span", null, short(text, 600)),
    order !== undefined && h("span", { class: outcome?.failed ? "failed" : "soft" },
      outcome ? `${outcome.failed ? "failed" : "done"}: ${short(outcome.text, 600)}` : "waits for the games that are being played"),
    h("span", { class: "soft" }, `${moment(at)}, ${short(by, 80)}`)));
  const changed = changes.map(({ at, text, reason }) => h("li", { class: "entry" },
    h("span", null, short(text, 300)), h("span", { class: "soft" }, `${moment(at)}: ${short(reason, 300)}`)));
  const none = () => h("li", { class: "soft none" }, "Nothing yet.");
  fill(byId("log"), h("h2", null, "What was done"),
    h("h3", null, "By the instructor"), h("ul", { class: "rows" }, done.length ? done : none()),
    h("h3", null, "Changes of the contest"), h("ul", { class: "rows" }, changed.length ? changed : none()));
}

async function start() {
  const { settings } = fromHash("");
  fill(byId("title"), "Instructor");
  fill(byId("tools"), h("a", { class: "back", href: "/contest" }, "Standings"), themeButton(settings));
  try {
    await enter();
    show(await get("/api/instructor"));
  } catch (error) {
    fill(byId("problem"), errorMessage(error));
  }
}

/** @param {InstructorPage} first */
function show(first) {
  let page = first;
  const refresh = async () => {
    try {
      page = await get("/api/instructor");
      fill(byId("problem"));
      update();
    } catch (error) {
      fill(byId("problem"), errorMessage(error));
      if (error instanceof ServerError && error.status === 401) return false;
    }
    return true;
  };
  const acts = acting(() => page.token, refresh);
  const [updateCourse, team, updateFinal] = [course(acts), oneTeam(acts), lastOne(acts)];
  /** What each part shows; a part that is the same keeps its focus. @type {Map<string, string>} */
  const known = new Map();
  /** @param {string} part @param {unknown} what @param {() => void} make */
  const changed = (part, what, make) => {
    const now = JSON.stringify(what);
    if (known.get(part) !== now) make();
    known.set(part, now);
  };
  const update = () => {
    document.title = `Instructor · ${short(page.name, 60)} · Referee`;
    fill(byId("title"), short(page.name, 120));
    const isFinal = page.final !== null && page.final.outcome === null;
    fill(byId("result"), page.paused ? h("span", { class: "warned" }, "paused") : h("span", { class: "live-tag" }, isFinal ? "final" : "playing"),
      ` ${count(page.played, "game")} played · ${count(page.teams.length, "team")}`);
    updateCourse(page);
    team.update(page);
    changed("teams", page.teams, () => fill(byId("teams"), h("h2", null, "Teams"), page.teams.length
      ? teamTable(page.teams, team.choose)
      : h("p", { class: "soft none" }, "There are no teams yet: invite one.")));
    changed("queue", [page.queue, page.next], () => fill(byId("queue"), h("h2", null, `Queue (${page.queue.length})`),
      h("ul", { class: "rows" }, page.queue.length
        ? page.queue.map(({ team: name, version, step, state: how, since }) => h("li", { class: "entry" },
          h("span", null, agentName(name), ` version ${version}: `, how === "running" ? "being " : "waits to be ", step === "playing" ? "added" : step),
          h("span", { class: "soft" }, `since ${moment(since)}`)))
        : h("li", { class: "soft none" }, "Everything that was handed in is taken in.")),
      h("h3", null, "Next games"), nextList(page.next)));
    changed("failures", [page.machine, page.faults], () => fill(byId("failures"), h("h2", null, "Void games"),
      failures("By the machine or the rules", page.machine, "None."), failures("By agents", page.faults, "None.")));
    changed("final", page.final, () => updateFinal(page));
    changed("log", [page.log, page.changes], () => showLog(page));
  };
  for (const id of ["course", "teams", "queue", "failures", "final", "log"]) byId(id).hidden = false;
  update();
  const again = async () => {
    if (await refresh()) setTimeout(again, AGAIN_MS);
  };
  setTimeout(again, AGAIN_MS);
}

await start();
