#!/usr/bin/env python3
"""Measures the strength of the built-in agents and the strong samples against their targets.

usage: tests/strength.py [REFEREE] [NAME..]

Plays 100 games per row with rotating seats and prints target and figure; exits with 1 if a target is
missed. REFEREE is the program, default target/release/referee; NAMEs select rows.
"""

import json
import subprocess
import sys

GAMES = 100
TWO_SEATS = ["chinese-checkers", "freckers", "hex"]

# Build the second one first, as its agent.toml says.
STRONG = {"strong-python": "sample-agents/python/strong",
          "strong-rust": "sample-agents/rust/strong"}
# By size and depth, for boards with a proved minimum.
FEWEST_MOVES = {(3, 2): 5, (3, 3): 4, (3, 4): 2, (4, 2): 8, (4, 3): 8, (4, 4): 9,
                (5, 2): 11, (5, 3): 11, (5, 4): 13, (6, 2): 14, (6, 3): 15, (6, 4): 16,
                (7, 2): 17, (7, 3): 17, (8, 2): 20, (8, 3): 19}
# Shape, size, open cell and finish: the usual starts that can be solved, and some harder ones.
PEG_STARTS = [("triangle", 5, "[[2,1]]", "any"), ("triangle", 6, "[[3,1]]", "any"),
              ("triangle", 8, "[[4,2]]", "any"), ("diamond", 6, "[[2,2]]", "any"),
              ("triangle", 4, "[[1,0]]", "any"), ("triangle", 7, "[[1,0]]", "any"),
              ("diamond", 4, "[[0,1]]", "any"), ("diamond", 5, "[[0,1]]", "any"),
              ("triangle", 5, "[[0,0]]", "start"), ("triangle", 6, "[[3,1]]", "start"),
              ("diamond", 6, "[[0,0]]", "start")]


def matches(referee, game, agents, setup=(), games=GAMES):
    """Returns the matches of a series from `play --json`."""
    command = [referee, "play", game, *agents, "--games", str(games), "--seed", "1"]
    command += ["--json", "--no-transcript", "--quiet"]
    for pair in setup:
        command += ["--setup", pair]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def first_places(series, name):
    """Counts the matches in which this agent alone is first."""
    def won(match):
        places = match["verdict"]["places"]
        best = [seat["name"] for seat, place in zip(match["seats"], places) if place == 1]
        return best == [name]
    return sum(won(match) for match in series)


def rows():
    """Yields name, target, and a function that returns the figure, out of GAMES or 1."""
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


def sample_rows(name, agent):
    """Yields the rows of a strong sample; `tests/strength.py REFEREE rust` selects one sample."""
    agent = f"{name}={agent}"
    for game, others in [(game, 1) for game in TWO_SEATS] + [("chexers", 2)]:
        target = 70 if others == 1 else 50
        yield (f"{game}: {name} first against @greedy", target,
               lambda referee, game=game, others=others: first_places(
                   matches(referee, game, [agent] + ["@greedy"] * others), name))
    for (size, depth), fewest in FEWEST_MOVES.items():
        yield (f"checker-puzzle {size}/{depth}: {name} needs the fewest moves", 1,
               lambda referee, setup=(f"size={size}", f"depth={depth}"), fewest=fewest:
               scores("checker-puzzle", referee, agent, setup) == [fewest])
    for shape, size, opened, finish in PEG_STARTS:
        setup = (f"shape={shape}", f"size={size}", f"open={opened}", f"finish={finish}")
        yield (f"peg-solitaire {' '.join(setup)}: {name} solves it", 1,
               lambda referee, setup=setup:
               first_places(matches(referee, "peg-solitaire", [agent], setup, 1), name))


def scores(game, referee, agent, setup):
    """Plays a puzzle; returns the scores, or None if it didn't end by the rules."""
    (match,) = matches(referee, game, [agent], setup, 1)
    return (match["outcome"] or {}).get("scores")


def rows_of_all():
    """Yields the rows of the built-in agents, then of the strong samples."""
    yield from rows()
    for name, folder in STRONG.items():
        yield from sample_rows(name, folder)


def main():
    arguments = sys.argv[1:]
    referee = arguments.pop(0) if arguments else "target/release/referee"
    missed = 0
    for name, target, measure in rows_of_all():
        if arguments and not any(word in name for word in arguments):
            continue
        figure = measure(referee)
        met = figure >= target
        missed += not met
        print(f"{'ok  ' if met else 'MISS'}  {figure:3} of {target:3} wanted  {name}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
