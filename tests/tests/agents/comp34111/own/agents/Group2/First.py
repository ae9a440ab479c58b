"""Takes the first free cell; says which board it got."""

from src.AgentBase import AgentBase
from src.Move import Move


class Agent(AgentBase):
    """The only class here that can play."""

    def make_move(self, turn, board, opp_move):
        """Row by row."""
        if turn < 3:
            print(f"the board here is {board.WHOSE}")
        free = [(x, y) for x in range(board.size) for y in range(board.size)]
        return Move(*next(at for at in free if at not in board.taken))
