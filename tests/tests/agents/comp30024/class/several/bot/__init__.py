"""An agent that others build on."""

from referee.game import GrowAction


class Agent:
    """Grows."""

    def __init__(self, color, **referee):
        self.color = color

    def action(self, **referee):
        """Always legal."""
        return GrowAction()

    def update(self, color, action, **referee):
        """Nothing to keep."""
