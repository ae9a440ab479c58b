#!/usr/bin/env python3
"""Prints games with the ratings of other programs, for the tests of `contest::ratings`.

usage: python3 -m venv /tmp/choix && /tmp/choix/bin/pip install choix==0.4.1
       /tmp/choix/bin/python tests/ratings/freeze.py > referee/contest/src/ratings/tests/choix.json

The first three cases are fitted by choix (https://pypi.org/project/choix), which has neither draws
nor seat terms. The others are fitted by scipy to a likelihood that is implemented here independently,
from the formulas in the papers, with complex-step derivatives.

A game is a list: the player of each seat, then the place of each seat.
"""

import itertools
import json
import random

import choix
import numpy as np
from scipy.optimize import minimize

SEED = 20261121


def centred(values):
    return [float(value) for value in np.array(values) - np.mean(values)]


def pairs(draw):
    """Two seats, no draws, no seat terms."""
    strengths = [draw.gauss(0, 1) for _ in range(8)]
    games = []
    for first, second in itertools.permutations(range(8), 2):
        for _ in range(draw.randrange(1, 7)):
            chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
            games.append([first, second] + ([1, 2] if draw.random() < chance else [2, 1]))
    data = [(a, b) if place == 1 else (b, a) for a, b, place, _ in games]
    found = choix.ilsr_pairwise(8, data, tol=1e-12, max_iter=10000)
    return {"name": "choix.ilsr_pairwise", "players": 8, "seats": 2, "games": games,
            "prior": 1e-9, "seat_terms": False, "strengths": centred(found)}


def ranked(strengths, players, draw):
    """Places drawn by Plackett and Luce's model: the least of exponential times comes first."""
    times = [draw.expovariate(np.exp(strengths[player])) for player in players]
    return [1 + sum(1 for other in times if other < time) for time in times]


def rankings(draw):
    """Three seats, no ties, no seat terms."""
    strengths = [draw.gauss(0, 1) for _ in range(7)]
    games = []
    for players in itertools.permutations(range(7), 3):
        games.append([*players, *ranked(strengths, players, draw)])
    data = [sorted(game[:3], key=lambda player, game=game: game[3 + game.index(player)])
            for game in games]
    found = choix.opt_rankings(7, data, alpha=1e-9, tol=1e-12)
    return {"name": "choix.opt_rankings", "players": 7, "seats": 3, "games": games,
            "prior": 1e-9, "seat_terms": False, "strengths": centred(found)}


def winners(draw):
    """Four seats; only the winner counts and all others share the second place."""
    strengths = [draw.gauss(0, 1) for _ in range(6)]
    games, data = [], []
    for players in itertools.permutations(range(6), 4):
        if draw.random() < 0.5:
            places = [min(place, 2) for place in ranked(strengths, players, draw)]
            games.append([*players, *places])
            winner = players[places.index(1)]
            data.append((winner, tuple(player for player in players if player != winner)))
    found = choix.opt_top1(6, data, alpha=1e-9, tol=1e-12)
    return {"name": "choix.opt_top1", "players": 6, "seats": 4, "games": games,
            "prior": 1e-9, "seat_terms": False, "strengths": centred(found)}


def subsets(members):
    for size in range(1, len(members) + 1):
        yield from itertools.combinations(members, size)


def worth(chosen, strengths, seats, ties, among):
    """Davidson-Luce: the geometric mean of the worths, times the term of such a tie."""
    mean = sum(strengths[player] + seats[seat] for seat, player in chosen) / len(chosen)
    if len(chosen) == 1:
        return np.exp(mean)
    tie = ties.get((among, len(chosen)))
    return 0 if tie is None else np.exp(mean + tie)


def drawn(strengths, seats, ties, players, draw):
    remaining, places, place = list(enumerate(players)), [0] * len(players), 1
    while remaining:
        options = list(subsets(remaining))
        weights = [worth(option, strengths, seats, ties, len(remaining)) for option in options]
        chosen = draw.choices(options, weights)[0]
        for seat, _ in chosen:
            places[seat] = place
        place += len(chosen)
        remaining = [spot for spot in remaining if spot not in chosen]
    return places


def log_likelihood(games, strengths, seats, ties):
    value = 0
    for game in games:
        players, places = game[:len(game) // 2], game[len(game) // 2:]
        for place in sorted(set(places)):
            remaining = [(seat, player) for seat, player in enumerate(players)
                         if places[seat] >= place]
            chosen = [spot for spot in remaining if places[spot[0]] == place]
            if len(remaining) > 1:
                every = sum(worth(option, strengths, seats, ties, len(remaining))
                            for option in subsets(remaining))
                value += np.log(worth(chosen, strengths, seats, ties, len(remaining)) / every)
    return value


def joint(name, players, seats, ties, repeats, prior, draw):
    """Seats, ties and a prior, fitted by scipy."""
    strengths = [draw.gauss(0, 0.8) for _ in range(players)]
    games = [[*sitting, *drawn(strengths, seats, ties, sitting, draw)]
             for sitting in itertools.permutations(range(players), len(seats))
             for _ in range(repeats)]

    def loss(at):
        found = (at[:players], at[players:players + len(seats)],
                 dict(zip(ties, at[players + len(seats):])))
        added = sum(np.log(1 / (1 + np.exp(-one)) / (1 + np.exp(one))) for one in at)
        return -log_likelihood(games, *found) - prior * added

    def slope(at):
        steps = 1e-30j * np.eye(len(at))
        return np.array([loss(at + step).imag / 1e-30 for step in steps])

    start = np.zeros(players + len(seats) + len(ties))
    best = minimize(loss, start, jac=slope, method="BFGS", options={"gtol": 1e-8}).x
    assert np.abs(slope(best)).max() < 1e-6
    return {"name": name, "players": players, "seats": len(seats), "games": games,
            "prior": prior, "seat_terms": True, "strengths": centred(best[:players]),
            "seat_values": centred(best[players:players + len(seats)]),
            "ties": [[*tie, float(value)]
                     for tie, value in zip(ties, best[players + len(seats):])]}


def main():
    draw = random.Random(SEED)
    cases = [pairs(draw), rankings(draw), winners(draw),
             joint("two seats with draws", 5, [0.3, -0.3], {(2, 2): -0.5}, 6, 1.0, draw),
             joint("three seats with ties", 5, [0.4, 0.0, -0.4],
                   {(2, 2): -0.7, (3, 2): -0.8, (3, 3): -0.5}, 3, 1.0, draw)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    print(f"[\n{lines}\n]")


if __name__ == "__main__":
    main()
