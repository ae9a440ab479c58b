"""A game that does, when asked, what rules must not do."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from referee_kit.game import Game, Illegal, cell, choice, form, integer, optional, piece, reason

print("printed while the rules are read")
FAULTS = ["fine", "set", "deep_set", "none", "key_error", "nan", "object", "exit", "changed",
          "no_turn", "malformed_list", "set_of_actions", "whole", "print", "illegal", "tuple_key",
          "endless", "tuple", "look"]


class Faulty(Game):
    name = "faulty"
    seats = ["black"]
    pieces = [piece("black", "black")]
    setup = [integer("size", 1, 9, 3)]
    forms = [form("do", "{what}", choice("what", FAULTS), optional(cell("at")),
                  optional(integer("count", 0, 9)), example={"what": "fine"})]
    reasons = [reason("end", "it ended")]

    def start(self, setup):
        if setup["size"] == 7:
            raise Illegal("`size` can't be 7")
        return {"did": "fine", "count": 0}

    def turn(self, state):
        return None if state["did"] == "no_turn" else 0.0

    def actions(self, state):
        if state["did"] == "set_of_actions":
            return {1, 2}
        if state["did"] == "malformed_list":
            return [{"type": "do", "what": "fine", "at": [1]}]
        return [{"type": "do", "what": fault} for fault in FAULTS]

    def play(self, state, action):
        what = action["what"]
        after = {"did": what, "count": state["count"] + action.get("count", 1)}
        if what == "set":
            return {1, 2}
        if what == "deep_set":
            return {"cells": [0, {"inside": {1, 2}}]}
        if what == "none":
            return None
        if what == "key_error":
            return state["x"]
        if what == "nan":
            return {"value": float("nan")}
        if what == "object":
            return {"value": [object()]}
        if what == "tuple_key":
            return {"cells": {(0, 1): 1}}
        if what == "exit":
            sys.exit(3)
        if what == "endless":
            return self.play(state, action)
        if what == "print":
            print("a stray print")
            os.write(1, b"a stray write\n")
        if what == "illegal":
            raise Illegal("this is forbidden")
        if what == "tuple":
            after.update(pair=(1, 2), keys={1: 2})
        if what == "look":
            after.update(seen=[type(state["pair"]).__name__, type(list(state["keys"])[0]).__name__])
        if what == "whole":
            after["at"] = action["at"]
        return after

    def position(self, state):
        if state["did"] == "changed":
            state["count"] = 0
        return state


if __name__ == "__main__":
    Faulty.main()
