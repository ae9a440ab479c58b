// @ts-check
// The page of one match: fetches it, shows it, follows it, and lets a person play in it.

import { address, byId, fill, get, h, trouble } from "./common.js";
import { Human } from "./human.js";
import { follow } from "./live.js";
import { stopButton } from "./rows.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./types.js").Sheet} Sheet */
/** @typedef {import("./types.js").Source} Source */

/** @param {string} file @returns {Source} */
function fromServer(file) {
  return {
    lines: async (ply) => (await get("/api/lines", { file, ply })).lines,
    text: async (ply) => (await get("/api/text", { file, ply })).text,
    picture: (form, ply) => address("/api/picture", { file, ply, form }),
  };
}

/** The way back to the contest that a game belongs to. @param {string} file */
function contestOf(file) {
  const at = file.lastIndexOf("/games/");
  if (at < 0) return null;
  const href = address("/contest", { folder: file.slice(0, at) });
  return h("a", { class: "back", href }, "To the contest");
}

async function start() {
  const root = byId("viewer");
  const file = new URLSearchParams(location.search).get("file") ?? "";
  try {
    /** @type {Sheet} */
    const sheet = await get("/api/match", { file });
    const viewer = new Viewer(sheet, fromServer(file));
    viewer.build(root);
    const human = new Human(viewer, file);
    const to = contestOf(file);
    if (to) byId("tools").prepend(to);
    const stop = sheet.own ? stopButton(file) : null;
    if (stop) byId("tools").prepend(stop);
    const showResult = () => {
      human.look();
      if (!viewer.store.running) stop?.remove();
    };
    follow(viewer, file, showResult);
    showResult();
  } catch (error) {
    fill(byId("title"), "This match can't be shown");
    fill(root, trouble(error));
  }
}

await start();
