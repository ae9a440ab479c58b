// @ts-check
// The page of a match: shows it, follows it, and lets a person play.

import { address, byId, errorMessage, fill, get, h, ServerError } from "./common.js";
import { Human } from "./human.js";
import { follow } from "./live.js";
import { RerunPanel } from "./rerun.js";
import { stopButton } from "./rows.js";
import { fromHash } from "./settings.js";
import { Viewer } from "./viewer.js";
import { WhatIf } from "./whatif.js";

/** @typedef {import("./types.js").MatchData} MatchData */
/** @typedef {import("./types.js").Source} Source */

/** How long to wait before asking again whether a match has started. */
const AGAIN_MS = 2000;

/** @param {string} file @param {string|null} seen_by @param {boolean} isPublic @returns {Source} */
function fromServer(file, seen_by, isPublic) {
  return {
    lines: isPublic ? null : async (ply) => (await get("/api/lines", { file, ply, seen_by })).lines,
    text: async (ply) => (await get("/api/text", { file, ply, seen_by })).text,
    position: async (ply) => (await get("/api/position", { file, ply })).position,
    picture: (form, ply) => address("/api/picture", { file, ply, form, seen_by }),
  };
}

/** Chooses whose view is shown of a game with hidden information.
 * @param {MatchData} match */
function viewChoice(match) {
  const select = h("select", { id: "seen-by" }, h("option", { value: "" }, "everything"),
    ...match.seats.map(({ seat, name, colour }) => h("option", { value: String(seat) }, `what ${name} (${colour}) saw`)));
  select.value = String(match.seen_by ?? "");
  select.addEventListener("change", () => {
    location.search = address("", { file: match.file, seen_by: select.value });
  });
  return h("label", { class: "seen-by" }, "Show ", select);
}

/** A link to the contest of a game. @param {string} file */
function contestOf(file) {
  const at = file.startsWith("games/") ? 0 : file.lastIndexOf("/games/");
  if (at < 0) return null;
  const href = address("/contest", { folder: file.slice(0, at) });
  return h("a", { class: "back", href }, "Back to the contest");
}

/** A match, once its agents are ready. @param {string} file @param {string|null} seen_by @returns {Promise<MatchData>} */
async function started(file, seen_by) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await get("/api/match", { file, seen_by });
    } catch (error) {
      // A proxy may not wait as long as the server.
      if (!(error instanceof ServerError) || ![409, 502, 504].includes(error.status)) throw error;
      if (tries === 0) {
        fill(byId("title"), "Waiting for the match to start");
        fill(byId("viewer"), errorMessage(error));
      }
      await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
    }
  }
}

async function start() {
  const root = byId("viewer");
  const asked = new URLSearchParams(location.search);
  const [file, seen_by] = [asked.get("file") ?? "", asked.get("seen_by")];
  try {
    const match = await started(file, seen_by);
    const viewer = new Viewer(match, fromServer(file, seen_by, Boolean(match.public)));
    viewer.build(root);
    const { tried } = fromHash(location.hash);
    const human = new Human(viewer, file);
    if (match.hidden) byId("tools").append(viewChoice(match));
    if (match.seen_by !== undefined) {
      fill(byId("what-if"), h("p", { class: "soft" }, "Other actions can be tried where everything is shown."));
    } else if (!match.public) {
      const whatIf = new WhatIf(viewer, file);
      whatIf.show();
      get("/api/overview").then((/** @type {import("./types.js").Overview} */ overview) => {
        whatIf.offer(overview);
        if (overview.can_play) new RerunPanel(viewer, file).show();
      }).catch(() => {});
      whatIf.restore(tried);
    }
    const to = contestOf(file);
    if (to) byId("tools").prepend(to);
    const stop = match.own ? stopButton(file) : null;
    if (stop) byId("tools").prepend(stop);
    const showResult = () => {
      human.check();
      if (!viewer.store.running) stop?.remove();
    };
    follow(viewer, { file, seen_by }, showResult);
    showResult();
  } catch (error) {
    fill(byId("title"), "This match can't be shown");
    fill(root, errorMessage(error));
  }
}

await start();
