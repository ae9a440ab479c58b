'use strict';
// Plays the events on stdin with the JavaScript kit and prints the states; see agents/kits.rs.

const fs = require('node:fs');
const kit = require('./referee_kit.js');

const lists = (game) => game.seats.map((_, seat) => game.piecesOf(seat));
const sorted = (game, cells) => game.cells.filter((cell) => cells.has(cell));

// Returns the position in the protocol's form, made from the kit's public properties.
function position(game) {
  const { setup } = game;
  const common = { to_move: game.toMove, turn: game.turn };
  const retired = game.seats.map((_, seat) => seat).filter((seat) => game.retired.has(seat));
  if (game instanceof kit.CheckerPuzzle) {
    return { size: setup.size, depth: setup.depth, moves: game.turn, pieces: game.piecesOf(0) };
  }
  if (game instanceof kit.PegSolitaire) {
    const { shape, size } = setup;
    return { shape, size, moves: game.turn, pegs: game.piecesOf(0), open: game.open };
  }
  if (game instanceof kit.Hex) {
    const colours = [game.colour(0), game.colour(1)];
    const stones = ['black', 'red'].map((colour) => lists(game)[colours.indexOf(colour)]);
    return { ...common, size: game.size, stones, colours };
  }
  if (game instanceof kit.Chexers) {
    return { ...common, pieces: lists(game), exits: game.exits, retired };
  }
  if (game instanceof kit.Freckers) {
    return { ...common, frogs: lists(game), pads: sorted(game, game.pads) };
  }
  const shown = game.seats.length > 2 ? { retired } : {};
  return { ...common, ...shown, marbles: lists(game), passes: game.passes };
}

function scores(game) {
  if (game instanceof kit.Chexers) return game.exits;
  if (game instanceof kit.Freckers) return [game.across(0), game.across(1)];
  if (game instanceof kit.CheckerPuzzle) return [game.turn];
  if (game instanceof kit.PegSolitaire) return [game.pieces.size];
  return undefined;
}

function outcome(game) {
  if (!game.isOver()) return null;
  const { winner, reason } = game.ending();
  const alone = game.seats.length === 1;
  const place = (seat) => (winner === seat || (winner === null && !alone) ? 1 : 2);
  return { places: game.seats.map((_, seat) => place(seat)), reason, scores: scores(game) };
}

let game;
const printed = [];
for (const line of fs.readFileSync(0, 'utf8').split('\n').filter((text) => text !== '')) {
  const event = JSON.parse(line);
  let shown = game;
  if (event.game) game = new kit.GAMES[event.game](event.setup);
  if (event.played) game.play(event.played);
  if ('retired' in event) game.retire(event.retired);
  if (event.tried) shown = game.after(event.tried);
  if (event.state || event.tried) {
    const state = { position: position(shown), actions: shown.actions(), outcome: outcome(shown) };
    printed.push(JSON.stringify(state) + '\n');
  }
}
process.stdout.write(printed.join(''));
