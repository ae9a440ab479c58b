"""What the course's own package `src` offers, for agents that come without it.

Agents import these names and rely on their attributes. The rules that decide a match are Referee's own:
the board here serves agents that simulate on it, and judges nothing.
"""

import abc
import dataclasses
import enum
import logging
import sys
import types
import typing


class Colour(enum.Enum):
    """RED connects the first row with the last, BLUE the first column with the last. RED begins."""

    RED = 0
    BLUE = 1

    def get_text(colour):
        """Its name; also of no colour."""
        return str(colour and colour.name)

    def get_char(colour):
        """Its letter, in its colour on a terminal; 0 of no colour."""
        return Colour._painted(colour.name[0], colour) if colour else "0"

    def from_char(c):
        """The colour with this letter, or None."""
        return {"R": Colour.RED, "B": Colour.BLUE}.get(c)

    def opposite(colour):
        """The other colour."""
        return {Colour.RED: Colour.BLUE, Colour.BLUE: Colour.RED}.get(colour)

    def red(text):
        """Text in red."""
        return Colour._painted(text, Colour.RED)

    def blue(text):
        """Text in blue."""
        return Colour._painted(text, Colour.BLUE)

    def green(text):
        """Text in green."""
        return f"\033[92m{text}\033[0m"

    def _painted(text, colour):
        return f"\033[{91 if colour is Colour.RED else 94}m{text}\033[0m"


@dataclasses.dataclass
class Tile:
    """A cell of the board."""

    NEIGHBOUR_COUNT = 6
    I_DISPLACEMENTS = [-1, -1, 0, 1, 1, 0]
    J_DISPLACEMENTS = [0, 1, 1, 0, -1, -1]

    _x: int
    _y: int
    _colour: typing.Optional[Colour] = None
    _visited: bool = False

    @property
    def x(self):
        """Its row."""
        return self._x

    @property
    def y(self):
        """Its column."""
        return self._y

    @property
    def colour(self):
        """The colour of its stone, or None."""
        return self._colour

    @colour.setter
    def colour(self, colour):
        self._colour = colour

    def visit(self):
        """Marks it."""
        self._visited = True

    def is_visited(self):
        """Whether it is marked."""
        return self._visited

    def clear_visit(self):
        """Removes the mark."""
        self._visited = False


@dataclasses.dataclass(frozen=True)
class Move:
    """A stone on a row and column; without them, the swap."""

    _x: int = -1
    _y: int = -1

    @property
    def x(self):
        """The row."""
        return self._x

    @property
    def y(self):
        """The column."""
        return self._y

    def __str__(self):
        return "SWAP()" if (self._x, self._y) == (-1, -1) else f"(x={self._x}, y={self._y})"


class Board:
    """The stones. What begins with an underscore is here because agents use that too."""

    def __init__(self, board_size=11):
        self._size = board_size
        self._tiles = [[Tile(x, y) for y in range(board_size)] for x in range(board_size)]
        self._winner = None

    def __str__(self):
        return self.print_board()

    def __eq__(self, other):
        return isinstance(other, Board) and self._colours() == other._colours()

    __hash__ = object.__hash__

    def from_string(string_input, board_size=11):
        """The board of a text with a line for each row, and spaces between the letters."""
        board = Board(board_size)
        for x, line in enumerate(string_input.split("\n")):
            for y, letter in enumerate(line.split()):
                board.tiles[x][y].colour = Colour.from_char(letter)
        return board

    @property
    def size(self):
        """The number of rows and of columns."""
        return self._size

    @property
    def tiles(self):
        """The cells, row by row."""
        return self._tiles

    def set_tile_colour(self, x, y, colour):
        """Puts a stone on a cell, or removes it."""
        self._tiles[x][y].colour = colour

    def get_winner(self):
        """The colour whose chain was found last."""
        return self._winner

    def has_ended(self, colour=None):
        """Whether a colour has a chain from one of its sides to the other."""
        if not isinstance(colour, Colour):
            raise ValueError("Invalid colour")
        self._winner = None
        for at in range(self._size):
            x, y = (0, at) if colour is Colour.RED else (at, 0)
            if self._tiles[x][y].colour is colour and not self._tiles[x][y].is_visited():
                self.DFS_colour(x, y, colour)
        self.clear_tiles()
        return self._winner is not None

    def clear_tiles(self):
        """Removes the marks of all cells."""
        for tile in [tile for line in self._tiles for tile in line]:
            tile.clear_visit()

    def DFS_colour(self, x, y, colour):
        """Marks the chain of a cell; the colour wins if that reaches its far side."""
        waiting = [self._tiles[x][y]]
        waiting[0].visit()
        while waiting:
            tile = waiting.pop()
            if (tile.x if colour is Colour.RED else tile.y) == self._size - 1:
                self._winner = colour
            for dx, dy in zip(Tile.I_DISPLACEMENTS, Tile.J_DISPLACEMENTS):
                x, y = tile.x + dx, tile.y + dy
                if 0 <= x < self._size and 0 <= y < self._size:
                    beside = self._tiles[x][y]
                    if beside.colour is colour and not beside.is_visited():
                        beside.visit()
                        waiting.append(beside)

    def print_board(self):
        """The board as text, each row further to the right."""
        lines = ["".join(Colour.get_char(tile.colour) + " " for tile in line) for line in self._tiles]
        return "".join(" " * x + line + "\n" for x, line in enumerate(lines))

    def _colours(self):
        return [[tile.colour for tile in line] for line in self._tiles]


class AgentBase(abc.ABC):
    """What agents are derived from."""

    @abc.abstractmethod
    def __init__(self, colour):
        self._colour = colour

    @abc.abstractmethod
    def make_move(self, turn, board, opp_move):
        """The next move."""

    @property
    def colour(self):
        """Its colour, which a swap changes."""
        return self._colour

    @colour.setter
    def colour(self, colour):
        self._colour = colour

    def opp_colour(self):
        """The colour of its opponent."""
        return Colour.opposite(self._colour)


class Game:
    """What agents use of the course's program itself."""

    MAXIMUM_TIME = 5 * 60 * 10**9


def install_src():
    """Makes `src` and its modules importable."""
    package = sys.modules["src"] = types.ModuleType("src")
    package.__path__ = []
    for offered in (Colour, Tile, Move, Board, AgentBase, Game):
        name = offered.__name__
        offered.__module__ = f"src.{name}"
        module = sys.modules[f"src.{name}"] = types.ModuleType(f"src.{name}")
        vars(module).update({name: offered, "logger": logging.getLogger(f"src.{name}")})
        setattr(package, name, module)
