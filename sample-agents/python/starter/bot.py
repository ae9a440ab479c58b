#!/usr/bin/env python3
"""A bot for Referee: wins if it can, and plays any legal action otherwise. Change `choose`."""
import random
from typing import Any, Optional

from referee_kit import Action, Game, run


def choose(game: Game[Any]) -> Optional[Action]:
    """Returns an action when it is your turn, or None to resign."""
    # >>> Your idea goes here. Some of what rules.py offers:
    #
    #   game.actions()            every legal action
    #   game.after(action)        a copy of the game with the action played
    #   game.is_over()            and game.winner(): the seat that has won, or None
    #   game.seat, game.seats     your seat, and everyone's name and colour
    #   game.turn, game.left_ms   the number of the turn, your milliseconds left
    #   game.pieces               {cell: seat}; game.pieces_of(game.seat) are your own
    #   game.neighbours(cell)     the cells beside it
    for action in game.actions():
        if game.after(action).winner() == game.seat:
            return action
    return random.choice(game.actions())


if __name__ == "__main__":
    run(choose)
