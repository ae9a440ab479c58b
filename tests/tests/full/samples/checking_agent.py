#!/usr/bin/env python3
"""Plays at random, and checks in each of its turns that the strong Python agent's board lists the
same actions as the referee; exits with 1 if not."""
import json
import os
import random
import sys
from importlib import import_module

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(HERE, "..", "..", "..", "..", "sample-agents", "python", "strong")


def shape(action):
    """Returns an action without its intermediate steps, which the referee completes."""
    action = dict(action)
    action.pop("directions", None)
    if "path" in action:
        action["path"] = [action["path"][0], action["path"][-1]]
    return json.dumps(action, sort_keys=True)


def check(listed, own, turn):
    listed, own = {shape(action) for action in listed}, {shape(action) for action in own}
    if listed != own:
        sys.exit("turn {}: missing {}, too many {}".format(
            turn, sorted(listed - own), sorted(own - listed)))


def main():
    sys.path.insert(0, AGENT)
    player = None
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        answer = None
        if kind == "hello":
            random.seed(message["seed"])
            player = import_module(message["game"].replace("-", "_")).Player(message)
            answer = {"type": "ready", "name": "checking", "want": ["actions"]}
        elif kind == "played":
            player.played(message["seat"], message["action"])
        elif kind == "retired":
            player.retired(message["seat"])
        elif kind == "turn":
            check(message["actions"], player.actions(), message["turn"])
            answer = {"type": "action", "action": random.choice(message["actions"]),
                      "turn": message["turn"]}
        if answer:
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
