'use strict';
// What all games have in common: the class Game, and the boards.

// A game in progress. new Hex({ size: 5 }) starts one without a referee, to try things out.
//
// seat, seats     your seat, from 0; everyone's: [{ seat: 0, name: .., colour: .. }, ..]
// turn, toMove    the number of the turn; the seat whose turn it is
// pieces          Map of cell to seat, in every game
// cells           every cell of the board, in order
// lines           Map of cell to [[..], ..], the cells in each direction from it, to the rim
// setup, clock    as in the referee's `hello`; `message` is its `turn` as it came
// leftMs          milliseconds left, for this turn and all to come, or null
// retired         the Set of retired seats; their pieces stay on the board
// ending()        { winner: a seat or null, reason } once the game is over; null before
//
// A Map finds a cell only by the board's own array: cell(row, column) returns it. All that the game
// returns are such cells, and its methods take any.
class Game {
  static colours = ['peg'];
  static changing = ['pieces', 'retired'];

  constructor(setup = {}, seat = 0, seats = null) {
    const colours = this.constructor.colours.slice(0, setup.seats ?? this.constructor.usualSeats);
    const position = setup.position ?? {};
    this.seats = seats ?? colours.map((colour, number) => ({ seat: number, name: colour, colour }));
    Object.assign(this, { seat, setup, clock: {}, message: {}, leftMs: null });
    this.turn = position.turn ?? position.moves ?? 0;
    this.turnsMax = Infinity;
    this.toMove = position.to_move ?? 0;
    this.retired = new Set(position.retired);
    this._begin(setup, position);
  }

  // Every legal action, in the order of the rules; none when the game is over.
  actions() {
    return this.isOver() ? [] : this._actions();
  }

  // A copy of the game with one of its actions played.
  after(action) {
    return this.copy().play(action);
  }

  // Plays one of the actions in this object itself, and returns it.
  play(action) {
    this._apply(action);
    this._endTurn();
    return this;
  }

  // An independent copy of the game.
  copy() {
    const copy = Object.assign(Object.create(Object.getPrototypeOf(this)), this);
    for (const name of this.constructor.changing) {
      copy[name] = Array.isArray(this[name]) ? [...this[name]] : new this[name].constructor(this[name]);
    }
    return copy;
  }

  // Whether the game has ended by its rules.
  isOver() {
    return this.ending() !== null;
  }

  // The seat that has won, or null. Solving a puzzle is a win.
  winner() {
    return this.ending()?.winner ?? null;
  }

  // The board's own cell of this name: cell(row, column), cell([row, column]) or cell(number).
  cell(...name) {
    const cell = this.board.named.get(String(name));
    if (cell === undefined) throw new RangeError(`there is no cell [${name}] on the board`);
    return cell;
  }

  // The seat whose piece is on a cell, or null.
  owner(cell) {
    return this.pieces.get(this.cell(cell)) ?? null;
  }

  // The cells of a seat's pieces, in order.
  piecesOf(seat) {
    return this.cells.filter((cell) => this.pieces.get(cell) === seat);
  }

  // The colour of a seat.
  colour(seat) {
    return this.seats[seat].colour;
  }

  // The cells beside this one, in order.
  neighbours(cell) {
    return this.lines.get(this.cell(cell)).flatMap((line) => line.slice(0, 1));
  }

  // Retires a seat.
  retire(seat) {
    this.retired.add(seat);
    if (seat === this.toMove) this._endTurn();
  }

  _use(board) {
    this.board = board;
    this.cells = board.cells;
    this.lines = board.lines;
  }

  // Places each seat's pieces.
  _place(lists) {
    const of = (cells, seat) => [...cells].map((cell) => [this.cell(cell), seat]);
    this.pieces = new Map(lists.flatMap(of));
  }

  // Moves a piece from the first cell of a path to the last.
  _carry(path) {
    this.pieces.delete(this.cell(path[0]));
    this.pieces.set(this.cell(path.at(-1)), this.toMove);
  }

  // Where a jump over a neighbour can lead, and over what.
  _jumps(cell) {
    const can = ([over, to]) => to !== undefined && this.pieces.has(over) && !this.pieces.has(to);
    return this.lines.get(cell).filter(can).map(([over, to]) => ({ over, to }));
  }

  // The moves of the seat's pieces by a step or by jumps, each to an end once: by a shortest path, and
  // of those by the first in order. Jumps don't land on cells for which `bars` is true.
  _moves(isLong = false, bars = () => false, barsEnd = () => false) {
    return this.piecesOf(this.toMove).flatMap((start) => {
      const isFree = (cell) => cell === start || !this.pieces.has(cell);
      const paths = new Map([[start, [start]]]);
      for (const [here, path] of paths) { // It grows while it is read: nearer landings come first.
        const landings = this.lines.get(here).map((line) => landing(line, isLong, isFree));
        for (const end of this._sorted(landings.filter((end) => end !== undefined && !bars(end)))) {
          if (!paths.has(end)) paths.set(end, [...path, end]);
        }
      }
      const steps = this.neighbours(start).filter(isFree);
      for (const end of steps) paths.set(end, [start, end]);
      const ends = this._sorted([...paths.keys()].filter((end) => end !== start && !barsEnd(end)));
      return ends.map((end) => ({ type: 'move', path: paths.get(end) }));
    });
  }

  _sorted(cells) {
    return cells.sort((a, b) => this.board.order.get(a) - this.board.order.get(b));
  }

  _endTurn() {
    do { // Turns of retired seats are skipped, but counted.
      this.turn += 1;
      this.toMove = (this.toMove + 1) % this.seats.length;
    } while (this.retired.has(this.toMove) && this.turn < this.turnsMax);
  }
}

// Where a jump along this line ends: over the first piece in sight, as far behind it as it is away.
function landing(line, isLong, isFree) {
  const away = line.findIndex((cell) => !isFree(cell));
  const behind = line.slice(away + 1, 2 * away + 2);
  const can = away >= 0 && (isLong || away === 0) && behind.length === away + 1;
  return can && behind.every(isFree) ? behind.at(-1) : undefined;
}

// Of each shape: the steps to a cell's neighbours, and which cells (a, b) there are at size n.
const OPPOSED = [[-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0]];
const ALIGNED = [[-1, -1], [-1, 0], [0, -1], [0, 1], [1, 0], [1, 1]];
const ALL = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];
const inSquare = (n, a, b) => Math.min(a, b) >= 0 && Math.max(a, b) < n;
const SHAPES = {
  diamond: [OPPOSED, inSquare],
  triangle: [ALIGNED, (n, a, b) => b >= 0 && b <= a && a < n],
  square: [ALL, inSquare],
  hexagon: [OPPOSED, (n, a, b) => Math.max(Math.abs(a), Math.abs(b), Math.abs(a + b)) <= n],
  star: [OPPOSED, (n, a, b) => Math.max(a, b, -a - b) <= n || Math.min(a, b, -a - b) >= -n],
};
const boards = new Map();

// The cells of a board in order, the lines from each to the rim, and its place on the grid.
function board(shape, size) {
  const [steps, has] = SHAPES[shape];
  const key = `${shape} ${size}`;
  if (boards.has(key)) return boards.get(key);
  const span = Array.from({ length: 4 * size + 1 }, (_, number) => number - 2 * size);
  const grid = span.flatMap((a) => span.map((b) => [a, b])).filter(([a, b]) => has(size, a, b));
  // A star's cells are numbered row by row, from left to right.
  if (shape === 'star') grid.sort(([a, b], [c, d]) => b - d || a - c);
  const cells = grid.map((place, number) => (shape === 'star' ? number + 1 : Object.freeze(place)));
  const at = new Map(grid.map((place, number) => [String(place), cells[number]]));
  const line = ([a, b], [r, c]) => {
    const found = [];
    for (let far = 1; at.has(`${a + r * far},${b + c * far}`); far += 1) {
      found.push(at.get(`${a + r * far},${b + c * far}`));
    }
    return found;
  };
  const lines = new Map(grid.map((place, number) => [
    cells[number], steps.map((step) => line(place, step)).filter((found) => found.length > 0)]));
  boards.set(key, {
    cells,
    lines,
    named: new Map(cells.map((cell) => [String(cell), cell])),
    order: new Map(cells.map((cell, number) => [cell, number])),
    places: new Map(cells.map((cell, number) => [cell, grid[number]])),
  });
  return boards.get(key);
}

module.exports = { Game, board };
