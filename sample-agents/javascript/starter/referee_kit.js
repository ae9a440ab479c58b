'use strict';
// What a bot for Referee needs: the protocol, here, and the rules of the six games, in games.js.
//
// `run(choose)` plays a match; `choose` gets a Game (see game.js), which keeps its own board and needs
// nothing from the referee. A cell is a pair, [row, column] or in Chexers [q, r], but in Chinese Checkers
// a number. An action is an object, as in the protocol. Needs only Node. Change what you like.

const games = require('./games.js');

let say = null; // Sends a message; null while it isn't this bot's turn.
let state = 1; // Of the random numbers.

// Plays a match; `choose` may be async. `want`: which of "position" and "actions" to include in
// `game.message`.
async function run(choose, { name = 'bot', want = [] } = {}) {
  // Only messages go to stdout; console.log and all other output goes to stderr.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const send = (message) => write(JSON.stringify(message) + '\n');
  try {
    await converse(choose, send, { type: 'ready', name, want });
  } catch (error) {
    // The stack shows your own code, if the error is there.
    const frames = String(error?.stack ?? error).split('\n');
    const own = frames.filter((line) => !/^ +at .*(referee_kit|games?)\.js:/.test(line));
    const isOwn = own.some((line) => /^ +at /.test(line) && !line.includes('node:'));
    log((isOwn ? own : frames).join('\n'));
    process.exit(1);
  }
}

// Prints to stderr, which the transcript keeps with the turn.
function log(...values) {
  console.error(...values);
}

// Shows viewers what you think; call it in `choose`. `cells` are marks: [[[0, 1], 'good'], ..].
function info({ score, depth, text, cells, ...more } = {}) {
  const marks = cells && [...cells].map(([at, label]) => ({ at, label: String(label) }));
  // JSON has no infinity.
  const shown = Number.isFinite(score) || score == null ? score : String(score);
  if (say) say({ ...more, type: 'info', score: shown, depth, text, cells: marks });
}

// A random number from 0 up to 1. Math.random takes no seed; this repeats a match with the match's.
function random() {
  state = (state * 48271) % 2147483647; // Lehmer's generator: exact in JavaScript's numbers.
  return (state - 1) / 2147483646;
}

// A random item of a list.
function choice(list) {
  return list[Math.floor(random() * list.length)];
}

function seed(number) {
  state = (number % 2147483646) + 1;
  for (let draw = 0; draw < 5; draw += 1) random(); // The first ones of close seeds are close.
}

async function converse(choose, send, ready) {
  let game = null;
  for await (const line of lines(process.stdin)) {
    const message = JSON.parse(line);
    if (message.type === 'hello') {
      seed(message.seed ?? 0);
      if (!(message.game in games.GAMES)) throw new Error(`this kit doesn't know ${message.game}`);
      game = new games.GAMES[message.game](message.setup, message.seat, message.seats);
      game.clock = message.clock ?? {};
      send(ready);
    } else if (message.type === 'turn') {
      const asked = Object.assign(game.copy(), { message, leftMs: message.left_ms ?? null });
      say = send;
      const action = await choose(asked);
      say = null;
      if (action !== null && typeof action?.type !== 'string') {
        throw new TypeError(`choose returned ${JSON.stringify(action)}: neither an action nor null`);
      }
      const answer = action === null ? { type: 'resign' } : { type: 'action', action };
      send({ ...answer, turn: message.turn });
    } else if (message.type === 'played') {
      game.play(message.action);
    } else if (message.type === 'retired' && game.seats.length > 2) {
      game.retire(message.seat);
    } else if (message.type === 'over') {
      return;
    }
  }
}

// The lines of a stream. The module `readline` would also break at U+2028 inside of strings.
async function* lines(stream) {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop();
    yield* parts.filter((line) => line.trim() !== '');
  }
}

module.exports = { run, log, info, random, choice, seed, ...games };
