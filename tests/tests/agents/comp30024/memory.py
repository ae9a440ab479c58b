"""Agents that use much memory."""

from referee.game import GrowAction

MB = 1 << 20


class Obedient:
    """Uses nearly all that remains for it."""

    def __init__(self, color, **referee):
        self.kept = []

    def action(self, **referee):
        """Fills memory, page by page."""
        while referee["space_remaining"] - len(self.kept) > 4:
            self.kept.append(b"x" * MB)
        return GrowAction()

    def update(self, color, action, **referee):
        """Nothing to keep."""


class Brief(Obedient):
    """Uses more than the limit for a moment, which the course counted too."""

    def action(self, **referee):
        """Forgets it at once."""
        bytearray(int(referee["space_limit"] + 10) * MB)
        return GrowAction()
