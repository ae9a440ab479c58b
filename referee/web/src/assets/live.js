// @ts-check
// Follows a live match, and reconnects after a lost connection.

import { address, fill, h } from "./common.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").MatchUpdate} MatchUpdate */

const [WAIT_LEAST_MS, WAIT_MOST_MS] = [500, 10000];

/** @param {Viewer} viewer @param {{file: string, seen_by: string|null}} shown @param {(update: MatchUpdate) => void} onUpdate */
export function follow(viewer, shown, onUpdate) {
  const note = h("p", { class: "connection", role: "status", hidden: true });
  document.body.append(note);
  let wait = WAIT_LEAST_MS;
  const lost = () => {
    fill(note, "Connection lost; reconnecting.");
    note.hidden = false;
    setTimeout(open, wait);
    wait = Math.min(WAIT_MOST_MS, wait * 2);
  };
  const { started } = viewer.store.match;
  const open = () => {
    // The browser's own retry stops at a response that is not a stream; this one doesn't.
    const stream = new EventSource(address("/api/follow", { ...shown, started, line: viewer.store.line }));
    stream.addEventListener("open", () => {
      wait = WAIT_LEAST_MS;
      note.hidden = true;
    });
    stream.addEventListener("plies", (event) => {
      /** @type {MatchUpdate} */
      const update = JSON.parse(event.data);
      viewer.take(update);
      onUpdate(update);
      if (!viewer.store.running) stream.close();
    });
    // The file has another match now: the same game, played again.
    stream.addEventListener("replaced", () => location.reload());
    stream.addEventListener("end", () => stream.close());
    stream.addEventListener("error", () => {
      stream.close();
      if (viewer.store.running) lost();
    });
  };
  if (viewer.store.running) open();
}
