// @ts-check
// The page that `replay export` writes: the match lies in the page, and there is no server.

import { byId } from "./common.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./types.js").Sheet} Sheet */

/** @type {Sheet} */
const ownSheet = JSON.parse(byId("sheet").textContent ?? "");
new Viewer(ownSheet, { lines: null, text: null, picture: null }).build(byId("viewer"));
