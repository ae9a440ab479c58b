"""The rules: two seats take 1 to 3 stones in turn from a pile, and whoever takes the last one wins.

Change this game into yours, part by part, and run `referee game check .` after each.
"""
from referee_kit.game import Game, Illegal, form, grid, integer, piece, reason, won_by

WIDTH = 5


class Rules(Game):
    """A state is {"left": how many stones, "to_move": the seat}: anything that JSON can hold."""
    # CHANGE: the name of the game, and who plays.
    name, title = "starter", "Take the last stone"
    summary = "Two sides take 1 to 3 stones in turn; whoever takes the last one wins."
    seats = ["red", "blue"]
    pieces = [piece("red", "red"), piece("blue", "blue"), piece("stone", "black")]
    # CHANGE: what can be chosen before a game.
    setup = [integer("stones", 4, 25, 21, "stones at the start")]
    # CHANGE: what actions look like, as JSON and as text.
    forms = [form("take", "{count}", integer("count", 1, 3), example={"count": 2},
                  meaning="takes this many stones")]
    # CHANGE: why a game can end, and how many moves it can have.
    reasons = [reason("last_stone", "it took the last stone")]
    plies_max = 25

    def start(self, setup):
        return {"left": setup["stones"], "to_move": 0}

    def turn(self, state):
        """The seat to move, or the end."""
        if state["left"] == 0:
            return won_by(1 - state["to_move"], 2, "last_stone")
        return state["to_move"]

    def actions(self, state):
        """Every legal action, always in the same order."""
        return [{"type": "take", "count": count} for count in range(1, min(3, state["left"]) + 1)]

    def play(self, state, action):
        """The next state. The fields of the action are as declared; all else is to be checked."""
        if action["count"] > state["left"]:
            raise Illegal("there are only %d stones" % state["left"])
        return {"left": state["left"] - action["count"], "to_move": 1 - state["to_move"]}

    def view(self, state):
        """The picture of the board."""
        view = grid(WIDTH, WIDTH).figure("stones", state["left"])
        for number in range(state["left"]):
            view.piece([number // WIDTH, number % WIDTH], "stone")
        return view


if __name__ == "__main__":
    Rules.main()
