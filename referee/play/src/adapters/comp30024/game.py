"""What the course's own package `referee.game` of 2025 offered, for agents that come without it.

Agents import these names and rely on how they compare, hash, add and print. The rules that decide a
match are Referee's own: the board here serves agents that simulate on it, and judges nothing.
"""

import abc
import dataclasses
import enum
import importlib.machinery
import sys
import types
import typing

GAME_NAME = "Freckers"
NUM_PLAYERS = 2
BOARD_N = 8
MAX_TURNS = 150
LILY_PAD = "LilyPad"


@dataclasses.dataclass(frozen=True)
class Vector2:
    """Rows down and columns to the right. Sums are of the class of their left side."""

    r: int
    c: int

    def __iter__(self):
        return iter((self.r, self.c))

    def __lt__(self, other):
        return tuple(self) < tuple(other)

    def __add__(self, other):
        return type(self)(self.r + other.r, self.c + other.c)

    def __sub__(self, other):
        return type(self)(self.r - other.r, self.c - other.c)

    def __mul__(self, n):
        return type(self)(self.r * n, self.c * n)

    def __neg__(self):
        return self * -1

    def __str__(self):
        return f"Vector2({self.r}, {self.c})"


class Direction(enum.Enum):
    """The eight ways from a cell to its neighbours."""

    Down = Vector2(1, 0)
    DownLeft = Vector2(1, -1)
    DownRight = Vector2(1, 1)
    Up = Vector2(-1, 0)
    UpLeft = Vector2(-1, -1)
    UpRight = Vector2(-1, 1)
    Left = Vector2(0, -1)
    Right = Vector2(0, 1)

    @classmethod
    def _missing_(cls, value):
        found = [direction for direction in cls if tuple(direction) == tuple(value)]
        if not found:
            raise ValueError(f"Invalid direction: {value}")
        return found[0]

    @property
    def r(self):
        """The rows that it goes down."""
        return self._value_.r

    @property
    def c(self):
        """The columns that it goes to the right."""
        return self._value_.c

    def __iter__(self):
        return iter(self._value_)

    def __neg__(self):
        return Direction(-self._value_)

    def __mul__(self, n):
        return self._value_ * n

    def __str__(self):
        return f"[{ARROWS[self.name]}]"


ARROWS = dict(zip(Direction.__members__, "↓↙↘↑↖↗←→"))


@dataclasses.dataclass(frozen=True, order=True)
class Coord(Vector2):
    """A cell of the board: there is none beyond its edges, whatever is added."""

    def __post_init__(self):
        if not (0 <= self.r < BOARD_N and 0 <= self.c < BOARD_N):
            raise ValueError(f"Out-of-bounds coordinate: {self}")

    def __str__(self):
        return f"{self.r}-{self.c}"


@dataclasses.dataclass(frozen=True)
class MoveAction:
    """A frog's step or jumps; `directions` is a tuple also where one direction was given alone."""

    coord: Coord
    _directions: typing.Union[Direction, typing.Sequence[Direction]]

    @property
    def directions(self):
        """The direction of the step, or of each jump."""
        alone = isinstance(self._directions, Direction)
        return (self._directions,) if alone else self._directions

    def __str__(self):
        try:
            return f"MOVE({self.coord}, [{', '.join(map(str, self.directions))}])"
        except TypeError:
            return "MOVE(<invalid coord/directions>)"


@dataclasses.dataclass(frozen=True)
class GrowAction:
    """New pads around the frogs of a player."""

    def __str__(self):
        return "GROW"


Action = typing.Union[MoveAction, GrowAction]


class PlayerColor(enum.Enum):
    """Red plays first, down the board."""

    RED = 0
    BLUE = 1

    @property
    def opponent(self):
        """The other colour."""
        return PlayerColor(1 - self.value)

    def __index__(self):
        return self.value

    def __int__(self):
        return 1 - 2 * self.value

    def __str__(self):
        return self.name


class Player:
    """What the course's program knew of a side."""

    def __init__(self, color):
        self._color = color

    @property
    def color(self):
        """Its colour."""
        return self._color

    def __str__(self):
        return str(self._color)


class PlayerException(Exception):
    """A player did what ends the game."""


class IllegalActionException(PlayerException):
    """An action is not legal on the board as it is."""


ILLEGAL_RED_DIRECTIONS = {way for way in Direction if way.r < 0}
ILLEGAL_BLUE_DIRECTIONS = {way for way in Direction if way.r > 0}
UPDATES = {
    "PlayerInitialising": ["player"],
    "GameBegin": ["board"],
    "TurnBegin": ["turn_id", "player"],
    "TurnEnd": ["turn_id", "player", "action"],
    "BoardUpdate": ["board"],
    "PlayerError": ["message"],
    "UnhandledError": ["message"],
    "GameEnd": ["winner"],
}
globals().update({name: dataclasses.make_dataclass(name, UPDATES[name]) for name in UPDATES})


@dataclasses.dataclass(frozen=True)
class CellState:
    """What is on a cell: nothing (None), a free pad ("LilyPad"), or a player's frog."""

    state: typing.Any = None

    def __iter__(self):
        yield self.state

    def __str__(self):
        return f"CellState({self.state})"


@dataclasses.dataclass(frozen=True)
class CellMutation:
    """How an action changed a cell."""

    cell: Coord
    prev: CellState
    next: CellState

    def __str__(self):
        return f"CellMutation({self.cell}, {self.prev}, {self.next})"


@dataclasses.dataclass(frozen=True)
class BoardMutation:
    """How an action changed the board."""

    action: Action
    cell_mutations: typing.Set[CellMutation]

    def __str__(self):
        return f"BoardMutation({self.cell_mutations})"


class Board:
    """A board to play actions on and to take them back. What begins with an underscore is here
    because agents use that too."""

    def __init__(self, initial_state=None, initial_player=PlayerColor.RED):
        cells = [Coord(r, c) for r in range(BOARD_N) for c in range(BOARD_N)]
        self._state = {cell: CellState() for cell in cells}
        self._state.update(initial_state or {cell: self._at_start(cell) for cell in cells})
        self._turn_color = initial_player
        self._history = []

    @staticmethod
    def _at_start(cell):
        last = BOARD_N - 1
        if cell.c in (0, last):
            return CellState(LILY_PAD if cell.r in (0, last) else None)
        rows = {0: PlayerColor.RED, 1: LILY_PAD, last - 1: LILY_PAD, last: PlayerColor.BLUE}
        return CellState(rows.get(cell.r))

    def __getitem__(self, cell):
        if not self._within_bounds(cell):
            raise IndexError(f"Cell position '{cell}' is invalid.")
        return self._state[cell]

    def set_cell_state(self, cell, state):
        """Puts something on a cell."""
        self._state[cell] = state

    def set_turn_color(self, color):
        """Says whose turn it is."""
        self._turn_color = color

    @property
    def turn_color(self):
        """Whose turn it is."""
        return self._turn_color

    @property
    def turn_count(self):
        """How many actions have been played."""
        return len(self._history)

    @property
    def turn_limit_reached(self):
        """Whether no more actions will be played."""
        return self.turn_count >= MAX_TURNS

    @property
    def game_over(self):
        """Whether the game has ended."""
        return self.turn_limit_reached or BOARD_N - 2 in map(self._player_score, PlayerColor)

    @property
    def winner_color(self):
        """The winner; None if there is none, or none yet."""
        red, blue = map(self._player_score, PlayerColor)
        if not self.game_over or red == blue:
            return None
        return PlayerColor.RED if red > blue else PlayerColor.BLUE

    def apply_action(self, action):
        """Plays an action of the player to move, and returns what it changed."""
        if isinstance(action, MoveAction):
            mutation = self._resolve_move_action(action)
        elif isinstance(action, GrowAction):
            mutation = self._resolve_grow_action(action)
        else:
            self._refuse(f"{action!r} is no action")
        self._state.update({change.cell: change.next for change in mutation.cell_mutations})
        self._history.append(mutation)
        self._turn_color = self._turn_color.opponent
        return mutation

    def undo_action(self):
        """Takes back the last action, and returns what it had changed."""
        if not self._history:
            raise IndexError("No actions to undo.")
        mutation = self._history.pop()
        self._state.update({change.cell: change.prev for change in mutation.cell_mutations})
        self._turn_color = self._turn_color.opponent
        return mutation

    def render(self, use_color=False, use_unicode=False):
        """The board as text, one row a line; `use_unicode` changes nothing, as it never did."""
        letters = {PlayerColor.RED: "R", PlayerColor.BLUE: "B", LILY_PAD: "*", None: "."}
        colours = {PlayerColor.RED: 31, PlayerColor.BLUE: 34, LILY_PAD: 32}
        text = ""
        for cell, there in sorted(self._state.items(), key=lambda item: item[0]):
            letter = letters[there.state]
            if use_color and there.state is not None:
                letter = f"\033[{colours[there.state]}m{letter}\033[0m"
            text += letter + (" \n" if cell.c == BOARD_N - 1 else " ")
        return text

    def _refuse(self, text):
        raise IllegalActionException(text, self._turn_color)

    def _within_bounds(self, coord):
        r, c = coord
        return 0 <= r < BOARD_N and 0 <= c < BOARD_N

    def _cell_empty(self, coord):
        return self._state[coord].state is None

    def _cell_occupied(self, coord):
        return not self._cell_empty(coord)

    def _cell_occupied_by_player(self, coord):
        return isinstance(self._state[coord].state, PlayerColor)

    def _occupied_coords(self):
        return {cell for cell in self._state if self._cell_occupied(cell)}

    def _row_count(self, color, row):
        return sum(self._state[Coord(row, c)].state == color for c in range(BOARD_N))

    def _player_score(self, color):
        return self._row_count(color, BOARD_N - 1 if color == PlayerColor.RED else 0)

    def _neighbours(self, coord):
        beside = [Vector2(*coord) + way for way in Direction]
        return [Coord(*cell) for cell in beside if self._within_bounds(cell)]

    def _has_neighbour(self, coord, color):
        return any(self._state[cell].state == color for cell in self._neighbours(coord))

    def _assert_coord_valid(self, coord):
        if type(coord) is not Coord or not self._within_bounds(coord):
            self._refuse(f"{coord!r} is no cell of the board")

    def _assert_coord_occ_by(self, coord, color):
        if self._cell_empty(coord) or self._state[coord].state != color:
            self._refuse(f"there is no frog of {color} on {coord}")

    def _assert_coord_empty(self, coord):
        if self._cell_occupied(coord):
            self._refuse(f"{coord} isn't empty")

    def _assert_direction_valid(self, direction):
        if type(direction) is not Direction:
            self._refuse(f"{direction!r} is no direction")

    def _assert_direction_legal(self, direction, color):
        illegal = {
            PlayerColor.RED: ILLEGAL_RED_DIRECTIONS,
            PlayerColor.BLUE: ILLEGAL_BLUE_DIRECTIONS,
        }
        if direction in illegal.get(color, ()):
            self._refuse(f"{color} doesn't move {direction}")

    def _assert_has_attr(self, action, attr):
        if not hasattr(action, attr):
            self._refuse(f"{action!r} has no {attr}")

    def _validate_move_action(self, action):
        if type(action) is not MoveAction:
            self._refuse(f"{action!r} is no move")
        self._assert_has_attr(action, "coord")
        self._assert_has_attr(action, "directions")
        self._assert_coord_valid(action.coord)
        self._assert_coord_occ_by(action.coord, self._turn_color)
        ways = action.directions
        if type(ways) not in (tuple, list) or not ways:
            self._refuse(f"{ways!r} is no list of directions")
        for way in ways:
            self._assert_direction_valid(way)
            self._assert_direction_legal(way, self._turn_color)
        if self._state[self._resolve_move_destination(action)].state != LILY_PAD:
            self._refuse(f"{action} doesn't end on a free pad")

    def _resolve_move_action(self, action):
        self._validate_move_action(action)
        start, end = action.coord, self._resolve_move_destination(action)
        changes = {start: CellState(), end: self._state[start]}
        return self._mutation(MoveAction(start, tuple(action.directions)), changes)

    def _resolve_grow_action(self, action):
        own = [cell for cell, there in self._state.items() if there.state == self._turn_color]
        around = {near for cell in own for near in self._neighbours(cell)}
        empty = filter(self._cell_empty, around)
        return self._mutation(action, {cell: CellState(LILY_PAD) for cell in empty})

    def _mutation(self, action, changes):
        cells = {CellMutation(cell, self._state[cell], new) for cell, new in changes.items()}
        return BoardMutation(action, cells)

    def _resolve_move_destination(self, action):
        cell, ways = action.coord, action.directions
        try:
            if len(ways) == 1 and not self._cell_occupied_by_player(cell + ways[0]):
                return cell + ways[0]
            for way in ways:
                if not self._cell_occupied_by_player(cell + way):
                    self._refuse(f"{action} jumps over a cell without a frog")
                cell = cell + way + way
                if self._cell_occupied_by_player(cell):
                    self._refuse(f"{action} jumps onto a frog")
        except ValueError:
            self._refuse(f"{action} leaves the board")
        return cell


# Every name is offered by the package and by each of its modules: agents import them from where
# they are defined, from the package, and from modules that only import them.
OFFERED = """
    GAME_NAME NUM_PLAYERS BOARD_N MAX_TURNS Vector2 Direction Coord MoveAction GrowAction Action
    Player PlayerColor PlayerException IllegalActionException CellState CellMutation BoardMutation
    Board ILLEGAL_RED_DIRECTIONS ILLEGAL_BLUE_DIRECTIONS
""".split() + list(UPDATES)
HOMES = {
    "constants": [],
    "coord": [Vector2, Direction, Coord],
    "actions": [MoveAction, GrowAction],
    "exceptions": [PlayerException, IllegalActionException],
    "player": [Player, PlayerColor],
    "board": [CellState, CellMutation, BoardMutation, Board],
}
# `import *` takes what the course's modules had at their top level, which is not only their own; it
# takes no more, as it would replace an agent's own `Board`.
CONSTANTS = "GAME_NAME NUM_PLAYERS BOARD_N MAX_TURNS"
STARRED = {
    "constants": CONSTANTS,
    "coord": "BOARD_N Coord Direction Enum Generator Vector2 dataclass",
    "actions": "Action Coord Direction GrowAction MoveAction dataclass",
    "exceptions": "IllegalActionException PlayerException",
    "player": "ABC Action Enum Player PlayerColor abstractmethod",
    "board": f"""
        {CONSTANTS} Action Board BoardMutation CellMutation CellState Coord Direction GrowAction
        ILLEGAL_BLUE_DIRECTIONS ILLEGAL_RED_DIRECTIONS IllegalActionException Literal MoveAction
        PlayerColor dataclass
    """,
    "": f"""
        {CONSTANTS} {" ".join(HOMES)} {" ".join(UPDATES)} Action AsyncGenerator Board Coord
        Direction GrowAction IllegalActionException MoveAction Player PlayerColor PlayerException
        dataclass
    """,
}
BORROWED = {name: getattr(typing, name) for name in ("AsyncGenerator", "Generator", "Literal")}
for borrowed in (abc.ABC, abc.abstractmethod, dataclasses.dataclass, enum.Enum):
    BORROWED[borrowed.__name__] = borrowed


def install_referee():
    """Makes `referee`, `referee.game` and its modules importable."""
    names = ["referee", "referee.game"] + [f"referee.game.{home}" for home in HOMES]
    for name in names:
        module = types.ModuleType(name)
        package = name in ("referee", "referee.game")
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=package)
        if package:
            module.__path__ = []
        if name != "referee":
            vars(module).update({offered: globals()[offered] for offered in OFFERED})
            module.__all__ = STARRED[name[len("referee.game."):]].split()
            vars(module).update({own: BORROWED[own] for own in module.__all__ if own in BORROWED})
            parent, _, own = name.rpartition(".")
            setattr(sys.modules[parent], own, module)
        sys.modules[name] = module
    for home, classes in HOMES.items():
        for offered in classes:
            offered.__module__ = f"referee.game.{home}"
    for update in UPDATES:
        globals()[update].__module__ = "referee.game"
