"""Plays forward on its own board, and checks that updates are those of the course."""

import random

from .rules import actions, distance, play, start


class Forward:
    """Exits where it can, else goes where it is nearest to an exit."""

    def __init__(self, colour):
        assert type(colour) is str and colour in ("red", "green", "blue")
        self.colour, self.board, self.mine = colour, start(), None

    def action(self):
        """Returns a legal action."""
        def worth(action):
            name, where = action
            exits = name == "EXIT"
            return (exits, 0 if exits or name == "PASS" else -distance(self.colour, where[1]),
                    random.random())
        self.mine = max(actions(self.board, self.colour), key=worth)
        return self.mine

    def update(self, colour, action):
        """Every action comes here, its own included."""
        assert action in actions(self.board, colour), (colour, action)
        assert colour != self.colour or action is self.mine
        print(f"{colour} {action}")
        play(self.board, colour, action)
