#!/usr/bin/env node
// Plays any game: picks one of the legal actions that the referee lists.
'use strict';

let random; // a number from 0 up to 1, drawn from the match's seed

// Your rule goes here. `hello` says which game this is and which seat is yours; `turn.position` is
// the board, and `turn.actions` has everything that is legal now: return one of them.
function choose(hello, turn) {
  return turn.actions[Math.floor(random() * turn.actions.length)];
}

async function main() {
  let hello;
  for await (const line of lines(process.stdin)) {
    const message = JSON.parse(line);
    switch (message.type) {
      case 'hello':
        hello = message;
        random = generator(hello.seed);
        say({ type: 'ready', name: 'random (JavaScript)', want: ['position', 'actions'] });
        break;
      case 'turn':
        say({ type: 'action', turn: message.turn, action: choose(hello, message) });
        break;
      case 'over':
        return;
      // `played` and `retired` report what the others did, for a rule that keeps a board.
    }
  }
}

// One message, one line. Nothing else may go to stdout: debug with console.error.
function say(message) {
  process.stdout.write(JSON.stringify(message) + '\n');
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

// Math.random takes no seed. This generator after Lehmer stays within what a number holds exactly.
function generator(seed) {
  let state = (seed % 2147483646) + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return (state - 1) / 2147483646;
  };
}

main();
