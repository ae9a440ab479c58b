"""The course's class as a game, with and without a list of actions, copied, and with choices at once."""
import copy
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from course.board import Board, PairAction, Spot, TrailAction
from referee_kit.class_game import ClassGame, set_constant
from referee_kit.game import Illegal, integer, over, piece, reason


class Course(ClassGame):
    name = "course"
    seats = ["red", "blue"]
    pieces = [piece("red", "red"), piece("blue", "blue")]
    setup = [integer("turns", 1, 20, 12)]
    reasons = [reason("end", "nothing more fits")]
    action_classes = [PairAction, TrailAction]
    unordered = [("a", "b")]

    def board(self, setup):
        if setup["turns"] == 13:
            raise Illegal("not thirteen turns")
        return Board()

    def prepare(self, setup):
        set_constant("course", "TURNS_MAX", setup["turns"])

    def to_move(self, board):
        return board.turn_count % 2

    def ending(self, board):
        return over([1, 1], "end") if board.game_over else None

    def notes(self, state):
        return ["%d boards" % Board.made]


class Listed(Course):
    """Lists the pairs only, each in both orders of its cells, from a set."""

    def legal(self, board):
        spots = [Spot(r, c) for r in range(4) for c in range(4)]
        return {PairAction(a, b) for a in spots for b in spots
                if abs(a.r - b.r) + abs(a.c - b.c) == 1 and not {a, b} & set(board.stones)}


class Copied(Listed):
    """Copies a board rather than play its moves again."""

    def copied(self, board):
        return copy.deepcopy(board)


class AtOnce(Course):
    """Each side chooses one of its corners' pairs; both are played."""

    def to_move(self, board):
        return [0, 1]

    def choices(self, state, seat):
        turns = self.board_of(state).turn_count
        return [self.to_json(PairAction(Spot(3 * seat, turns), Spot(3 * seat, turns + 1)))]

    def resolve(self, state, actions):
        for seat in sorted(actions):
            state = self.play(state, actions[seat])
        return state


if __name__ == "__main__":
    games = {"listed": Listed, "copied": Copied, "at-once": AtOnce}
    games.get("".join(sys.argv[1:]), Course).main()
