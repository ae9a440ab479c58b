"""Answers with something that is not an action; the class selects it."""

from referee.game import Coord, Direction, GrowAction, MoveAction


class Good:
    """What the others spoil."""

    answer = None

    def __init__(self, color, **referee):
        pass

    def action(self, **referee):
        """What the class says."""
        return self.answer

    def update(self, color, action, **referee):
        """Nothing to keep."""


class Nothing(Good):
    """Forgot to return."""


class Text(Good):
    """Returns text."""

    answer = "GROW"


class Class(Good):
    """Returns the class."""

    answer = GrowAction


class Tuple(Good):
    """A cell that is none of the course's."""

    answer = MoveAction((0, 3), [Direction.Down])


class NoDirection(Good):
    """A direction that is none."""

    answer = MoveAction(Coord(0, 3), ["Down"])


class Unshown(Good):
    """Can't even be shown."""

    class Answer:
        """Raises when it is shown."""

        def __repr__(self):
            raise RuntimeError

    answer = Answer()


class Illegal(Good):
    """Up is not for red."""

    answer = MoveAction(Coord(0, 3), [Direction.Up])


class Empty(Good):
    """Goes nowhere."""

    answer = MoveAction(Coord(0, 3), [])
