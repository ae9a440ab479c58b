"""What all games have in common, and the rules of the six games."""
import functools
from typing import (Any, Callable, ClassVar, Collection, Dict, FrozenSet, Generic, Iterable, List,
                    Optional, Set, Tuple, Type, TypeVar)

Pair = Tuple[int, int]
Cell = TypeVar("Cell", int, Pair)
Action = Dict[str, Any]
Json = Dict[str, Any]
Ending = Tuple[Optional[int], str]
Self = TypeVar("Self", bound="Game[Any]")


class Game(Generic[Cell]):
    """A game in progress. Hex({"size": 5}) starts one without a referee, to try things out.

    seat, seats     your seat, from 0; everyone's: [{"seat": 0, "name": .., "colour": ..}, ..]
    turn, to_move   the number of the turn; the seat whose turn it is
    pieces          {cell: seat}, in every game
    cells           every cell of the board, in order
    lines           {cell: [[..], ..]}, the cells in each direction from it, to the rim
    setup, clock    as in the referee's `hello`; `message` is its `turn` as it came
    left_ms         milliseconds left, for this turn and all to come, or None
    retired         the retired seats; their pieces stay on the board
    ending()        (the winner or None, the reason) once the game is over; None before
    """
    colours: ClassVar[Tuple[str, ...]] = ("peg",)
    usual_seats: ClassVar[Optional[int]] = None
    _changing: ClassVar[Tuple[str, ...]] = ("pieces", "retired")
    cells: Tuple[Cell, ...]
    lines: Dict[Cell, List[List[Cell]]]
    pieces: Dict[Cell, int]

    def __init__(self, setup: Json, seat: int = 0, seats: Optional[List[Json]] = None) -> None:
        usual = enumerate(self.colours[:setup.get("seats", self.usual_seats)])
        self.seats = seats or [{"seat": n, "name": c, "colour": c} for n, c in usual]
        self.seat, self.setup, self.turns_max = seat, setup, float("inf")
        self.clock: Json = {}
        self.message: Json = {}
        self.left_ms: Optional[int] = None
        position: Json = setup.get("position") or {}
        self.turn: int = position.get("turn") or position.get("moves") or 0
        self.to_move: int = position.get("to_move", 0)
        self.retired: Set[int] = set(position.get("retired", ()))
        self._begin(setup, position)

    def _begin(self, setup: Json, position: Json) -> None:
        raise NotImplementedError

    def _actions(self) -> List[Action]:
        raise NotImplementedError

    def _apply(self, action: Action) -> None:
        raise NotImplementedError

    def ending(self) -> Optional[Ending]:
        """(The winner or None, the reason) once the game is over; None before."""
        raise NotImplementedError

    def actions(self) -> List[Action]:
        """Every legal action, in the order of the rules; none when the game is over."""
        return [] if self.is_over() else self._actions()

    def after(self: Self, action: Action) -> Self:
        """A copy of the game with one of its actions played."""
        return self.copy().play(action)

    def play(self: Self, action: Action) -> Self:
        """Plays one of the actions in this object itself, and returns it."""
        self._apply(action)
        self._end_turn()
        return self

    def copy(self: Self) -> Self:
        """An independent copy of the game."""
        copy = object.__new__(type(self))
        own = {name: getattr(self, name).copy() for name in self._changing}
        copy.__dict__.update(self.__dict__, **own)
        return copy

    def is_over(self) -> bool:
        """Whether the game has ended by its rules."""
        return self.ending() is not None

    def winner(self) -> Optional[int]:
        """The seat that has won, or None. Solving a puzzle is a win."""
        ending = self.ending()
        return ending[0] if ending else None

    def owner(self, cell: Cell) -> Optional[int]:
        """The seat whose piece is on a cell, or None."""
        return self.pieces.get(cell)

    def pieces_of(self, seat: int) -> List[Cell]:
        """The cells of a seat's pieces, in order."""
        return sorted(cell for cell, other in self.pieces.items() if other == seat)

    def colour(self, seat: int) -> str:
        """The colour of a seat."""
        return str(self.seats[seat]["colour"])

    def neighbours(self, cell: Cell) -> List[Cell]:
        """The cells beside this one, in order."""
        return [line[0] for line in self.lines[cell] if line]

    def _jumps(self, cell: Cell) -> Dict[Cell, Cell]:
        """Where a jump over a neighbour can lead, and over what."""
        ways = [line[:2] for line in self.lines[cell] if len(line) > 1]
        return {to: over for over, to in ways if over in self.pieces and to not in self.pieces}

    def _place(self, lists: Iterable[Iterable[Any]]) -> None:
        def cell(at: Any) -> Any:
            return at if isinstance(at, int) else tuple(at)
        self.pieces = {cell(at): seat for seat, cells in enumerate(lists) for at in cells}

    def _moves(self, is_long: bool = False, no_landing: Collection[Cell] = (),
               no_end: Collection[Cell] = ()) -> List[Action]:
        """The moves of the seat's pieces by a step or by jumps, each to an end once: by a shortest
        path, and of those by the first in order."""
        moves = []
        for start in self.pieces_of(self.to_move):
            others = self.pieces.keys() - {start}
            paths, queue = {start: [start]}, [start]
            for here in queue:  # It grows while it is read: nearer landings come first.
                landings = []
                for line in self.lines[here]:
                    # Over the first piece in sight, as far behind it as it is away.
                    for away in range(len(line) // 2 if is_long else len(line) > 1):
                        if line[away] in others:
                            behind = line[away + 1:2 * away + 2]
                            if others.isdisjoint(behind) and behind[-1] not in no_landing:
                                landings.append(behind[-1])
                            break
                for landing in sorted(landings):
                    if landing not in paths:
                        paths[landing] = paths[here] + [landing]
                        queue.append(landing)
            steps = [cell for cell in self.neighbours(start) if cell not in others]
            paths.update((cell, [start, cell]) for cell in steps)
            ends = [end for end in sorted(paths) if end != start and end not in no_end]
            moves += [{"type": "move", "path": paths[end]} for end in ends]
        return moves

    def _end_turn(self) -> None:
        # Turns of retired seats are skipped, but counted.
        self.turn, self.to_move = self.turn + 1, (self.to_move + 1) % len(self.seats)
        if self.to_move in self.retired and self.turn < self.turns_max:
            Game._end_turn(self)

    def retire(self, seat: int) -> None:
        """Retires a seat."""
        self.retired.add(seat)
        if seat == self.to_move:
            self._end_turn()


class Hex(Game[Pair]):
    """Black connects first and last column, red first and last row; see `colour(seat)`."""
    colours, _changing = ("black", "red"), ("pieces", "retired", "_sides")

    def _begin(self, setup: Json, position: Json) -> None:
        self.size = setup.get("size", 11)
        self.cells, self.lines, _ = _board("diamond", self.size)
        sides = self.colours if setup.get("first", "black") == "black" else self.colours[::-1]
        self._sides: List[str] = list(position.get("colours", sides))
        stones = dict(zip(self.colours, position.get("stones", ([], []))))
        self._place(stones[side] for side in self._sides)
        self._winner = 0 if self._joins(0) else 1 if self._joins(1) else None

    def colour(self, seat: int) -> str:
        return self._sides[seat]

    def borders(self, seat: int) -> List[List[Pair]]:
        """The two lists of cells that a seat has to connect."""
        is_black, along = self.colour(seat) == "black", range(self.size)
        return [[(n, end) if is_black else (end, n) for n in along] for end in (0, self.size - 1)]

    def _joins(self, seat: int) -> bool:
        near, far = self.borders(seat)
        chain = [cell for cell in near if self.pieces.get(cell) == seat]
        seen = set(chain)
        for here in chain:  # It grows while it is read.
            beside = {cell for cell in self.neighbours(here) if self.pieces.get(cell) == seat}
            chain += beside - seen
            seen |= beside
        return not seen.isdisjoint(far)

    def _actions(self) -> List[Action]:
        swap = self.turn == 1 and self.setup.get("swap", "none") != "none"
        empty = [cell for cell in self.cells if cell not in self.pieces]
        return [{"type": "place", "at": cell} for cell in empty] + [{"type": "swap"}] * swap

    def _apply(self, action: Action) -> None:
        if action["type"] == "place":
            self.pieces[tuple(action["at"])] = self.to_move
            self._winner = self.to_move if self._joins(self.to_move) else None
        elif self.setup["swap"] == "sides":
            self._sides.reverse()
            self.pieces = {cell: self.to_move for cell in self.pieces}
        else:
            self.pieces = {(column, row): self.to_move for row, column in self.pieces}

    def ending(self) -> Optional[Ending]:
        return None if self._winner is None else (self._winner, "connected")


class Chexers(Game[Pair]):
    """exits: the number of each seat's exits; exit_cells: where each seat may leave the board."""
    colours, _changing = ("red", "green", "blue"), ("pieces", "retired", "exits", "_seen")

    def _begin(self, setup: Json, position: Json) -> None:
        self.cells, self.lines, _ = _board("hexagon", 3)
        edges = [{(q, r) for q, r in self.cells if (-q, -r, q + r, q, r, -q - r)[edge] == 3}
                 for edge in range(6)]
        self.exit_cells = edges[3:]
        self._place(position.get("pieces", edges[:3]))
        self.exits, self._seen = list(position.get("exits", (0, 0, 0))), {self._key(): 1}
        self.turns_max = 3 * setup.get("turns_per_seat", 256)

    def _actions(self) -> List[Action]:
        own, seat = self.pieces_of(self.to_move), self.to_move
        return ([{"type": "exit", "from": cell} for cell in own if cell in self.exit_cells[seat]]
                + [{"type": "move", "from": cell, "to": to} for cell in own
                   for to in self.neighbours(cell) if to not in self.pieces]
                + [{"type": "jump", "from": cell, "to": to} for cell in own
                   for to in self._jumps(cell)]) or [{"type": "pass"}]

    def _apply(self, action: Action) -> None:
        if action["type"] == "jump":
            over = self._jumps(tuple(action["from"]))[tuple(action["to"])]
            self.pieces[over] = self.to_move
        if action["type"] == "exit":
            self.exits[self.to_move] += 1
            self._seen.clear()  # Positions before an exit can't recur.
        if action["type"] != "pass":
            del self.pieces[tuple(action["from"])]
        if "to" in action:
            self.pieces[tuple(action["to"])] = self.to_move

    def _end_turn(self) -> None:
        super()._end_turn()
        self._seen[self._key()] = self._seen.get(self._key(), 0) + 1

    def _key(self) -> Tuple[int, FrozenSet[Tuple[Pair, int]]]:
        return self.to_move, frozenset(self.pieces.items())

    def ending(self) -> Optional[Ending]:
        if max(self.exits) >= self.setup.get("exits", 4):
            return self.exits.index(max(self.exits)), "four_exits"
        if self._seen[self._key()] >= self.setup.get("repetitions", 4):
            return None, "repetition"
        return (None, "turn_limit") if self.turn >= self.turns_max else None


class Freckers(Game[Pair]):
    """pads: the free lily pads, a set of cells; goals: the row that each seat's frogs go to."""
    colours, goals = ("red", "blue"), (7, 0)
    directions = {"RIGHT": (0, 1), "LEFT": (0, -1), "DOWN": (1, 0), "DOWN_LEFT": (1, -1),
                  "DOWN_RIGHT": (1, 1), "UP": (-1, 0), "UP_LEFT": (-1, -1), "UP_RIGHT": (-1, 1)}
    _changing = ("pieces", "retired", "pads")

    def _begin(self, setup: Json, position: Json) -> None:
        self.cells, self.lines, _ = _board("square", 8)
        rows = [[(row, column) for column in range(1, 7)] for row in (0, 7, 1, 6)]
        self._place(position.get("frogs", rows[:2]))
        grown = rows[2] + rows[3] + [(0, 0), (0, 7), (7, 0), (7, 7)]
        self.pads = set(map(tuple, position.get("pads", grown)))

    def _routes(self, start: Pair) -> Dict[Pair, List[str]]:
        """The shortest directions to every cell where a frog's move can end."""
        ways = [(name, r, c) for name, (r, c) in self.directions.items()
                if r in (0, 1 - 2 * self.to_move)]
        every = self.setup.get("landing") == "every"
        routes: Dict[Pair, List[str]] = {start: []}
        queue = [start]
        for row, column in queue:  # It grows while it is read: nearer landings come first.
            for name, r, c in ways:
                over, to = (row + r, column + c), (row + 2 * r, column + 2 * c)
                if over in self.pieces and to in self.lines and to not in self.pieces:
                    if to not in routes and (to in self.pads or not every):
                        routes[to] = routes[row, column] + [name]
                        queue.append(to)
        routes.update(((start[0] + r, start[1] + c), [name]) for name, r, c in ways)
        return {end: routes[end] for end in sorted(routes) if end in self.pads}

    def _actions(self) -> List[Action]:
        return [{"type": "move", "from": start, "directions": directions, "to": end}
                for start in self.pieces_of(self.to_move)
                for end, directions in self._routes(start).items()] + [{"type": "grow"}]

    def _apply(self, action: Action) -> None:
        if action["type"] == "move":
            del self.pieces[tuple(action["from"])]
            self.pieces[tuple(action["to"])] = self.to_move
            self.pads.remove(tuple(action["to"]))
        else:
            around = map(self.neighbours, self.pieces_of(self.to_move))
            self.pads |= set().union(*around) - self.pieces.keys()

    def across(self, seat: int) -> int:
        """The number of a seat's frogs that are across."""
        return sum(row == self.goals[seat] for row, _ in self.pieces_of(seat))

    def ending(self) -> Optional[Ending]:
        red, blue = self.across(0), self.across(1)
        ahead = None if red == blue else int(blue > red)
        if 6 in (red, blue):
            return ahead, "all_across"
        return (ahead, "turn_limit") if self.turn >= self.setup.get("turn_limit", 150) else None


class ChineseCheckers(Game[int]):
    """starts, targets, neutral: for each seat a set of cells."""
    colours, usual_seats = ("red", "yellow", "green", "blue", "purple", "orange"), 2

    def _begin(self, setup: Json, position: Json) -> None:
        size = setup.get("size", 4)
        self.cells, self.lines, self._places = _board("star", size)
        points = [{cell for cell, (q, r) in self._places.items()
                   if (-r, q, q + r, r, -q, -q - r)[point] > size} for point in range(6)]
        used = {2: (0, 3), 3: (0, 2, 4), 4: (1, 2, 4, 5), 6: range(6)}[len(self.seats)]
        self.starts = [points[point] for point in used]
        self.targets = [points[(point + 3) % 6] for point in used]
        self.neutral = [set().union(*points) - a - b for a, b in zip(self.starts, self.targets)]
        self._place(position.get("marbles", self.starts))
        self.passes, self.turns_max = position.get("passes", 0), setup.get("max_turns", 1000)

    def _actions(self) -> List[Action]:
        rule, neutral = self.setup.get("neutral", "pass"), self.neutral[self.to_move]
        is_long = self.setup.get("jumps", "long") == "long"
        no_landing, no_end = neutral if rule == "closed" else (), () if rule == "free" else neutral
        return self._moves(is_long, no_landing, no_end) or [{"type": "pass"}]

    def _apply(self, action: Action) -> None:
        self.passes += 1
        if action["type"] == "move":
            del self.pieces[action["path"][0]]
            self.pieces[action["path"][-1]], self.passes = self.to_move, 0

    def _left(self) -> List[int]:
        """The active seats, in the order of play from the one to move."""
        order = [*range(self.to_move, len(self.seats)), *range(self.to_move)]
        return [seat for seat in order if seat not in self.retired]

    def retire(self, seat: int) -> None:
        # A pass of a seat that is out no longer counts among those in a row.
        before = [other for other in reversed(self._left()) if other != self.to_move]
        self.passes -= seat in before[:self.passes]
        super().retire(seat)

    def is_home(self, seat: int) -> bool:
        """Whether a seat has brought its marbles home."""
        own, target = set(self.pieces_of(seat)), self.targets[seat]
        if seat in self.retired or own.isdisjoint(target):
            return False
        if self.setup.get("win") == "filled":
            return target <= self.pieces.keys()
        others = {cell for cell in target if self.pieces.get(cell) in self.retired}
        return own <= target or target <= own | others

    def ending(self) -> Optional[Ending]:
        left = self._left()
        for seat in left[-1:] + left[:-1]:  # The last mover is checked first.
            if self.is_home(seat):
                return seat, "home"
        if self.passes >= len(left):
            return None, "no_moves"
        return (None, "turn_limit") if self.turn >= self.turns_max else None

    def distance(self, cell: int, other: int) -> int:
        """The number of steps between two cells of an empty board."""
        (a, b), (c, d) = self._places[cell], self._places[other]
        return max(abs(a - c), abs(b - d), abs(a + b - c - d))


class CheckerPuzzle(Game[Pair]):
    """goal: the cells that the pieces have to fill."""

    def _begin(self, setup: Json, position: Json) -> None:
        size, depth = setup.get("size", 4), setup.get("depth", 3)
        self.cells, self.lines, _ = _board("diamond", size)
        self.goal = {cell for cell in self.cells if sum(cell) < depth}
        camp = [cell for cell in self.cells if 2 * size - 2 - sum(cell) < depth]
        self._place([position.get("pieces", camp)])

    def _actions(self) -> List[Action]:
        return self._moves()

    def _apply(self, action: Action) -> None:
        del self.pieces[tuple(action["path"][0])]
        self.pieces[tuple(action["path"][-1])] = 0

    def ending(self) -> Optional[Ending]:
        if self.pieces.keys() == self.goal:
            return 0, "solved"
        return (None, "move_limit") if self.turn >= self.setup.get("max_moves", 200) else None


class PegSolitaire(Game[Pair]):
    """open: the cells that were without a peg at the start."""

    def _begin(self, setup: Json, position: Json) -> None:
        shape = setup.get("shape", "triangle")
        end = setup.get("size", 5 if shape == "triangle" else 6) - 1
        self.cells, self.lines, _ = _board(shape, end + 1)
        middle = (2 * end // 3, end // 3) if shape == "triangle" else (end // 2, end // 2)
        self.open = sorted(map(tuple, setup.get("open", [middle])))
        camp = [cell for cell in self.cells if cell not in self.open]
        self._place([position.get("pegs", camp)])

    def _actions(self) -> List[Action]:
        return [{"type": "jump", "from": cell, "to": to}
                for cell in sorted(self.pieces) for to in self._jumps(cell)]

    def _apply(self, action: Action) -> None:
        start, end = tuple(action["from"]), tuple(action["to"])
        del self.pieces[self._jumps(start)[end]], self.pieces[start]
        self.pieces[end] = 0

    def ending(self) -> Optional[Ending]:
        if any(map(self._jumps, self.pieces)):
            return None
        at_start = self.setup.get("finish") == "start"
        is_solved = len(self.pieces) == 1 and (not at_start or self.open[0] in self.pieces)
        return (0, "solved") if is_solved else (None, "stuck")


GAMES: Dict[str, Type[Game[Any]]] = {
    "hex": Hex, "chexers": Chexers, "freckers": Freckers, "chinese-checkers": ChineseCheckers,
    "checker-puzzle": CheckerPuzzle, "peg-solitaire": PegSolitaire}


# Of each shape: the steps to a cell's neighbours, and which cells (a, b) there are at size n.
_OPPOSED = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)]
_ALIGNED = [(-1, -1), (-1, 0), (0, -1), (0, 1), (1, 0), (1, 1)]
_SHAPES: Dict[str, Tuple[List[Pair], Callable[[int, int, int], bool]]] = {
    "diamond": (_OPPOSED, lambda n, a, b: 0 <= min(a, b) and max(a, b) < n),
    "triangle": (_ALIGNED, lambda n, a, b: 0 <= b <= a < n),
    "square": (sorted({*_OPPOSED, *_ALIGNED}), lambda n, a, b: 0 <= min(a, b) and max(a, b) < n),
    "hexagon": (_OPPOSED, lambda n, a, b: max(abs(a), abs(b), abs(a + b)) <= n),
    "star": (_OPPOSED, lambda n, a, b: max(a, b, -a - b) <= n or min(a, b, -a - b) >= -n),
}


@functools.lru_cache(maxsize=None)
def _board(shape: str, size: int) -> Tuple[
        Tuple[Any, ...], Dict[Any, List[List[Any]]], Dict[Any, Pair]]:
    """The cells of a board in order, the lines from each to the rim, and its place on the grid."""
    steps, has = _SHAPES[shape]
    span = range(-2 * size, 2 * size + 1)
    names: Dict[Pair, Any] = {(a, b): (a, b) for a in span for b in span if has(size, a, b)}
    if shape == "star":  # Numbered row by row, from left to right.
        rows = sorted(names, key=lambda place: (place[1], place[0]))
        names = {place: number for number, place in enumerate(rows, 1)}
    lines: Dict[Any, List[List[Any]]] = {name: [] for name in names.values()}
    for (a, b), name in names.items():
        for r, c in steps:
            line = [(a + r * far, b + c * far) for far in range(1, 4 * size + 1)]
            lines[name].append([names[place] for place in line if place in names])
    return tuple(lines), lines, {name: place for place, name in names.items()}
