"""Agents that use much memory."""

import resource
import sys

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


class Patched(Obedient):
    """Switches off what counts its memory, as far as it can, and uses more than the limit."""

    def action(self, **referee):
        """Keeps it."""
        sys.modules["__main__"].Resources.check_memory = lambda *_: None
        unlimited = resource.RLIM_INFINITY
        try:
            resource.setrlimit(resource.RLIMIT_AS, (unlimited, unlimited))
        except (OSError, ValueError):
            pass
        self.kept = [b"x" * MB for _ in range(int(referee["space_limit"]) + 120)]
        return GrowAction()
