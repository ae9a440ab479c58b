// @ts-check
// The page that `replay export` writes: it contains the match and needs no server.

import { byId } from "./common.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./types.js").MatchData} MatchData */

/** @type {MatchData} */
const ownMatch = JSON.parse(byId("match-data").textContent ?? "");
new Viewer(ownMatch, { lines: null, text: null, position: null, picture: null }).build(byId("viewer"));
