"""Has no class that the course named, but one that could play."""

from referee.game import GrowAction


class Bot:
    """Would play."""

    def action(self, **referee):
        """Always legal."""
        return GrowAction()

    def update(self, color, action, **referee):
        """Nothing to keep."""


class Table:
    """Can't play."""
