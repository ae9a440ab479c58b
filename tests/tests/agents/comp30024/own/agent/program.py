"""Steps with each frog in turn, then grows; says which `referee` it found."""

from referee import game
from referee.game import Coord, Direction, GrowAction, MoveAction, PlayerColor

print(f"the referee here is {game.WHOSE}")


class Agent:
    """The course's name for it."""

    def __init__(self, color: PlayerColor, **referee: dict):
        assert isinstance(color, PlayerColor)
        row, way = (0, Direction.Down) if color is PlayerColor.RED else (7, Direction.Up)
        self.plan = [MoveAction(Coord(row, c), (way,)) for c in range(1, 7)]

    def action(self, **referee: dict):
        """The next of the plan."""
        return self.plan.pop(0) if self.plan else GrowAction()

    def update(self, color, action, **referee: dict):
        """Gets objects of the same classes."""
        assert isinstance(color, PlayerColor) and isinstance(action, (MoveAction, GrowAction))
