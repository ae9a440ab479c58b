"""Prints wherever it can, reads where there is no input, and plays forward."""

import os
import random
import subprocess
import sys

import agent.knowledge
from referee.game import Action, Board, GrowAction, PlayerColor

from .knowledge import seen
from .search import forward_moves

print("printed at import")
sys.__stdout__.write("written to the first stdout\n")
os.write(1, b"written to descriptor 1\n")
subprocess.run([sys.executable, "-c", "print('printed by a subprocess')"], check=True)
try:
    input("asked? ")
except EOFError:
    print("no answer")


class Agent:
    """The course's name for it."""

    def __init__(self, color: PlayerColor, **referee: dict):
        self.color, self.board, self.mine = color, Board(), None
        print(f"plays {color} against {color.opponent}")
        assert referee["space_limit"] == 250.0, referee
        assert 0 < referee["space_remaining"] <= 250.0, referee
        assert referee["time_remaining"] == 180.0, referee

    def action(self, **referee: dict) -> Action:
        """A move forward, or grows."""
        assert 0 < referee["time_remaining"] <= 180.0, referee
        assert agent.knowledge.seen is seen and len(seen) == self.board.turn_count
        moves = list(forward_moves(self.board, self.color))
        self.mine = random.choice(moves) if moves and random.random() < 0.8 else GrowAction()
        print(f"{self.color} plays {self.mine}")
        return self.mine

    def update(self, color: PlayerColor, action: Action, **referee: dict):
        """Every action, this agent's own included, comes here."""
        assert color == self.board.turn_color
        if color == self.color:
            assert action == self.mine, (action, self.mine)
        seen.append(action)
        self.board.apply_action(action)
