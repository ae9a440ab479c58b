#!/usr/bin/env node
'use strict';
// A bot for Referee: wins if it can, and plays any legal action otherwise. Make it yours by changing
// `choose`.

const { run, choice } = require('./referee_kit.js');

// Returns an action when it is your turn, or null to resign.
function choose(game) {
  // >>> Your idea goes here. Some of what game.js offers:
  //
  //   game.actions()           every legal action
  //   game.after(action)       a copy of the game with the action played
  //   game.isOver()            and game.winner(): the seat that has won, or null
  //   game.seat, game.seats    your seat, and everyone's name and colour
  //   game.turn, game.leftMs   the number of the turn, your milliseconds left
  //   game.owner(cell)         the seat whose piece is there; game.piecesOf(game.seat) are your own
  //   game.neighbours(cell)    the cells beside it
  const actions = game.actions();
  const wins = (action) => game.after(action).winner() === game.seat;
  return actions.find(wins) ?? choice(actions);
}

if (require.main === module) run(choose);
