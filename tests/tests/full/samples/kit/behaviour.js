'use strict';
// A bot on the JavaScript kit that makes a mistake of students' bots; see agents/kits.rs.

const { run, info } = require('./referee_kit.js');

const mode = process.argv[2];

function choose(game) {
  const isSecondTurn = game.turn >= game.seats.length;
  info({ score: -Infinity, text: 'n\u00e4her', cells: [[game.cell(0, 0), 0.5]] });
  if (mode === 'noisy') console.log('a stray print');
  if (mode === 'fails' && isSecondTurn) return game.actions()[99].type; // here
  return mode === 'resigns' && isSecondTurn ? null : game.actions()[0];
}

run(choose, { name: 'behaviour' });
