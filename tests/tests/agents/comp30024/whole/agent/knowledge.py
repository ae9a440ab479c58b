"""What the modules of the agent share: state of a module, filled as the match goes on."""

from referee.game import Direction, PlayerColor

FORWARD = {
    PlayerColor.RED: [Direction.Down, Direction.DownLeft, Direction.DownRight],
    PlayerColor.BLUE: [Direction.Up, Direction.UpLeft, Direction.UpRight],
}
seen = []
