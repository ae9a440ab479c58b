"""Crashes where its class says."""

import sys

from referee.game import Coord, GrowAction


class Good:
    """What the others spoil."""

    def __init__(self, color, **referee):
        pass

    def action(self, **referee):
        """Always legal."""
        return GrowAction()

    def update(self, color, action, **referee):
        """Nothing to keep."""


class InInit(Good):
    """Crashes when it is made."""

    def __init__(self, color, **referee):
        raise KeyError(f"no opening for {color}")


class InAction(Good):
    """Crashes two calls deep, out of the classes that it was given."""

    def action(self, **referee):
        """Crashes."""
        return self.beyond()

    def beyond(self):
        """There is no such cell."""
        return Coord(8, 0)


class InUpdate(Good):
    """Crashes because of a crash."""

    def update(self, color, action, **referee):
        """Crashes."""
        try:
            raise ValueError("first")
        except ValueError:
            raise ZeroDivisionError("second")


class Leaves(Good):
    """Ends its process."""

    def action(self, **referee):
        """Leaves."""
        sys.exit("enough")


class Deep(Good):
    """Recurses without end."""

    def action(self, **referee):
        """Recurses."""
        return self.action()


class TakesNothing(Good):
    """Can't be made as the course makes agents."""

    def __init__(self):
        pass
