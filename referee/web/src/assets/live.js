// @ts-check
// Following a match that is being played: what comes is taken in, a lost connection is taken up
// where it broke.

import { address, fill, h } from "./common.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").News} News */

const [WAIT_LEAST_MS, WAIT_MOST_MS] = [500, 10000];

/** @param {Viewer} viewer @param {string} file @param {(news: News) => void} onNews */
export function follow(viewer, file, onNews) {
  const note = h("p", { class: "connection", role: "status", hidden: true });
  viewer.slot?.before(note);
  let wait = WAIT_LEAST_MS;
  const lost = () => {
    fill(note, "The connection is lost; reconnecting.");
    note.hidden = false;
    setTimeout(open, wait);
    wait = Math.min(WAIT_MOST_MS, wait * 2);
  };
  const open = () => {
    // The browser's own retry would give up at an answer that isn't a stream; this one never does.
    const stream = new EventSource(address("/api/follow", { file, line: viewer.store.line }));
    stream.addEventListener("open", () => {
      wait = WAIT_LEAST_MS;
      note.hidden = true;
    });
    stream.addEventListener("plies", (event) => {
      /** @type {News} */
      const news = JSON.parse(event.data);
      viewer.take(news);
      onNews(news);
      if (!viewer.store.running) stream.close();
    });
    // Another match has the file now: the same game, played again.
    stream.addEventListener("anew", () => location.reload());
    stream.addEventListener("end", () => stream.close());
    stream.addEventListener("error", () => {
      stream.close();
      if (viewer.store.running) lost();
    });
  };
  if (viewer.store.running) open();
}
