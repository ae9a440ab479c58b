"""Fills lines, swaps when it can, and keeps a board of its own, which must be that of the course."""

import copy
import logging

from agents.Group1.order import cells
from src.AgentBase import AgentBase
from src.Board import Board
from src.Colour import Colour
from src.Game import logger
from src.Move import Move

SWAPS = "swap" in open("agents/Group1/plan.txt", encoding="utf-8").read()


class Lines(AgentBase):
    """The class that cmd.txt names."""

    swaps = SWAPS

    def __init__(self, colour: Colour):
        super().__init__(colour)
        assert isinstance(logger, logging.Logger)
        self.mine, self.turns = None, 0

    def make_move(self, turn, board, opp_move):
        """The next free cell of its lines."""
        self.mine = self.mine or Board(board.size)
        assert turn == self.turns + 2 if self.turns else turn in (1, 2), turn
        self.turns = turn
        if opp_move is not None and (opp_move.x, opp_move.y) != (-1, -1):
            self.mine.set_tile_colour(opp_move.x, opp_move.y, self.opp_colour())
        assert board == self.mine, f"turn {turn}:\n{board}{self.mine}"
        assert all(line.endswith(" ") for line in str(board).splitlines()), str(board)
        if turn == 2 and self.swaps:
            return Move(-1, -1)
        free = [at for at in cells(board.size, self.colour) if board.tiles[at[0]][at[1]].colour is None]
        x, y = free[len(free) // 2 if turn == 1 else 0]
        # What it does to the board that it gets changes nothing.
        board.set_tile_colour(x, y, self.opp_colour())
        self.mine.set_tile_colour(x, y, self.colour)
        if copy.deepcopy(self.mine).has_ended(self.colour):
            print(f"{self.colour.name} has connected its sides")
        return Move(x, y)


class Stays(Lines):
    """Never swaps."""

    swaps = False


class Wrong(Lines):
    """Returns what isn't a move."""

    def make_move(self, turn, board, opp_move):
        """A pair."""
        return (0, 0)
