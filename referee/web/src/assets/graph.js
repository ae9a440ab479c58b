// @ts-check
// The scores that the agents reported and the time that they took, over the match.

import { agentName, fill, h, s } from "./common.js";
import { badge, painted, safe } from "./board.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {{ply: number, score: number}} Point */

const [WIDTH, HEIGHT, EDGE] = [600, 120, 8];
/** Above this height are the scores, below it the times. */
const FLOOR = 92;
/** A scale leaves out the highest scores if they are this many times as high as nine of ten others. */
const OUTLIER = 3;

/** @param {Viewer} viewer */
export function graph(viewer) {
  const svg = s("svg", {
    class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const now = h("ul", { class: "graph-now" });
  const table = h("div", { class: "graph-table" });
  const details = h("details", null, h("summary", null, "Scores as a table"), table);
  const element = h("section", { class: "pane", "aria-label": "Scores" },
    h("div", { class: "panel-head" }, h("h2", null, "Reported scores, and time per ply")),
    h("div", { class: "graph-frame" }, svg), now, details);
  const cursor = s("line", { class: "graph-cursor", y1: 0, y2: HEIGHT });
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * WIDTH - EDGE) / (WIDTH - 2 * EDGE);
    viewer.player.jump(Math.round(share * viewer.store.last));
  });
  table.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("button") : null;
    if (target) viewer.player.jump(Number(target.dataset.ply));
  });
  let drawn = -1;
  let version = -1;
  /** @type {Point[][]} */
  let scores = [];
  details.addEventListener("toggle", () => details.open && fill(table, rows(viewer, scores)));
  const isEmpty = () => viewer.store.last < 2;
  const show = () => {
    if (version !== viewer.version) {
      version = viewer.version;
      scores = viewer.store.scores();
      if (!isEmpty()) draw(viewer, svg, cursor, scores);
      if (details.open) fill(table, rows(viewer, scores));
      drawn = -1;
    }
    if (isEmpty() || drawn === viewer.player.ply) return;
    drawn = viewer.player.ply;
    const x = across(viewer, drawn);
    cursor.setAttribute("x1", String(x));
    cursor.setAttribute("x2", String(x));
    fill(now, scores.map((points, seat) => latest(viewer, points, seat)));
  };
  return { element, show, isEmpty };
}

/** @param {Viewer} viewer @param {number} ply */
function across(viewer, ply) {
  return EDGE + (ply / Math.max(1, viewer.store.last)) * (WIDTH - 2 * EDGE);
}

/** The highest score of a scale: outliers, such as the score of a won position, are drawn at its end.
 * @param {Point[]} points */
function limit(points) {
  const sorted = points.map(({ score }) => Math.abs(score)).sort((a, b) => a - b);
  const [most, usual] = [sorted.at(-1) ?? 0, sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 0];
  return Math.max(most > OUTLIER * usual && usual > 0 ? 1.2 * usual : most, 1e-9);
}

/** Draws the lines. Each seat has its own scale, since its unit is its own; zero is the same for all.
 * @param {Viewer} viewer @param {SVGSVGElement} svg @param {SVGLineElement} cursor
 * @param {Point[][]} scores */
function draw(viewer, svg, cursor, scores) {
  const frame = viewer.frame();
  const lines = scores.flatMap((points, seat) => {
    if (!points.length) return [];
    const most = limit(points);
    const up = (/** @type {number} */ score) =>
      FLOOR / 2 - Math.max(-1, Math.min(1, score / most)) * (FLOOR / 2 - EDGE);
    const text = points.map(({ ply, score }) =>
      `${across(viewer, ply).toFixed(1)},${up(score).toFixed(1)}`);
    const colour = viewer.colourOf(frame, seat);
    const name = `graph-line dash-${seat} line-${safe(colour)}`;
    const flags = points.filter(({ score }) => Math.abs(score) > most).map(({ ply, score }) => {
      const [x, tip] = [across(viewer, ply), score > 0 ? 0 : FLOOR];
      return `M${x} ${tip}l-4 ${score > 0 ? 8 : -8}h8z`;
    });
    return [painted(colour, s("polyline", { class: name, points: text.join(" ") })),
      painted(colour, s("path", { class: `graph-flag line-${safe(colour)}`, d: flags.join("") }))];
  });
  const zero = s("line", { class: "graph-zero", x1: 0, x2: WIDTH, y1: FLOOR / 2, y2: FLOOR / 2 });
  fill(svg, zero, timeBars(viewer), lines, cursor);
}

/** The time of each ply, as bars in the colour of its seat. @param {Viewer} viewer */
function timeBars(viewer) {
  const { frames, match } = viewer.store;
  const most = frames.reduce((most, { used_ms: used }) => Math.max(most, used ?? 0), 1);
  return match.seats.map(({ seat }) => {
    const bars = frames.filter((frame) => frame.seat === seat && frame.used_ms).map((frame) => {
      const high = (HEIGHT - FLOOR) * (frame.used_ms ?? 0) / most;
      return `M${across(viewer, frame.index).toFixed(1)} ${HEIGHT}v${(-high).toFixed(1)}`;
    });
    const colour = viewer.colourOf(viewer.frame(), seat);
    return painted(colour, s("path", { class: `graph-line line-${safe(colour)}`, d: bars.join("") }));
  });
}

/** @param {Viewer} viewer @param {Point[]} points @param {number} seat */
function latest(viewer, points, seat) {
  const point = points.findLast(({ ply }) => ply <= viewer.player.ply);
  const colour = viewer.colourOf(viewer.frame(), seat);
  return h("li", null, badge(colour), agentName(viewer.store.match.seats[seat]?.name ?? ""),
    h("span", { class: "soft" }, point ? ` ${Number(point.score.toFixed(3))}` : " –"));
}

/** @param {Viewer} viewer @param {Point[][]} scores */
function rows(viewer, scores) {
  const { seats } = viewer.store.match;
  const plies = [...new Set(scores.flatMap((points) => points.map(({ ply }) => ply)))];
  plies.sort((a, b) => a - b);
  const maps = scores.map((points) => new Map(points.map(({ ply, score }) => [ply, score])));
  const row = (/** @type {number} */ ply) => h("tr", null,
    h("th", { scope: "row" }, h("button", { type: "button", "data-ply": ply }, `ply ${ply}`)),
    maps.map((map) => h("td", null, map.has(ply) ? Number((map.get(ply) ?? 0).toFixed(3)) : "")));
  return h("table", null,
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Ply"),
      seats.map((seat) => h("th", { scope: "col" }, agentName(seat.name))))),
    h("tbody", null, plies.map(row)));
}
