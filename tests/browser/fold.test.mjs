// The page's modules without a browser: adding up frames, choosing actions, addresses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const page = pathToFileURL(`${process.env.REFEREE_TESTS_PAGE}/`);
/** @param {string} name */
const part = (name) => import(new URL(name, page).href);
const { Store } = await part("store.js");
const { choose, legalFrom, placeless } = await part("choosing.js");
const { fromHash, toHash } = await part("settings.js");
const { clockText, duration, letter, short } = await part("common.js");
const { side } = await part("seats.js");

const CELLS = 7;

/** A frame that puts a piece somewhere. */
function frame(index, more = {}) {
  const set = index ? [[index % CELLS, index % 3 ? "red" : null]] : [[0, "blue"]];
  return {
    index, kind: index ? "played" : "start", turn: index, seat: index % 2, text: `${index}`,
    sentence: `turn ${index}`, fault: null, to_move: 0, colours: ["red", "blue"], set,
    ground: index % 5 === 1 ? [[index % CELLS, "pad"]] : [], last: [], chain: [], figures: [],
    left_ms: [null, null], infos: [], stderr: [], ...more,
  };
}

/** @param {number} plies */
function match(plies) {
  const cells = Array.from({ length: CELLS }, () => ({}));
  return {
    board: { cells }, seats: [{}, {}], asked: null, state: "running", problem: null, line: 1,
    plies: Array.from({ length: plies }, (_, index) => frame(index)),
  };
}

/** The board after a ply, computed from the start. */
function slowly(frames, ply) {
  const position = { pieces: new Array(CELLS).fill(null), ground: new Array(CELLS).fill(null) };
  for (const { set, ground } of frames.slice(0, ply + 1)) {
    for (const [cell, colour] of set) position.pieces[cell] = colour;
    for (const [cell, kind] of ground) position.ground[cell] = kind;
  }
  return position;
}

test("any ply's board is the sum of the frames up to it, in any order of requests", () => {
  const store = new Store(match(200));
  for (const ply of [0, 199, 31, 32, 33, 64, 1, 150, 96, 95]) {
    assert.deepEqual(store.position(ply), slowly(store.frames, ply), `ply ${ply}`);
  }
});

test("a branch is shown instead of what was recorded, which grows meanwhile", () => {
  const store = new Store(match(70));
  const other = (index) => frame(index, { set: [[index % CELLS, "green"]], used_ms: 7 });
  for (const base of [66, 64, 40, 33]) {
    store.position(69);
    store.branch(base, { plies: [other(base + 1), other(base + 2)] });
    assert.deepEqual([store.last, store.base], [base + 2, base]);
    assert.deepEqual(store.position(base + 2), slowly(store.frames, base + 2), `after ${base}`);
    assert.equal(store.frames[base + 2].used_ms, null);
  }
  store.take({ plies: [frame(70)], asked: null, state: "over", problem: null, line: 9 });
  assert.equal(store.last, 35);
  store.leave();
  assert.deepEqual([store.last, store.base, store.state], [70, null, "over"]);
  for (const ply of [70, 34, 35, 69]) {
    assert.deepEqual(store.position(ply), slowly(store.frames, ply), `ply ${ply}`);
  }
});

test("the first fault is found, and resigning is none", () => {
  const store = new Store(match(9));
  assert.equal(store.firstFault(), 8);
  store.put([frame(3, { fault: "resigned" })]);
  assert.equal(store.firstFault(), 8);
  store.put([frame(5, { fault: "late" }), frame(6, { fault: "gone" })]);
  assert.equal(store.firstFault(), 5);
  assert.equal(fromHash("#fault").fault, true);
});

test("a seat's last output stays until its next", () => {
  const store = new Store(match(9));
  const said = (seat, text) => ({ stderr: [{ seat, text, dropped: 0 }] });
  store.put([frame(2, said(0, "early")), frame(4, said(0, "late")), frame(5, said(1, "other"))]);
  store.put([frame(3, { infos: [{ seat: 1 }] })]);
  const turns = store.latest().map(({ stderr, infos }) => [stderr?.turn, infos?.turn]);
  assert.deepEqual(turns, [[4, undefined], [5, 3]]);
});

test("frames replace those of the same number, and later boards change", () => {
  const store = new Store(match(100));
  store.position(99);
  store.put([frame(64, { set: [[3, "green"]] }), frame(65, { set: [[4, "green"]] })]);
  for (const ply of [63, 64, 65, 99]) {
    assert.deepEqual(store.position(ply), slowly(store.frames, ply), `ply ${ply}`);
  }
  assert.equal(store.position(64).pieces[3], "green");
});

test("the end is no ply; what came after the last one is added to it", () => {
  const store = new Store(match(3));
  store.put([frame(3, { kind: "over", places: [1, 2], chain: [2], stderr: [{ seat: 1 }] })]);
  assert.equal(store.last, 2);
  assert.deepEqual(store.frames[2].chain, [2]);
  assert.equal(store.frames[2].stderr.length, 1);
  assert.deepEqual(store.end.places, [1, 2]);
});

test("marks belong to the position before their ply, the last first", () => {
  const info = (depth, marks) => ({ seat: 1, depth, marks, pv: [] });
  const store = new Store(match(3));
  store.put([frame(1, { infos: [info(1, [[0, "a"]]), info(2, [[1, "b"]]), info(3, [])] })]);
  assert.deepEqual(store.notes(0).map(({ depth }) => depth), [2]);
  assert.deepEqual(store.notes(0, 1).map(({ depth }) => depth), [1]);
  assert.deepEqual(store.notes(1), []);
});

test("updates of a live match are added; updates after a gap are ignored", () => {
  const store = new Store(match(3));
  const update = { asked: null, state: "over", problem: null, line: 9 };
  store.take({ ...update, plies: [frame(2), frame(3)] });
  assert.equal(store.last, 3);
  assert.equal(store.running, false);
  store.take({ ...update, plies: [frame(7)] });
  assert.equal(store.last, 3);
});

test("faults and output are found in both directions", () => {
  const store = new Store(match(10));
  store.put([frame(4, { stderr: [{}] }), frame(5), frame(6, { fault: "late" })]);
  assert.equal(store.problem(0, 1), 4);
  assert.equal(store.problem(4, 1), 6);
  assert.equal(store.problem(6, 1), null);
  assert.equal(store.problem(9, -1), 6);
  assert.equal(store.problem(4, -1), null);
  assert.equal(store.ofTurn(6), 6);
  assert.equal(store.ofTurn(1000), 9);
});

test("a seat's score is the last one of each ply", () => {
  const info = (seat, score) => ({ seat, score });
  const store = new Store(match(3));
  store.put([frame(1, { infos: [info(0, 1), info(0, 2), info(1, null)] })]);
  assert.deepEqual(store.scores(), [[{ ply: 1, score: 2 }], []]);
});

const move = (text, ...cells) => ({ text, cells });

test("a click on an empty cell places, one on a piece chooses it", () => {
  const pieces = ["red", null, null, "red", null];
  const actions = [move("place", 1), move("a", 0, 2), move("b", 0, 4, 3), move("pass")];
  assert.equal(choose(actions, null, 1, pieces).play.text, "place");
  assert.deepEqual(choose(actions, null, 0, pieces), { play: null, selected: 0, among: [] });
  assert.equal(choose(actions, 0, 2, pieces).play.text, "a");
  assert.deepEqual(choose(actions, 0, 0, pieces).selected, null);
  assert.deepEqual([...legalFrom(actions, 0, pieces)].sort(), [1, 2, 3]);
  assert.deepEqual(placeless(actions, null, pieces).map(({ text }) => text), ["pass"]);
});

test("several actions with the same ends are offered; leaving the board has a button", () => {
  const pieces = ["red", null, null, null];
  const actions = [move("left", 0, 1, 3), move("right", 0, 2, 3), move("exit", 0)];
  const chosen = choose(actions, 0, 3, pieces);
  assert.equal(chosen.play, null);
  assert.deepEqual(chosen.among.map(({ text }) => text), ["left", "right"]);
  assert.deepEqual(placeless(actions, 0, pieces).map(({ text }) => text), ["exit"]);
  assert.deepEqual(choose(actions, null, 0, pieces).selected, 0);
});

test("several placements on a cell are offered", () => {
  const [pieces, actions] = [["red", null, null], [move("b1", 1), move("swap", 1), move("c1", 2)]];
  const names = (all) => all.map(({ text }) => text);
  assert.deepEqual(names(choose(actions, null, 1, pieces).among), ["b1", "swap"]);
  assert.deepEqual(names(placeless(actions, null, pieces)), ["b1", "swap"]);
  assert.equal(choose(actions, null, 2, pieces).play.text, "c1");
});

test("an address has the settings of the viewer, and is read back", () => {
  const base = {
    flip: false, flat: false, coords: true, marks: true, theme: "auto", pane: "moves", speed: 1,
  };
  const settings = { ...base, flip: true, coords: false, theme: "dark" };
  const none = { fault: false, tried: null, autoplay: false, loop: false };
  const hash = toHash(settings, 17);
  assert.equal(hash, "#ply=17&flip=1&coords=0&theme=dark");
  assert.deepEqual(fromHash(hash, base), { settings, ply: 17, turn: null, ...none });
  const branch = toHash(base, 9, "7;move -3,0 -2,0;pass");
  assert.equal(fromHash(branch, base).tried, "7;move -3,0 -2,0;pass");
  assert.deepEqual(fromHash("#turn=4", base), { settings: base, ply: null, turn: 4, ...none });
  const wild = fromHash("#ply=-1&theme=pink&speed=1e9&flip=", base);
  assert.deepEqual(wild, { settings: { ...base, flip: true }, ply: null, turn: null, ...none });
  const { autoplay, loop } = fromHash("#autoplay&loop", base);
  assert.ok(autoplay && loop);
});

test("times, letters and names", () => {
  assert.deepEqual([0, 9300, 65000, 3725000].map(clockText), ["0.0", "9.3", "1:05", "1:02:05"]);
  assert.deepEqual([0.5, 12, 1250].map(duration), ["0.5 ms", "12 ms", "1.25 s"]);
  assert.deepEqual(["red", "peg"].map(letter), ["R", "o"]);
  assert.equal(short("😀😀😀😀", 3), "😀😀…");
  assert.equal(short("abc", 3), "abc");
  assert.deepEqual([side(-1, -1), side(0, 1), side(1, 0)], ["upper left", "bottom", "right"]);
});
