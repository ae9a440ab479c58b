"""Imports its own names first, and then everything from those modules that have no `Board`."""

import agent

from .board import Board
from referee.game.constants import *
from referee.game.coord import *
from referee.game.actions import *
from referee.game.player import *
from referee.game.exceptions import *

assert agent.__name__ == "agent" and BOARD_N == 8


class Agent:
    """The course's name for it."""

    def __init__(self, color: PlayerColor, **referee: dict):
        self.board = Board(mine=color)

    def action(self, **referee: dict) -> Action:
        """As its board says."""
        return self.board.action()

    def update(self, color: PlayerColor, action: Action, **referee: dict):
        """Leaves a line open, and crashes for an action of the other side."""
        if color != self.board.mine:
            print("thinking..", end="")
            raise IllegalActionException("first line\nsecond line")
