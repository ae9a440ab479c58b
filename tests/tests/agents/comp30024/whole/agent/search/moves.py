"""Moves towards the other side, in the forms that the course took."""

from referee.game import Board, MoveAction, PlayerColor
from referee.game.board import CellState

from ..knowledge import FORWARD


def forward_moves(board: Board, color: PlayerColor):
    """Steps as lists of one direction, jumps as a direction alone."""
    frogs = [cell for cell, there in board._state.items() if there == CellState(color)]
    for frog in sorted(frogs):
        for way in FORWARD[color]:
            try:
                near = board[frog + way].state
                if near == "LilyPad":
                    yield MoveAction(frog, [way])
                elif near is not None and board[frog + way * 2].state == "LilyPad":
                    yield MoveAction(frog, way)
            except ValueError:
                pass
