// @ts-check
// The versions that a team has handed in, with the steps of each.

import { byId, errorMessage, fill, get, h, moment, postAs, short } from "./common.js";

/** @typedef {import("./types.js").VersionData} VersionData */
/** @typedef {import("./types.js").StepData} StepData */

const MARKS = { waiting: "○", running: "…", done: "✓", failed: "✗", skipped: "–" };

/** @param {StepData} step */
function stepItem({ step, state, at, text }) {
  const words = state === "done" && text ? `${step}: ${short(text, 80)}` : step;
  const title = [state, at ? moment(at) : "", text ?? ""].filter(Boolean).join(" · ");
  return h("li", { class: `step-${state}`, title: short(title, 300) },
    h("span", { "aria-hidden": "true" }, `${MARKS[state]} `), words,
    h("span", { class: "unseen" }, ` (${state})`));
}

/** What became of it, in a few words. @param {VersionData} version */
function outcome({ player, why, taken_back: back, settled, waits_until: until }) {
  if (back) return "taken back";
  if (player) return `plays as ${short(player, 60)}`;
  if (why) return "doesn't play";
  if (until) return `waits its turn until ${moment(until)}`;
  return settled ? "" : "under way";
}

/** @param {() => string} token @param {() => Promise<boolean>} refresh */
export function versionList(token, refresh) {
  const problem = h("div", { role: "status" });
  const list = h("ul", { class: "rows" });
  const withdraw = h("button", { type: "button", class: "danger" }, "Withdraw all");
  fill(byId("versions"),
    h("div", { class: "panel-head" }, h("h2", null, "Versions"), withdraw), problem, list);

  /** @param {HTMLButtonElement} button @param {number} version @param {string} sure */
  const takeBack = async (button, version, sure) => {
    // A second press confirms it: no dialog takes the focus away.
    if (button.dataset["sure"] !== "1") {
      button.dataset["sure"] = "1";
      fill(button, sure);
      return;
    }
    button.disabled = true;
    try {
      await postAs("/api/team/back", { version }, token());
      fill(problem);
      await refresh();
    } catch (error) {
      fill(problem, errorMessage(error));
      button.disabled = false;
    }
  };
  withdraw.addEventListener("click", () =>
    takeBack(withdraw, 0, "Withdraw all versions? Press again"));

  /** @param {VersionData} version @param {boolean} isNewest */
  const item = (version, isNewest) => {
    const feedback = h("pre", { class: "feedback", tabindex: "0", "aria-label": "Feedback", hidden: true });
    const more = h("button", { type: "button", "aria-expanded": "false" }, "Feedback");
    more.addEventListener("click", async () => {
      feedback.hidden = !feedback.hidden;
      more.setAttribute("aria-expanded", String(!feedback.hidden));
      if (feedback.hidden || feedback.textContent) return;
      try {
        const { text } = await get("/api/team/version", { version: version.version });
        fill(feedback, text ?? "There is none yet.");
      } catch (error) {
        fill(feedback, errorMessage(error));
      }
    });
    const back = h("button", { type: "button" }, "Back to this one");
    back.addEventListener("click", () =>
      takeBack(back, version.version, "Take back all later ones? Press again"));
    const size = `${version.files > 1 ? `${version.files} files, ` : ""}${Math.ceil(version.bytes / 1024)} KiB`;
    const command = version.command &&
      [h("code", null, short(version.command, 120)), version.language && ` (${version.language})`];
    const mayGoBack = !isNewest && version.player && !version.taken_back;
    const wasChecked = version.steps.some(({ step, state }) => step === "checked" && state !== "waiting");
    return h("li", { class: "version" },
      h("div", { class: "version-head" }, h("strong", null, `Version ${version.version}`),
        h("span", null, outcome(version)),
        h("span", { class: "soft" }, moment(version.steps[0]?.at ?? ""), " · ", size),
        command && h("span", { class: "soft" }, command)),
      h("ol", { class: "steps" }, version.steps.map(stepItem)),
      version.why && !version.taken_back && h("p", { class: "why" }, short(version.why, 2000)),
      h("div", { class: "inline" }, wasChecked && more, mayGoBack && back),
      feedback);
  };
  /** @param {VersionData[]} versions */
  const show = (versions) => {
    withdraw.hidden = !versions.some(({ settled, player, taken_back: back }) => (player || !settled) && !back);
    withdraw.dataset["sure"] = "";
    withdraw.disabled = false;
    fill(withdraw, "Withdraw all");
    fill(list, versions.length
      ? versions.map((version, at) => item(version, at === 0))
      : h("li", { class: "soft none" }, "Nothing is handed in yet."));
  };
  return { show };
}
