"""A board that isn't the course's."""

from referee.game import GrowAction


class Board:
    """Knows who plays, which the course's doesn't take."""

    def __init__(self, *, mine):
        self.mine = mine

    def action(self):
        """Always legal."""
        return GrowAction()
