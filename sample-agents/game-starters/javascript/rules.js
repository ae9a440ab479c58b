// The rules: two seats take 1 to 3 stones in turn from a pile, and whoever takes the last one wins.
//
// Change this game into yours, part by part, and run `referee game check .` after each.
"use strict";

const WIDTH = 5;

// CHANGE: what the game is, as docs/game-programs.md defines it.
const DESCRIPTION = {
  name: "starter",
  title: "Take the last stone",
  summary: "Two sides take 1 to 3 stones in turn; whoever takes the last one wins.",
  seats: [2],
  setup: [{ name: "stones", type: "integer", min: 4, max: 25, default: 21, meaning: "stones at the start" }],
  actions: [{
    type: "take", text: "{count}", fields: [{ name: "count", type: "integer", min: 1, max: 3 }],
    example: { type: "take", count: 2 }, meaning: "takes this many stones",
  }],
  pieces: [{ name: "red", colour: "red" }, { name: "blue", colour: "blue" }, { name: "stone", colour: "black" }],
  reasons: [{ name: "last_stone", text: "it took the last stone", meaning: "no stone is left" }],
  score: null, labels: "letter_number", lists: true, estimates: false, chance: false, plies_max: 25,
};
const SEATS = ["red", "blue"];

class Illegal extends Error {}

// CHANGE: the rules. A state is anything that JSON can hold.
function start(setup) {
  return { left: setup.stones, to_move: 0 };
}

// Whose turn it is, or the end.
function turn(state) {
  if (state.left > 0) return { of: [state.to_move] };
  const places = state.to_move === 0 ? [2, 1] : [1, 2];
  return { over: { places, reason: "last_stone" } };
}

// Every legal action, always in the same order.
function actions(state) {
  return [1, 2, 3].filter((count) => count <= state.left).map((count) => ({ type: "take", count }));
}

// The next state. The fields of the action are as declared; all else is to be checked.
function play(state, action) {
  if (action.count > state.left) throw new Illegal(`there are only ${state.left} stones`);
  return { left: state.left - action.count, to_move: 1 - state.to_move };
}

// The picture of the board.
function view(state) {
  const pieces = [];
  for (let number = 0; number < state.left; number++) {
    pieces.push({ at: [Math.floor(number / WIDTH), number % WIDTH], piece: "stone" });
  }
  return { shape: { grid: [WIDTH, WIDTH] }, pieces, figures: [{ name: "stones", value: String(state.left) }] };
}

// The messages. Nothing below needs to change.
function ply(state, want) {
  const now = turn(state);
  const answer = { state, turn: now };
  if (want.includes("actions")) answer.actions = now.of ? actions(state) : [];
  if (want.includes("position")) answer.position = state;
  if (want.includes("view")) answer.view = view(state);
  if (want.includes("notes")) answer.notes = [];
  return answer;
}

function walk({ id, setup, state, moves, want, at }) {
  const answer = { id, type: "walked", recorded: [], plies: [] };
  let number = 0;
  try {
    if (setup) {
      answer.seats = SEATS;
      state = start(setup);
    }
    if (at === "all") answer.plies.push(ply(state, want));
    for (const move of moves) {
      const now = turn(state);
      if (now.over) throw new Illegal("the game is over");
      if (!move.action || !now.of.includes(move.seat)) throw new Illegal("this seat is not to move");
      state = play(state, move.action);
      answer.recorded.push(move.action);
      if (at === "all") answer.plies.push(ply(state, want));
      number++;
    }
    if (at !== "all") answer.plies.push(ply(state, want));
    return answer;
  } catch (error) {
    if (!(error instanceof Illegal)) throw error;
    const kind = setup && !state ? "setup" : "illegal";
    return { id, type: "refused", move: number, kind, rule: error.message };
  }
}

function answer(request) {
  try {
    if (request.type === "describe") return { id: request.id, type: "described", ...DESCRIPTION };
    return walk(request);
  } catch (error) {
    return { id: request.id, type: "failed", text: error.stack };
  }
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
});
