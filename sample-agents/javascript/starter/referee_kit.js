'use strict';
// Everything a bot for Referee needs, in one file: the protocol and the rules of the six games.
//
// `run(choose)` plays a match; `choose` gets a Game, which keeps its own board and needs nothing from
// the referee. A cell is a pair, [row, column] or in Chexers [q, r], but in Chinese Checkers a number.
// An action is an object, as in the protocol. Needs only Node. Change what you like.

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
    const frames = String(error?.stack ?? error).split('\n');
    // The stack begins where your own code does.
    const isKit = (line) => /^ +at /.test(line) && line.includes(__filename);
    const own = frames.filter((line) => !isKit(line));
    log((own.some((line) => /^ +at /.test(line)) ? own : frames).join('\n'));
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
      if (!(message.game in GAMES)) throw new Error(`this kit doesn't know ${message.game}`);
      game = new GAMES[message.game](message.setup, message.seat, message.seats);
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

module.exports = {
  run, log, info, random, choice, seed, Game, GAMES,
  Hex, Chexers, Freckers, ChineseCheckers, CheckerPuzzle, PegSolitaire,
};
