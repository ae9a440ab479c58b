#!/usr/bin/env python3
"""A bot for Referee: wins if it can, and plays any legal action otherwise. Change `choose`."""
import random
from typing import Optional

from referee_kit.agent import Action, Position, run


def choose(position: Position) -> Optional[Action]:
    """Returns an action when it is your turn, or None to resign."""
    # >>> Your idea goes here. Some of what referee_kit/agent.py offers:
    #
    #   position.actions()        every legal action
    #   position.after(action)    the position after it; needs the game's rules in Python
    #   position.won_by(seat)     and places(), to_move(): what the rules say of a position
    #   position.seat, seats      your seat, and everyone's name and colour
    #   position.turn, left_ms    the number of the turn, your milliseconds left
    #   position.told             what the referee tells of the position
    actions = position.actions()
    if position.rules is not None:
        for action in actions:
            if position.after(action).won_by(position.seat):
                return action
    return random.choice(actions) if actions else None


if __name__ == "__main__":
    run(choose, rules=None)
