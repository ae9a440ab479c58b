"""Rules as a course has them: a board that changes, and actions that are dataclasses."""
from dataclasses import dataclass
from enum import Enum
from typing import Tuple, Union

TURNS_MAX = 12


class IllegalAction(Exception):
    pass


class Way(Enum):
    UP = (-1, 0)
    DOWN = (1, 0)
    LEFT = (0, -1)
    RIGHT = (0, 1)


@dataclass(frozen=True)
class Spot:
    r: int
    c: int

    def __post_init__(self):
        if not (0 <= self.r < 4 and 0 <= self.c < 4):
            raise ValueError("Out of bounds: %d, %d." % (self.r, self.c))


@dataclass(frozen=True)
class PairAction:
    """Places two stones side by side."""
    a: Spot
    b: Spot


@dataclass(frozen=True)
class TrailAction:
    """Places a stone at the end of a trail."""
    start: Spot
    _ways: Union[Way, Tuple[Way, ...]]

    @property
    def ways(self):
        return (self._ways,) if isinstance(self._ways, Way) else self._ways


class Board:
    made = 0

    def __init__(self):
        Board.made += 1
        self.stones, self.turn_count = {}, 0

    def apply_action(self, action):
        print("the board is asked")
        if isinstance(action, PairAction):
            cells = [action.a, action.b]
            if abs(action.a.r - action.b.r) + abs(action.a.c - action.b.c) != 1:
                raise IllegalAction("The cells are not\n side by side.")
        else:
            at = action.start
            for way in action.ways:
                at = Spot(at.r + way.value[0], at.c + way.value[1])
            cells = [at]
        for cell in cells:
            # What it has placed stays when it refuses: the adapter must not use this board again.
            if cell in self.stones:
                raise IllegalAction("occupied")
            self.stones[cell] = self.turn_count % 2
        self.turn_count += 1
        if cells[0] == cells[-1] == Spot(3, 3):
            raise RuntimeError("a defect in the class")

    @property
    def game_over(self):
        return len(self.stones) == 16 or self.turn_count >= TURNS_MAX

    def render(self):
        rows = [[self.stones.get(Spot(r, c), ".") for c in range(4)] for r in range(4)]
        return "\n".join("".join(map(str, row)) for row in rows)
