"""Takes actions apart by `match`, as the course's template does; for Python 3.10 and newer."""

from referee.game import Action, Coord, Direction, GrowAction, MoveAction, PlayerColor


class Agent:
    """The course's name for it."""

    def __init__(self, color: PlayerColor, **referee: dict):
        self._color = color
        match color:
            case PlayerColor.RED:
                print("playing as RED")
            case PlayerColor.BLUE:
                print("playing as BLUE")

    def action(self, **referee: dict) -> Action | None:
        """The template's own actions, which are legal once."""
        match self._color:
            case PlayerColor.RED:
                return MoveAction(Coord(0, 3), [Direction.Down])
            case PlayerColor.BLUE:
                return GrowAction()

    def update(self, color: PlayerColor, action: Action, **referee: dict):
        """Says what was played."""
        match action:
            case MoveAction(coord, dirs):
                print(f"{color} moved {coord} by {', '.join(str(dir) for dir in dirs)}")
            case GrowAction():
                print(f"{color} grew")
            case _:
                raise ValueError(f"Unknown action type: {action}")
