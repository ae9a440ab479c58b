// @ts-check
// The panel about a ply: fault, output, info, lines, times.

import { agentName, debounce, duration, errorMessage, fill, h, short } from "./common.js";
import { badge } from "./board.js";
import { toProblem } from "./keys.js";
import { Store } from "./store.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").StderrPiece} StderrPiece */
/** @typedef {import("./types.js").Info} Info */

const NOTHING = "No agent sent output in this turn.";

/** @param {Viewer} viewer */
export function panes(viewer) {
  const heading = h("h2", null, "This turn");
  const sentence = h("p", { class: "sentence" });
  const body = h("div", { class: "pane-body" });
  const { source } = viewer;
  const lines = source.lines ? lazily(viewer, "Exact lines sent and received", linesOf) : null;
  const text = source.text ? lazily(viewer, "Board as plain text", textOf) : null;
  const steps = [problemButton(viewer, -1), problemButton(viewer, 1)];
  const depth = depths(viewer);
  const element = h("section", { class: "pane turn-pane", "aria-label": "This turn" },
    h("div", { class: "panel-head" }, heading, h("div", { class: "inline" }, steps)),
    depth.element, sentence, body, h("div", { id: "rerun" }), lines?.element, text?.element);
  /** @type {Frame|null} */
  let current = null;
  let wasLatest = false;
  const show = () => {
    const [frame, isLatest] = [viewer.frame(), follows(viewer)];
    if (frame !== current || isLatest !== wasLatest) {
      current = frame;
      wasLatest = isLatest;
      sentence.textContent = short(frame.sentence, 300);
      const notes = isLatest ? lastNotes(viewer)
        : [output(viewer, frame.stderr), infoFigures(viewer, frame.infos)].flat();
      fill(body, fault(frame), notes.length ? notes : h("p", { class: "soft" }, NOTHING),
        times(frame));
    }
    steps.forEach((button, at) => {
      button.disabled = viewer.store.problem(viewer.player.ply, at ? 1 : -1) === null;
    });
    depth.show();
    lines?.show();
    text?.show();
  };
  return { element, show };
}

/** @param {Viewer} viewer @param {1|-1} direction */
function problemButton(viewer, direction) {
  const words = direction < 0 ? "Previous fault or output" : "Next fault or output";
  const attributes = { type: "button", title: words, "aria-label": words };
  return h("button", { ...attributes, onclick: () => toProblem(viewer, direction) },
    h("span", { "aria-hidden": "true" }, direction < 0 ? "◀ !" : "! ▶"));
}

/** Chooses which of the `info` messages about this position the board shows. @param {Viewer} viewer */
function depths(viewer) {
  const words = h("span", null);
  const slider = h("input", {
    type: "range", class: "slider", min: 0, step: 1, "aria-label": "Which marks",
    oninput: () => {
      viewer.back = Number(slider.max) - Number(slider.value);
      viewer.changed();
    },
  });
  const element = h("p", { class: "depths" }, words, slider);
  const show = () => {
    const { store, player, back } = viewer;
    const most = (store.frames[player.ply + 1]?.infos ?? [])
      .filter(({ marks, pv }) => marks.length || pv.length).length;
    const shown = viewer.settings.marks ? store.notes(player.ply, back) : [];
    element.hidden = shown.length === 0;
    slider.hidden = most < 2;
    slider.max = String(Math.max(0, most - 1));
    slider.value = String(most - 1 - back);
    fill(words, "Marks on the board: ", shown.flatMap((info) =>
      [...who(viewer, info.seat), info.depth === null ? " " : ` at depth ${info.depth} `]));
  };
  return { element, show };
}

/** @param {Viewer} viewer @param {number} seat */
function who(viewer, seat) {
  const frame = viewer.frame();
  const listed = viewer.store.match.seats[seat];
  return [badge(viewer.colourOf(frame, seat)), agentName(listed?.name ?? `seat ${seat}`)];
}

/** @param {Frame} frame */
function fault(frame) {
  if (frame.fault === null) return null;
  if (!Store.isFault(frame)) return h("p", null, h("strong", null, frame.fault));
  return h("div", { class: "fault-box" },
    h("strong", null, `Fault: ${frame.fault}`),
    frame.text !== frame.sentence && h("p", null, frame.text));
}

/** Whether the page follows a match that was live when it was opened: an agent's output then stays
 * until its next, since turns are faster than reading. @param {Viewer} viewer */
function follows(viewer) {
  return viewer.player.atEnd && viewer.store.match.state === "running";
}

/** The last output of each seat. @param {Viewer} viewer */
function lastNotes(viewer) {
  return viewer.store.latest().flatMap(({ stderr, infos }, seat) => {
    const own = (/** @type {{seat: number}} */ note) => note.seat === seat;
    const when = (/** @type {Frame|null} */ frame) => (frame ? `, turn ${frame.turn}` : "");
    return [
      output(viewer, stderr?.stderr.filter(own) ?? [], when(stderr)),
      infoFigures(viewer, infos?.infos.filter(own) ?? [], when(infos)),
    ].flat();
  });
}

/** @param {Viewer} viewer @param {StderrPiece[]} pieces @param {string} [when] */
function output(viewer, pieces, when = "") {
  return joined(pieces).map((piece) => h("figure", { class: "output" },
    h("figcaption", null, who(viewer, piece.seat), ` wrote to stderr${when}`),
    piece.dropped > 0
      && h("p", { class: "soft" }, `${piece.dropped} bytes before this were dropped`),
    verbatim("stderr", piece.text)));
}

/** Joins consecutive pieces of an agent's output.
 * @param {StderrPiece[]} pieces */
function joined(pieces) {
  /** @type {StderrPiece[]} */
  const whole = [];
  for (const piece of pieces) {
    const before = whole.at(-1);
    if (before && before.seat === piece.seat && !piece.dropped) before.text += piece.text;
    else whole.push({ ...piece });
  }
  return whole;
}

/** Preformatted text that the keyboard can scroll. @param {string} label
 * @param {string} text @param {string|null} [kind] */
function verbatim(label, text, kind = null) {
  return h("pre", { tabindex: "0", role: "group", "aria-label": label, class: kind }, text);
}

/** @param {Viewer} viewer @param {Info[]} infos @param {string} [when] */
function infoFigures(viewer, infos, when = "") {
  if (!infos.length) return [];
  const all = infos.map((info) => infoFigure(viewer, info, when));
  return [h("div", { class: "infos", tabindex: "0", role: "group", "aria-label": "info" }, all)];
}

/** @param {Viewer} viewer @param {Info} info @param {string} when */
function infoFigure(viewer, info, when) {
  /** @type {[string, string][]} */
  const facts = [];
  const number = (/** @type {number} */ n) =>
    n.toLocaleString("en-GB", { maximumFractionDigits: 3 });
  if (info.score !== null) facts.push(["score", number(info.score)]);
  if (info.depth !== null) facts.push(["depth", number(info.depth)]);
  if (info.nodes !== null) facts.push(["nodes", number(info.nodes)]);
  return h("figure", { class: "thought" },
    h("figcaption", null, who(viewer, info.seat), ` sent info${when}`),
    facts.length > 0 && h("dl", { class: "facts" },
      facts.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    info.text !== null && h("p", { class: "said" }, info.text),
    info.more !== null && verbatim("more", info.more));
}

/** @param {Frame} frame */
function times(frame) {
  /** @type {[string, number|null][]} */
  const all = [
    ["charged", frame.used_ms], ["CPU", frame.cpu_ms],
    ["waited for a core", frame.wait_ms], ["referee's lag", frame.lag_ms],
  ];
  const known = all.filter(([, ms]) => ms !== null);
  if (!known.length) return null;
  return h("dl", { class: "facts times" }, known.map(([name, ms]) =>
    h("div", null, h("dt", null, name), h("dd", null, duration(ms ?? 0)))));
}

/** Content that is loaded only while its section is open.
 * @param {Viewer} viewer @param {string} title
 * @param {(viewer: Viewer, ply: number) => Promise<Node>} make */
function lazily(viewer, title, make) {
  const body = h("div", null);
  const element = h("details", null, h("summary", null, title), body);
  /** The ply that is shown. @type {unknown} */
  let current = null;
  const load = async () => {
    const [frame, { ply }] = [viewer.frame(), viewer.player];
    if (!element.open || current === frame) return;
    current = frame;
    /** @type {Node} */
    let node;
    try {
      node = await make(viewer, ply);
    } catch (error) {
      node = errorMessage(error);
    }
    if (current === frame) fill(body, node);
  };
  const soon = debounce(120, load);
  element.addEventListener("toggle", load);
  return { element, show: soon };
}

/** @param {Viewer} viewer @param {number} ply @returns {Promise<Node>} */
async function linesOf(viewer, ply) {
  const read = async (/** @type {number} */ at) => await viewer.source.lines?.(at) ?? [];
  const { store } = viewer;
  const lines = await read(ply);
  // What was sent after the last ply, such as `over`.
  if (store.end && ply === store.last) lines.push(...await read(store.end.index));
  if (!lines.length) return h("p", { class: "soft" }, "No lines in this turn.");
  const kind = (/** @type {boolean} */ sent) => (sent ? "sent" : "got");
  return h("ol", { class: "lines" }, lines.map((line) => h("li", { class: kind(line.sent) },
    h("span", { class: "line-who" }, line.sent ? "to " : "from ", who(viewer, line.seat)),
    verbatim(line.sent ? "sent" : "received", line.text),
    line.cut && h("span", { class: "soft" }, "cut"))));
}

/** @param {Viewer} viewer @param {number} ply @returns {Promise<Node>} */
async function textOf(viewer, ply) {
  const text = await viewer.source.text?.(ply) ?? "";
  return verbatim("Board as plain text", text, "text-board");
}
