// @ts-check
// A replay page of a published contest: it contains the match, packed.

import { byId, errorMessage, fill } from "./common.js";
import { Viewer } from "./viewer.js";

async function showReplay() {
  const packed = Uint8Array.from(atob(byId("match-data").textContent ?? ""), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  /** @type {import("./types.js").MatchData} */
  const match = await new Response(unpacked).json();
  new Viewer(match, { lines: null, text: null, position: null, picture: null }).build(byId("viewer"));
}

showReplay().catch((error) => {
  fill(byId("title"), "This match can't be shown");
  fill(byId("viewer"), errorMessage(error));
});
