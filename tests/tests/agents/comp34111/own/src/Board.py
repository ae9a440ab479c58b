"""The board."""


class Board:
    """Knows which cells are taken."""

    WHOSE = "its own"

    def __init__(self, size):
        self.size, self.taken = size, set()

    def set_tile_colour(self, x, y, colour):
        """Takes a cell."""
        self.taken.add((x, y))
