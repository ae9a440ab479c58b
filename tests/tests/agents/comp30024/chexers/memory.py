"""Players that use memory, besides that of numpy, which they import."""

import mmap
import sys

import numpy

MB = 1 << 20
# As large libraries do. None of it is used.
RESERVED = mmap.mmap(-1, 6000 * MB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)


class Player:
    """Uses none."""

    megabytes = 0

    def __init__(self, colour):
        self.kept = numpy.ones(self.megabytes * MB, dtype=numpy.uint8)

    def action(self):
        """Illegal if a piece can move."""
        return ("PASS", None)

    def update(self, colour, action):
        """Nothing to keep."""


class Third(Player):
    """Uses more than a third of what three players had together."""

    megabytes = 120


class All(Player):
    """Uses more than all three had together."""

    megabytes = 310


class Patched(Player):
    """Switches off what counts its memory, before it is counted, and uses more than it may."""

    def action(self):
        """Keeps it."""
        self.kept = [b"x" * MB for _ in range(400)]
        return super().action()


if "Patched" in sys.argv[1]:
    import resource

    resource.setrlimit = sys.modules["__main__"].Resources.check_memory = lambda *_: None
