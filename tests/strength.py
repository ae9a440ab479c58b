#!/usr/bin/env python3
"""Measures how strong the built-in agents are, against what is promised of them.

usage: tests/strength.py [REFEREE] [NAME..]

Plays 100 games a row with rotating seats and prints target and figure; exits with 1 if a target is
missed. REFEREE is the program, target/release/referee unless it is given; NAMEs pick rows.
"""

import json
import subprocess
import sys

GAMES = 100
TWO_SEATS = ["chinese-checkers", "freckers", "hex"]


def matches(referee, game, agents, setup=(), games=GAMES):
    """The matches of a series, as `play --json` tells them."""
    command = [referee, "play", game, *agents, "--games", str(games), "--seed", "1"]
    command += ["--json", "--no-transcript", "--quiet"]
    for pair in setup:
        command += ["--setup", pair]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def first_places(told, name):
    """In how many matches this agent alone came first."""
    def won(match):
        places = match["verdict"]["places"]
        best = [seat["name"] for seat, place in zip(match["seats"], places) if place == 1]
        return best == [name]
    return sum(won(match) for match in told)


def rows():
    """Name, target, and a function that gives the figure, of GAMES or of 1."""
    for game in TWO_SEATS:
        yield (f"{game}: @greedy beats @random", 90, lambda referee, game=game:
               first_places(matches(referee, game, ["@greedy", "@random"]), "@greedy"))
    yield ("chexers: @greedy first against two @random", 60, lambda referee:
           first_places(matches(referee, "chexers", ["@greedy", "@random", "@random"]), "@greedy"))
    yield ("chinese-checkers: @greedy against itself ends within 300 turns", 100, lambda referee:
           sum(match["turns"] <= 300 and match["outcome"]["reason"] == "home" for match in
               matches(referee, "chinese-checkers", ["@greedy", "@greedy"])))
    for game in TWO_SEATS:
        yield (f"{game}: @minimax:2 beats @greedy", 60, lambda referee, game=game:
               first_places(matches(referee, game, ["@minimax:2", "@greedy"]), "@minimax:2"))
    puzzles = [("checker-puzzle", ["size=4", f"depth={depth}"]) for depth in (2, 3, 4)]
    puzzles += [("peg-solitaire", ["shape=triangle", "size=4", "open=[[1,0]]"]),
                ("peg-solitaire", ["shape=diamond", "size=4", "open=[[0,1]]"])]
    for agent in ("@greedy", "@minimax:2"):
        for game, setup in puzzles:
            yield (f"{game} {' '.join(setup)}: {agent} solves it", 1,
                   lambda referee, game=game, setup=setup, agent=agent:
                   first_places(matches(referee, game, [agent], setup, 1), agent))


def main():
    arguments = sys.argv[1:]
    referee = arguments.pop(0) if arguments else "target/release/referee"
    missed = 0
    for name, target, measure in rows():
        if arguments and not any(word in name for word in arguments):
            continue
        figure = measure(referee)
        met = figure >= target
        missed += not met
        print(f"{'ok  ' if met else 'MISS'}  {figure:3} of {target:3} wanted  {name}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
