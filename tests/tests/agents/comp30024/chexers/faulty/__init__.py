"""Return values that are malformed in the course."""


class Good:
    """The base class."""

    answer = None

    def __init__(self, colour):
        pass

    def action(self):
        """What the class says."""
        return self.answer

    def update(self, colour, action):
        """Nothing to keep."""


class Nothing(Good):
    """Forgot to return."""


class Lists(Good):
    """Lists are no tuples."""

    answer = ["MOVE", [[-3, 0], [-2, 0]]]


class Lower(Good):
    """Names are in capitals."""

    answer = ("move", ((-3, 0), (-2, 0)))


class Short(Good):
    """A pass has two parts."""

    answer = ("PASS",)


class Away(Good):
    """Well formed, but the hex has no piece."""

    answer = ("MOVE", ((0, 0), (1, 0)))


class Beyond(Good):
    """Off the board."""

    answer = ("MOVE", ((-3, 0), (-4, 0)))
