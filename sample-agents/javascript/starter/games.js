'use strict';
// The six games: what only each of them has, and its rules.

const { Game, board } = require('./game.js');

// Black connects first and last column, red first and last row; see colour(seat).
class Hex extends Game {
  static colours = ['black', 'red'];
  static changing = ['pieces', 'retired', '_sides'];

  _begin(setup, position) {
    this.size = setup.size ?? 11;
    this._use(board('diamond', this.size));
    const sides = setup.first === 'red' ? ['red', 'black'] : ['black', 'red'];
    this._sides = [...(position.colours ?? sides)];
    const [black, red] = position.stones ?? [[], []];
    this._place(this._sides.map((side) => (side === 'black' ? black : red)));
    this._winner = [0, 1].find((seat) => this._joins(seat)) ?? null;
  }

  colour(seat) {
    return this._sides[seat];
  }

  // The two lists of cells that a seat has to connect.
  borders(seat) {
    const side = this.colour(seat) === 'black' ? 1 : 0;
    return [0, this.size - 1].map((end) => this.cells.filter((cell) => cell[side] === end));
  }

  _joins(seat) {
    const [near, far] = this.borders(seat);
    const chain = new Set(near.filter((cell) => this.pieces.get(cell) === seat));
    for (const here of chain) { // It grows while it is read.
      for (const [beside] of this.lines.get(here)) {
        if (this.pieces.get(beside) === seat) chain.add(beside);
      }
    }
    return far.some((cell) => chain.has(cell));
  }

  _actions() {
    const empty = this.cells.filter((cell) => !this.pieces.has(cell));
    const swap = this.turn === 1 && (this.setup.swap ?? 'none') !== 'none' ? [{ type: 'swap' }] : [];
    return [...empty.map((at) => ({ type: 'place', at })), ...swap];
  }

  _apply(action) {
    const stones = [...this.pieces.keys()];
    if (action.type === 'place') {
      this.pieces.set(this.cell(action.at), this.toMove);
      this._winner = this._joins(this.toMove) ? this.toMove : null;
    } else if (this.setup.swap === 'sides') {
      this._sides.reverse();
      this.pieces = new Map(stones.map((cell) => [cell, this.toMove]));
    } else {
      this.pieces = new Map(stones.map(([row, column]) => [this.cell(column, row), this.toMove]));
    }
  }

  ending() {
    return this._winner === null ? null : { winner: this._winner, reason: 'connected' };
  }
}

// exits: the number of each seat's exits; exitCells: where each seat may leave the board.
class Chexers extends Game {
  static colours = ['red', 'green', 'blue'];
  static changing = ['pieces', 'retired', 'exits', '_seen'];

  _begin(setup, position) {
    this._use(board('hexagon', 3));
    const edges = [0, 1, 2, 3, 4, 5].map(
      (edge) => this.cells.filter(([q, r]) => [-q, -r, q + r, q, r, -q - r][edge] === 3));
    this.exitCells = edges.slice(3).map((edge) => new Set(edge));
    this._place(position.pieces ?? edges.slice(0, 3));
    this.exits = [...(position.exits ?? [0, 0, 0])];
    this._seen = new Map([[this._key(), 1]]);
    this.turnsMax = 3 * (setup.turns_per_seat ?? 256);
  }

  _actions() {
    const own = this.piecesOf(this.toMove);
    const exits = own.filter((from) => this.exitCells[this.toMove].has(from));
    const free = (from) => this.neighbours(from).filter((to) => !this.pieces.has(to));
    const actions = [
      ...exits.map((from) => ({ type: 'exit', from })),
      ...own.flatMap((from) => free(from).map((to) => ({ type: 'move', from, to }))),
      ...own.flatMap((from) => this._jumps(from).map(({ to }) => ({ type: 'jump', from, to }))),
    ];
    return actions.length ? actions : [{ type: 'pass' }];
  }

  _apply(action) {
    if (action.type === 'pass') return;
    const from = this.cell(action.from);
    if (action.type === 'exit') {
      this.exits[this.toMove] += 1;
      this._seen.clear(); // Positions before an exit can't recur.
    } else {
      const to = this.cell(action.to);
      const jumped = action.type === 'jump' && this._jumps(from).find((jump) => jump.to === to).over;
      this.pieces.set(to, this.toMove);
      if (jumped) this.pieces.set(jumped, this.toMove);
    }
    this.pieces.delete(from);
  }

  _endTurn() {
    super._endTurn();
    this._seen.set(this._key(), (this._seen.get(this._key()) ?? 0) + 1);
  }

  _key() {
    return this.toMove + this.cells.map((cell) => this.pieces.get(cell) ?? '.').join('');
  }

  ending() {
    const most = Math.max(...this.exits);
    if (most >= (this.setup.exits ?? 4)) {
      return { winner: this.exits.indexOf(most), reason: 'four_exits' };
    }
    if (this._seen.get(this._key()) >= (this.setup.repetitions ?? 4)) {
      return { winner: null, reason: 'repetition' };
    }
    return this.turn >= this.turnsMax ? { winner: null, reason: 'turn_limit' } : null;
  }
}

// pads: the Set of free lily pads; goals: the row that each seat's frogs go to.
class Freckers extends Game {
  static colours = ['red', 'blue'];
  static changing = ['pieces', 'retired', 'pads'];
  static directions = {
    RIGHT: [0, 1], LEFT: [0, -1], DOWN: [1, 0], DOWN_LEFT: [1, -1], DOWN_RIGHT: [1, 1],
    UP: [-1, 0], UP_LEFT: [-1, -1], UP_RIGHT: [-1, 1],
  };

  _begin(setup, position) {
    this.goals = [7, 0];
    this._use(board('square', 8));
    const row = (wanted) => this.cells.filter(([r, c]) => r === wanted && c > 0 && c < 7);
    this._place(position.frogs ?? [row(0), row(7)]);
    const grown = [...row(1), ...row(6), [0, 0], [0, 7], [7, 0], [7, 7]];
    this.pads = new Set((position.pads ?? grown).map((cell) => this.cell(cell)));
  }

  // The shortest directions to every cell where a frog's move can end.
  _routes(start) {
    const back = this.toMove === 0 ? -1 : 1;
    const ways = Object.entries(Freckers.directions).filter(([, [r]]) => r !== back);
    const reach = ([row, column], [r, c]) => this.board.named.get(`${row + r},${column + c}`);
    const every = this.setup.landing === 'every';
    const routes = new Map([[start, []]]);
    for (const [here, route] of routes) { // It grows while it is read: nearer landings come first.
      for (const [name, [r, c]] of ways) {
        const [over, to] = [reach(here, [r, c]), reach(here, [2 * r, 2 * c])];
        const can = this.pieces.has(over) && to && !this.pieces.has(to) && !routes.has(to);
        if (can && (this.pads.has(to) || !every)) routes.set(to, [...route, name]);
      }
    }
    for (const [name, step] of ways) routes.set(reach(start, step), [name]);
    const ends = this._sorted([...routes.keys()].filter((end) => this.pads.has(end)));
    return ends.map((to) => ({ type: 'move', from: start, directions: routes.get(to), to }));
  }

  _actions() {
    const moves = this.piecesOf(this.toMove).flatMap((start) => this._routes(start));
    return [...moves, { type: 'grow' }];
  }

  _apply(action) {
    if (action.type === 'move') {
      this.pieces.delete(this.cell(action.from));
      this.pieces.set(this.cell(action.to), this.toMove);
      this.pads.delete(this.cell(action.to));
    } else {
      const around = this.piecesOf(this.toMove).flatMap((cell) => this.neighbours(cell));
      for (const cell of around) if (!this.pieces.has(cell)) this.pads.add(cell);
    }
  }

  // The number of a seat's frogs that are across.
  across(seat) {
    return this.piecesOf(seat).filter(([row]) => row === this.goals[seat]).length;
  }

  ending() {
    const [red, blue] = [this.across(0), this.across(1)];
    const winner = red === blue ? null : Number(blue > red);
    if (red === 6 || blue === 6) return { winner, reason: 'all_across' };
    return this.turn >= (this.setup.turn_limit ?? 150) ? { winner, reason: 'turn_limit' } : null;
  }
}

// starts, targets, neutral: for each seat a Set of cells.
class ChineseCheckers extends Game {
  static colours = ['red', 'yellow', 'green', 'blue', 'purple', 'orange'];
  static usualSeats = 2;

  _begin(setup, position) {
    const size = setup.size ?? 4;
    this._use(board('star', size));
    const points = [0, 1, 2, 3, 4, 5].map((point) => this.cells.filter((cell) => {
      const [q, r] = this.board.places.get(cell);
      return [-r, q, q + r, r, -q, -q - r][point] > size;
    }));
    const used = { 2: [0, 3], 3: [0, 2, 4], 4: [1, 2, 4, 5], 6: [0, 1, 2, 3, 4, 5] };
    const seated = used[this.seats.length];
    this.starts = seated.map((point) => new Set(points[point]));
    this.targets = seated.map((point) => new Set(points[(point + 3) % 6]));
    const others = (point) => points.filter((_, other) => other % 3 !== point % 3);
    this.neutral = seated.map((point) => new Set(others(point).flat()));
    this._place(position.marbles ?? this.starts);
    this.passes = position.passes ?? 0;
    this.turnsMax = setup.max_turns ?? 1000;
  }

  _actions() {
    const { jumps = 'long', neutral = 'pass' } = this.setup;
    const isNeutral = (cell) => this.neutral[this.toMove].has(cell);
    const never = () => false;
    const [bars, barsEnd] =
      { pass: [never, isNeutral], free: [never, never], closed: [isNeutral, isNeutral] }[neutral];
    const moves = this._moves(jumps === 'long', bars, barsEnd);
    return moves.length ? moves : [{ type: 'pass' }];
  }

  _apply(action) {
    this.passes = action.type === 'pass' ? this.passes + 1 : 0;
    if (action.type === 'move') this._carry(action.path);
  }

  // The active seats, in the order of play from the one to move.
  _left() {
    const order = this.seats.map((_, number) => (this.toMove + number) % this.seats.length);
    return order.filter((seat) => !this.retired.has(seat));
  }

  retire(seat) {
    // A pass of a seat that is out no longer counts among those in a row.
    const before = this._left().reverse().filter((other) => other !== this.toMove);
    if (before.slice(0, this.passes).includes(seat)) this.passes -= 1;
    super.retire(seat);
  }

  // Whether a seat has brought its marbles home.
  isHome(seat) {
    const [own, target] = [this.piecesOf(seat), [...this.targets[seat]]];
    if (this.retired.has(seat) || !own.some((cell) => this.targets[seat].has(cell))) return false;
    if (this.setup.win === 'filled') return target.every((cell) => this.pieces.has(cell));
    const isOut = (cell) => this.retired.has(this.pieces.get(cell));
    return own.every((cell) => this.targets[seat].has(cell))
      || target.every((cell) => this.pieces.get(cell) === seat || isOut(cell));
  }

  ending() {
    const left = this._left();
    const last = [...left.slice(-1), ...left.slice(0, -1)]; // The last mover is checked first.
    const winner = last.find((seat) => this.isHome(seat));
    if (winner !== undefined) return { winner, reason: 'home' };
    if (this.passes >= left.length) return { winner: null, reason: 'no_moves' };
    return this.turn >= this.turnsMax ? { winner: null, reason: 'turn_limit' } : null;
  }

  // The number of steps between two cells of an empty board.
  distance(cell, other) {
    const [[a, b], [c, d]] = [this.board.places.get(cell), this.board.places.get(other)];
    return Math.max(Math.abs(a - c), Math.abs(b - d), Math.abs(a + b - c - d));
  }
}

// goal: the Set of cells that the pieces have to fill.
class CheckerPuzzle extends Game {
  _begin(setup, position) {
    const { size = 4, depth = 3 } = setup;
    this._use(board('diamond', size));
    this.goal = new Set(this.cells.filter(([a, b]) => a + b < depth));
    const camp = this.cells.filter(([a, b]) => 2 * size - 2 - a - b < depth);
    this._place([position.pieces ?? camp]);
  }

  _actions() {
    return this._moves();
  }

  _apply(action) {
    this._carry(action.path);
  }

  ending() {
    const own = [...this.pieces.keys()];
    const isSolved = own.length === this.goal.size && own.every((cell) => this.goal.has(cell));
    if (isSolved) return { winner: 0, reason: 'solved' };
    return this.turn >= (this.setup.max_moves ?? 200) ? { winner: null, reason: 'move_limit' } : null;
  }
}

// open: the cells that were without a peg at the start.
class PegSolitaire extends Game {
  _begin(setup, position) {
    const shape = setup.shape ?? 'triangle';
    const end = (setup.size ?? (shape === 'triangle' ? 5 : 6)) - 1;
    this._use(board(shape, end + 1));
    const middle = (shape === 'triangle' ? [2 * end / 3, end / 3] : [end / 2, end / 2]).map(Math.floor);
    this.open = this._sorted((setup.open ?? [middle]).map((cell) => this.cell(cell)));
    this._place([position.pegs ?? this.cells.filter((cell) => !this.open.includes(cell))]);
  }

  _actions() {
    const jumps = (from) => this._jumps(from).map(({ to }) => ({ type: 'jump', from, to }));
    return this.piecesOf(0).flatMap(jumps);
  }

  _apply(action) {
    const [from, to] = [this.cell(action.from), this.cell(action.to)];
    this.pieces.delete(this._jumps(from).find((jump) => jump.to === to).over);
    this.pieces.delete(from);
    this.pieces.set(to, 0);
  }

  ending() {
    if ([...this.pieces.keys()].some((cell) => this._jumps(cell).length > 0)) return null;
    const isPlace = this.setup.finish !== 'start' || this.pieces.has(this.open[0]);
    const isSolved = this.pieces.size === 1 && isPlace;
    return isSolved ? { winner: 0, reason: 'solved' } : { winner: null, reason: 'stuck' };
  }
}

const GAMES = {
  hex: Hex, chexers: Chexers, freckers: Freckers, 'chinese-checkers': ChineseCheckers,
  'checker-puzzle': CheckerPuzzle, 'peg-solitaire': PegSolitaire,
};

module.exports = {
  Game, GAMES, Hex, Chexers, Freckers, ChineseCheckers, CheckerPuzzle, PegSolitaire,
};
