#!/usr/bin/env python3
"""A bot for Referee: plays any legal action. Make it yours by changing `choose`."""
import random

from referee_kit import run


def choose(game):
    """Is called whenever it is your turn: returns an action, or None to resign."""
    # >>> Your idea goes here. What there is to work with (referee_kit.py has it all):
    #
    #   game.actions()            every legal action
    #   game.after(action)        a copy of the game in which it has been played
    #   game.is_over()            and game.winner(): the seat that has won, or None
    #   game.seat, game.seats     your seat, and everyone's name and colour
    #   game.turn, game.left_ms   the number of the turn, the milliseconds that you have left
    #   game.pieces               {cell: seat}; game.pieces_of(game.seat) are your own
    #   game.neighbours(cell)     the cells beside it
    #
    # Such as: win where you can.
    #
    #   for action in game.actions():
    #       if game.after(action).winner() == game.seat:
    #           return action
    return random.choice(game.actions())


if __name__ == "__main__":
    run(choose)
