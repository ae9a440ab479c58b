"""Plays with the actions of its own year's `referee.game`."""

import referee as program
from referee.game import Board, PairAction, PlayerColor, Spot, TrailAction, Way


class Agent:
    """The course's name for it."""

    def __init__(self, color, **referee):
        assert isinstance(color, PlayerColor) and referee["space_limit"] > 0
        assert program.__file__.endswith("/referee/__init__.py")
        self.color, self.board = color, Board()

    def action(self, **referee):
        """One stone first, then pairs of cells in a row."""
        if self.board.turn_count == 0:
            return TrailAction(Spot(0, 0), (Way.DOWN, Way.RIGHT))
        pairs = [(Spot(r, c), Spot(r, c + 1)) for r in range(4) for c in range(3)]
        free = [pair for pair in pairs if not set(pair) & set(self.board.stones)]
        if free:
            return PairAction(*free[-1])
        spots = [Spot(r, c) for r in range(4) for c in range(4)]
        return TrailAction(next(spot for spot in spots if spot not in self.board.stones), ())

    def update(self, color, action, **referee):
        """Gets objects of the same classes."""
        assert isinstance(color, PlayerColor)
        self.board.apply_action(action)
        print(f"{self.color.name} saw {color.name} play {type(action).__name__}")
