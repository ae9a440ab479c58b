"""A game with the fewest methods, whose state is a list and whose action has two spellings."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from referee_kit.game import Game, Illegal, cells, form, over, piece, reason


class Bare(Game):
    name = "bare"
    seats = ["black"]
    pieces = [piece("black", "#102030")]
    forms = [form("walk", "{path}", cells("path"), example={"path": [[0, 0], [0, 1]]})]
    reasons = [reason("tired", "it has walked enough")]
    score = {"unit": "steps", "fewer_is_better": True}

    def start(self, setup):
        return []

    def turn(self, state):
        return over([1], "tired", [len(state)]) if len(state) > 1 else 0

    def complete(self, state, action):
        (row, column), (to_row, to_column) = action["path"][0], action["path"][-1]
        if row != to_row:
            raise Illegal("the path leaves its row")
        return dict(action, path=[[row, c] for c in range(column, to_column + 1)])

    def play(self, state, action):
        state.append(len(action["path"]))
        return state


if __name__ == "__main__":
    if sys.argv[1:] == ["seats"]:
        Bare.seats = ["white"]
    Bare.main()
