#!/usr/bin/env python3
"""Plays all six games: speaks the protocol and leaves the thinking to one module a game.

A game's module has a class `Player`. It is made from `hello`, gets everything that was `played`
or `retired`, and asked to `choose` an action before a deadline; `actions` lists what is legal.
"""
import gc
import json
import sys
from importlib import import_module

from clock import Clock

GAMES = ("chinese-checkers", "chexers", "freckers", "hex", "checker-puzzle", "peg-solitaire")


def say(message):
    print(json.dumps(message), flush=True)


def answer(player, clock, turn):
    """Sends what viewers may see of the search, and the action."""
    clock.start(turn.get("left_ms"))
    action, info = player.choose(clock)
    legal = player.actions()
    if action not in legal:
        # This would be a mistake in the search; a legal action loses less than an illegal one.
        print("not legal: {}".format(action), file=sys.stderr)
        action = legal[0]
    if info:
        say(dict(info, type="info"))
    say({"type": "action", "turn": turn["turn"], "action": action})


def main():
    # The searches make no cycles, and looking for some would cost time at the wrong moment.
    gc.disable()
    player, clock = None, None
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            if message["game"] not in GAMES:
                sys.exit("this agent doesn't play {}".format(message["game"]))
            module = import_module(message["game"].replace("-", "_"))
            player, clock = module.Player(message), Clock(message["clock"])
            say({"type": "ready", "name": "strong (Python)"})
        elif kind == "played":
            player.played(message["seat"], message["action"])
        elif kind == "retired":
            player.retired(message["seat"])
        elif kind == "turn":
            answer(player, clock, message)


if __name__ == "__main__":
    main()
