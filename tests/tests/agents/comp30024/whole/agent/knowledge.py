"""State that the agent's modules share, filled during the match."""

from referee.game import Direction, PlayerColor

FORWARD = {
    PlayerColor.RED: [Direction.Down, Direction.DownLeft, Direction.DownRight],
    PlayerColor.BLUE: [Direction.Up, Direction.UpLeft, Direction.UpRight],
}
seen = []
