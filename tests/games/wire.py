"""A game program's process as the referee sees it: requests, strict reading of answers, games."""
import json
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample-agents" / "games"
KITS = ROOT / "referee" / "python"

EVERYTHING = ["actions", "position", "view", "notes", "estimate", "seen", "told", "views"]
PALETTE = ["red", "green", "blue", "yellow", "purple", "orange", "black", "white"]
ARGUMENTS = {"grid": 2, "square": 1, "diamond": 1, "triangle": 1, "hexagon": 1, "star": 1}


class Program:
    """The rules of a folder, in a process of their own."""

    def __init__(self, folder, script="rules.py", *words, seed="0"):
        # The referee gives every program the kit.
        environment = dict(os.environ, PYTHONHASHSEED=seed, PYTHONPATH=str(KITS),
                           PYTHONDONTWRITEBYTECODE="1")
        environment.pop("PYTHONUNBUFFERED", None)  # It doesn't pass this on.
        self.process = subprocess.Popen(
            [sys.executable, script, *words], cwd=folder, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()

    def end(self):
        """Closes stdin and waits; returns what the program wrote to stderr."""
        if self.process.returncode is None:
            self.said = self.process.communicate()[1].decode()
            assert self.process.returncode == 0, (self.process.returncode, self.said)
        return self.said

    def line(self, request):
        """The answer to a request, as the line that came."""
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), (request, line)
        return line

    def ask(self, **request):
        """The answer to a request, checked for its number."""
        self.number += 1
        answer = json.loads(self.line(dict(request, id=self.number)))
        assert answer.pop("id") == self.number, answer
        return answer

    def siblings(self, state, moves, want):
        """The ply after each of these moves. All requests are sent before the answers are read."""
        requests = [{"id": number, "type": "walk", "state": state, "moves": [move], "want": want,
                     "at": "end"} for number, move in enumerate(moves)]
        lines = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
        assert len(lines) < 65536, "more than a pipe holds"
        self.process.stdin.write(lines)
        self.process.stdin.flush()
        answers = [json.loads(self.process.stdout.readline()) for _ in moves]
        assert [answer["id"] for answer in answers] == list(range(len(moves)))
        return [answer["plies"][0] for answer in answers]

    def describe(self):
        """What it says of itself, read strictly."""
        return check_description(self.ask(type="describe", protocol=1))

    def walk(self, **request):
        """What it answers to a walk: `walked`, `refused` or `failed`."""
        return self.ask(type="walk", **request)

    def at_start(self, setup, **more):
        """The first ply of a game."""
        answer = self.walk(setup=setup, moves=[], want=EVERYTHING, at="end", **more)
        assert answer["type"] == "walked", answer
        return answer["plies"][0]

    def after(self, state, move, want=EVERYTHING):
        """The answer to one move."""
        return self.walk(state=state, moves=[move], want=want, at="end")


def keys(value, needed, allowed=""):
    """Fails unless the object has the needed keys, and besides them only allowed ones."""
    needed, allowed = set(needed.split()), set(allowed.split())
    assert isinstance(value, dict) and needed <= set(value) <= needed | allowed, (value, needed)
    return value


def is_integer(value):
    return type(value) is int


def check_colour(colour):
    assert colour in PALETTE or re.fullmatch("#[0-9a-f]{6}", colour), colour


def check_description(described):
    """Fails unless a description is as docs/game-programs.md says."""
    keys(described, "type name title summary seats setup actions pieces reasons score labels lists "
                    "estimates chance plies_max", "simultaneous hidden")
    assert described["type"] == "described" and re.fullmatch("[a-z0-9-]+", described["name"])
    for field in described["setup"]:
        more = {"integer": " min max", "choice": " values", "boolean": ""}[field["type"]]
        keys(field, "name type default" + more, "meaning")
        check_value(field, field["default"])
    for form in described["actions"]:
        keys(form, "type text fields example meaning")
        names = {field["name"]: field for field in form["fields"]}
        for field in form["fields"]:
            more = {"integer": " min max", "choice": " values", "string": " max"}
            keys(field, "name type" + more.get(field["type"], ""), "meaning optional")
        assert set(re.findall("{(.*?)}", form["text"])) <= set(names), form
        check_action(described, form["example"])
    for piece in described["pieces"]:
        check_colour(keys(piece, "name colour", "text")["colour"])
    for reason in described["reasons"]:
        keys(reason, "name text meaning")
    if described["score"] is not None:
        keys(described["score"], "unit fewer_is_better")
    labels = described["labels"]
    assert labels in ("pair", "letter_number") or all(isinstance(it, str) for it in labels)
    assert is_integer(described["plies_max"])
    return described


def check_value(field, value):
    """Fails unless a value is as its field is declared."""
    def is_cell(it):
        return isinstance(it, list) and len(it) == 2 and all(map(is_integer, it))

    kind = field["type"]
    right = {
        "cell": lambda: is_cell(value),
        "cells": lambda: isinstance(value, list) and all(map(is_cell, value)),
        "integer": lambda: is_integer(value) and field["min"] <= value <= field["max"],
        "choice": lambda: value in field["values"],
        "string": lambda: isinstance(value, str) and len(value) <= field["max"],
        "boolean": lambda: isinstance(value, bool),
    }[kind]()
    assert right, (field, value)


def check_action(described, action):
    """Fails unless an action is of one of the forms."""
    form = {form["type"]: form for form in described["actions"]}[action["type"]]
    fields = {field["name"]: field for field in form["fields"]}
    for name, value in action.items():
        if name != "type":
            check_value(fields[name], value)
    missing = set(fields) - set(action)
    assert all(fields[name].get("optional") for name in missing), (action, missing)


def check_ply(described, seats, ply):
    """Fails unless an entry of `plies`, with everything in it, is as the page says."""
    keys(ply, "state turn actions position view notes" + " estimate" * described["estimates"]
         + " seen told views" * described.get("hidden", False))
    turn = ply["turn"]
    if "of" in turn:
        movers = keys(turn, "of")["of"]
        assert movers and movers == sorted(set(movers) & set(range(len(seats)))), turn
        assert len(movers) == 1 or described.get("simultaneous"), turn
    elif "over" in turn:
        outcome = keys(keys(turn, "over")["over"], "places reason",
                       "scores" * (described["score"] is not None))
        assert len(outcome["places"]) == len(seats) and min(outcome["places"]) == 1, outcome
        assert outcome["reason"] in [reason["name"] for reason in described["reasons"]], outcome
    else:
        drawing = keys(keys(turn, "chance")["chance"], "weights", "labels")
        assert described["chance"] and all(map(is_integer, drawing["weights"])), drawing
        assert len(drawing.get("labels", drawing["weights"])) == len(drawing["weights"]), drawing
    if not described["lists"] and "of" in turn:
        assert ply["actions"] is None
    else:
        assert ("of" in turn) == bool(ply["actions"]), ply
    lists = [ply["actions"] or ()]
    if described.get("simultaneous"):
        lists = ply["actions"] or ()
        assert len(lists) == len(turn.get("of", ())) and all(lists), ply
    for actions in lists:
        written = [json.dumps(action, sort_keys=True) for action in actions]
        assert len(set(written)) == len(written), written
        for action in actions:
            check_action(described, action)
    assert isinstance(ply["position"], dict) and isinstance(ply["notes"], list), ply
    if described["estimates"]:
        assert len(ply["estimate"]) == len(seats) and all(map(is_integer, ply["estimate"])), ply
    if described.get("hidden"):
        assert all(len(ply[each]) == len(seats) for each in ("seen", "told", "views")), ply
        assert all(isinstance(seen, dict) for seen in ply["seen"]), ply
    check_view(described, ply["view"])


def check_view(described, view):
    names = [piece["name"] for piece in described["pieces"]]
    keys(view, "", "shape pieces ground edges last chain figures rows text")
    assert "shape" in view or "text" in view, view
    if "shape" in view:
        (shape, size), = view["shape"].items()
        count = len(size) if isinstance(size, list) else 1
        assert count == ARGUMENTS[shape], view["shape"]
    for piece in view.get("pieces", ()):
        assert keys(piece, "at piece", "text")["piece"] in names, piece
    for mark in view.get("ground", ()):
        check_colour(keys(mark, "at colour")["colour"])
    for edge in view.get("edges", ()):
        check_colour(keys(edge, "colour cells outward")["colour"])
    for figure in view.get("figures", ()):
        keys(figure, "name value", "piece")
        assert isinstance(figure["value"], str) and figure.get("piece", names[0]) in names, figure
    for row in view.get("rows", ()):
        keys(row, "name items", "piece")


def default_setup(described):
    """The setup with nothing chosen."""
    return {field["name"]: field["default"] for field in described["setup"]}


def of_the_first(ply):
    """The legal actions of the first seat to move: where seats can choose at once, each has a list."""
    actions = ply["actions"]
    return actions[0] if actions and isinstance(actions[0], list) else actions


class RandomGame:
    """A game played at random from a seed, step by step: its moves and every ply."""

    def __init__(self, program, described, setup, seed, plies_max=400):
        chosen = random.Random(seed)
        start = program.walk(setup=setup, moves=[], want=EVERYTHING, at="end")
        assert start["type"] == "walked" and start["recorded"] == [], start
        self.setup, self.seats = setup, start["seats"]
        self.moves, self.recorded, self.plies = [], [], start["plies"]
        while "over" not in self.plies[-1]["turn"] and len(self.moves) < plies_max:
            ply = self.plies[-1]
            check_ply(described, self.seats, ply)
            move = self.choose(chosen, ply)
            answer = program.after(ply["state"], move)
            assert answer["type"] == "walked" and "seats" not in answer, (move, answer)
            self.moves.append(move)
            self.recorded += answer["recorded"]
            self.plies += answer["plies"]
        check_ply(described, self.seats, self.plies[-1])
        assert len(self.moves) <= described["plies_max"]

    @staticmethod
    def choose(chosen, ply):
        if "chance" in ply["turn"]:
            return {"draw": chosen.randrange(len(ply["turn"]["chance"]["weights"]))}
        return {"seat": ply["turn"]["of"][0], "action": chosen.choice(of_the_first(ply))}


def perft(program, setup, depth):
    """How many sequences of 1, 2, .. `depth` moves there are. Each position is asked for once."""
    want = ["actions", "position"]
    start = program.walk(setup=setup, moves=[], want=want, at="end")["plies"][0]
    counts, level = [], {"": (1, start)}
    for _ in range(depth):
        # For each position of the next level, how many sequences lead to it.
        following = {}
        total = 0
        for ways, ply in level.values():
            actions = ply["actions"] if "of" in ply["turn"] else []
            total += ways * len(actions)
            if len(counts) + 1 == depth:
                continue
            moves = [{"seat": ply["turn"]["of"][0], "action": action} for action in actions]
            for after in program.siblings(ply["state"], moves, want):
                child = json.dumps(after["position"])
                following[child] = (following.get(child, (0,))[0] + ways, after)
        counts.append(total)
        level = following
    return counts
