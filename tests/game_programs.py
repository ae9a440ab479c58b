#!/usr/bin/env python3
"""Tests the Python kit for game programs and the sample games, over the wire as a referee would.

    tests/game_programs.py [NAME ..]     # such as Samples or Samples.test_perft

Starts the programs in sample-agents/games/ and in tests/games/ as processes.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "games"))
sys.dont_write_bytecode = True

from wire import (EVERYTHING, KITS, ROOT, SAMPLES, Program, RandomGame,  # noqa: E402
                  check_description, check_view, default_setup, of_the_first, perft)

HEX = ROOT / "referee" / "games" / "src" / "hex"

# For each sample, setups that are played besides the usual one.
SETUPS = {
    "tic-tac-toe": [],
    "connect-four": [{"rows": 4, "columns": 5, "line": 3}],
    "othello": [{"size": 4}, {"size": 6}],
    "pig": [{"target": 10, "turns_per_seat": 2}, {"seats": 4, "turns_per_seat": 3}],
    "hex": [{"size": 3}, {"size": 4, "swap": "pieces"}, {"size": 4, "swap": "sides"},
            {"size": 3, "first": "red", "swap": "sides"}],
    "rock-paper-scissors": [{"rounds": 3}],
    "tron": [{"seats": 4}, {"seats": 3, "rows": 4, "columns": 20}],
    "kuhn-poker": [{"hands": 1}],
    "battleship": [{"size": 5}],
}

# The counts that others have published for these games.
PERFT = {
    "tic-tac-toe": ({}, [9, 72, 504, 3024, 15120]),
    "connect-four": ({}, [7, 49, 343, 2401]),
    "othello": ({}, [4, 12, 56, 244, 1396]),
}

# A setup, actions of the seats in turn (or a draw), and what the last of them is refused for.
REFUSED = {
    "tic-tac-toe": [
        ({}, [{"type": "place", "at": [1, 1]}, {"type": "place", "at": [1, 1]}], "is occupied"),
        ({}, [{"type": "place", "at": [3, 0]}], "off the board"),
        ({}, [{"type": "place", "at": [0, -1]}], "off the board"),
        ({}, [{"type": "place", "at": [10 ** 30, 0]}], "off the board"),
        ({}, [{"type": "place", "at": at} for at in ([0, 0], [1, 0], [0, 1], [1, 1], [0, 2],
                                                     [2, 2])], "the game is over"),
    ],
    "connect-four": [
        ({"rows": 4}, [{"type": "drop", "column": 0}] * 5, "column 0 is full"),
        ({"columns": 5}, [{"type": "drop", "column": 5}], "only 5 columns"),
    ],
    "othello": [
        ({}, [{"type": "place", "at": [0, 0]}], "turns over no disc"),
        ({}, [{"type": "place", "at": [3, 3]}], "is occupied"),
        ({}, [{"type": "pass"}], "you can place a disc"),
        ({"size": 5}, [], "must be even, not 5"),
    ],
    "kuhn-poker": [({}, [{"draw": 0}, {"type": "fold"}], "after a bet")],
    "battleship": [
        ({}, [{"type": "place", "at": [5, 5], "to": "down"}], "can't choose this"),
        ({}, [{"type": "shoot", "at": [0, 0]}], "can't choose this"),
    ],
    "pig": [
        ({}, [{"type": "hold"}], "at least once"),
        ({}, [{"draw": 0}], "is none of 0 outcomes"),
        ({}, [{"type": "roll"}, {"draw": 6}], "is none of 6 outcomes"),
        ({}, [{"type": "roll"}, {"type": "hold"}], "is not to move"),
        ({"target": 10}, [{"type": "roll"}, {"draw": 5}, {"type": "roll"}, {"draw": 4},
                          {"type": "roll"}], "so hold"),
    ],
}


class Folder:
    """A folder with copies of files of tests/games/."""

    def __init__(self, *names):
        self.place = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.place.name)
        for name in names:
            source = HERE / "games" / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, self.path / name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.place.cleanup()


def games():
    """Each sample with each of its setups: the program, what it describes, the whole setup."""
    for name in SETUPS:
        with Program(SAMPLES / name) as program:
            described = program.describe()
            for changed in [{}] + SETUPS[name]:
                setup = dict(default_setup(described), **changed)
                yield name, program, described, setup


def bytes_of(lines):
    return b"".join(lines)


class Samples(unittest.TestCase):
    def test_every_sample_is_listed_and_short(self):
        folders = [path.name for path in SAMPLES.iterdir() if path.is_dir()]
        self.assertEqual(sorted(folders), sorted(SETUPS))
        for name in SETUPS:
            folder = SAMPLES / name
            lines = (folder / "rules.py").read_text().splitlines()
            self.assertLess(len(lines), 150, name)
            self.assertIn('name = "%s"' % name, (folder / "game.toml").read_text())
            self.assertTrue((folder / "README.md").exists(), name)

    def test_random_games_end_and_every_answer_is_as_the_page_says(self):
        for name, program, described, setup in games():
            self.assertEqual(described["name"], name)
            for seed in range(3):
                game = RandomGame(program, described, setup, seed)
                self.assertIn("over", game.plies[-1]["turn"], (name, setup, seed))

    def test_a_walk_equals_single_steps(self):
        for name, program, described, setup in games():
            game = RandomGame(program, described, setup, 7)
            whole = program.walk(setup=setup, moves=game.moves, want=EVERYTHING, at="all")
            self.assertEqual(whole, {"type": "walked", "seats": game.seats, "plies": game.plies,
                                     "recorded": game.recorded}, name)
            half = len(game.moves) // 2
            rest = program.walk(state=game.plies[half]["state"], moves=game.moves[half:],
                                want=EVERYTHING, at="all")
            # What a seat was told of the move before isn't in the state.
            first = dict(game.plies[half])
            if "told" in first:
                first["told"] = [None] * len(game.seats)
            self.assertEqual(rest["plies"], [first] + game.plies[half + 1:], name)
            end = program.walk(setup=setup, moves=game.moves, want=[], at="end")
            last = {key: game.plies[-1][key] for key in ("state", "turn")}
            self.assertEqual(end["plies"], [last], name)
            # What is recorded is recorded as it is when it is played again.
            again = [{"seat": move["seat"], "action": action} if action else move
                     for move, action in zip(game.moves, game.recorded)]
            self.assertEqual(program.walk(setup=setup, moves=again, want=[], at="end")["recorded"],
                             game.recorded, name)

    def test_two_processes_give_the_same_bytes_in_any_order(self):
        found = {name: [{"type": "describe", "protocol": 1}] for name in SETUPS}
        for name, program, described, setup in games():
            game = RandomGame(program, described, setup, 3, plies_max=40)
            found[name].append({"type": "walk", "setup": setup, "moves": game.moves,
                                "want": EVERYTHING, "at": "all"})
            for ply, move in zip(game.plies, game.moves):
                found[name].append({"type": "walk", "state": ply["state"], "moves": [move],
                                    "want": EVERYTHING, "at": "end"})
        for name, requests in found.items():
            requests = [dict(request, id=number) for number, request in enumerate(requests)]
            with Program(SAMPLES / name, seed="1") as one, Program(SAMPLES / name, seed="2") as two:
                first = [one.line(request) for request in requests]
                order = list(range(len(requests)))
                random.Random(5).shuffle(order)
                second = {number: two.line(requests[number]) for number in order}
            self.assertEqual(bytes_of(first), bytes_of(second[n] for n in range(len(first))), name)

    def test_an_action_is_listed_if_and_only_if_it_is_legal(self):
        for name, program, described, setup in games():
            game = RandomGame(program, described, setup, 11)
            size = max([setup.get("size", 0), setup.get("rows", 0), 3])
            for ply in random.Random(0).sample(game.plies, min(6, len(game.plies))):
                if "chance" in ply["turn"]:
                    continue
                seat = ply["turn"].get("of", [0])[0]
                for action in every_action(described, size):
                    answer = program.after(ply["state"], {"seat": seat, "action": action}, [])
                    legal = answer["type"] == "walked"
                    listed = of_the_first(ply)
                    self.assertEqual(legal, action in listed, (name, setup, ply, answer))
                    if not legal:
                        self.assertEqual(answer["kind"], "illegal")

    def test_refusals(self):
        for name, rows in REFUSED.items():
            with Program(SAMPLES / name) as program:
                usual = default_setup(program.describe())
                for changed, actions, words in rows:
                    check_refusal(self, program, dict(usual, **changed), actions, words)

    def test_malformed_actions_are_refused_as_such(self):
        with Program(SAMPLES / "tic-tac-toe") as program:
            state = program.at_start({})["state"]
            for action, words in [
                    ({"type": "drop"}, "`type` must be one of: place"),
                    ({}, "`type`"), ([], "`type`"), (None, "`type`"), ({"type": ["place"]}, "type"),
                    ({"type": "place"}, "place needs the field `at`"),
                    ({"type": "place", "at": [0, 0], "to": 1}, "place has no field `to`"),
                    ({"type": "place", "at": [0]}, "`at` must be a cell"),
                    ({"type": "place", "at": "b2"}, "`at` must be a cell"),
                    ({"type": "place", "at": [0.5, 0]}, "`at` must be a cell"),
                    ({"type": "place", "at": [True, 0]}, "`at` must be a cell"),
                    ({"type": "place", "at": [None, {}]}, "`at` must be a cell")]:
                answer = program.after(state, {"seat": 0, "action": action})
                self.assertEqual((answer["type"], answer.get("kind")), ("refused", "malformed"))
                self.assertIn(words, answer["rule"])
            answer = program.after(state, {"seat": 0, "action": {"type": "place", "at": [1.0, 2]}})
            self.assertEqual(answer["recorded"], [{"type": "place", "at": [1, 2]}])

    def test_perft(self):
        for name, (setup, counts) in PERFT.items():
            with Program(SAMPLES / name) as program:
                setup = dict(default_setup(program.describe()), **setup)
                self.assertEqual(perft(program, setup, len(counts)), counts, name)

    def test_every_outcome_of_a_draw_plays(self):
        with Program(SAMPLES / "pig") as program:
            state = program.at_start({"seats": 2, "target": 50, "turns_per_seat": 30})["state"]
            answer = program.after(state, {"seat": 0, "action": {"type": "roll"}})
            rolled = answer["plies"][0]
            self.assertEqual(rolled["turn"], {"chance": {"weights": [1] * 6,
                                                         "labels": list("123456")}})
            self.assertEqual(rolled["actions"], [])
            for outcome in range(6):
                answer = program.after(rolled["state"], {"draw": outcome})
                ply = answer["plies"][0]
                self.assertEqual(answer["recorded"], [None])
                self.assertEqual(ply["turn"], {"of": [1 if outcome == 0 else 0]})
                self.assertEqual(ply["position"]["brought"], outcome + 1 if outcome else 0)

    def test_a_seat_retires(self):
        with Program(SAMPLES / "pig") as program:
            state = program.at_start({"seats": 3, "target": 50, "turns_per_seat": 30})["state"]
            lost = [{"seat": 0, "action": {"type": "roll"}}, {"draw": 0}]
            for moves, to_move in [([{"retire": 0}], 1),
                                   ([{"retire": 1}], 0),
                                   ([{"retire": 1}] + lost, 2),
                                   ([{"retire": 0}, {"retire": 1}], 2)]:
                answer = program.walk(state=state, moves=moves, want=[], at="end")
                self.assertEqual(answer["plies"][0]["turn"], {"of": [to_move]}, moves)


class HexAgain(unittest.TestCase):
    """The sample of Hex, compared with the files of the built-in game."""

    def test_counts(self):
        with Program(SAMPLES / "hex") as program:
            usual = default_setup(program.describe())
            for number, line in enumerate(data_lines(HEX / "perft.txt")):
                setup, counts = line.rsplit(" : ", 1)
                setup = dict(usual, **json.loads(setup))
                # Only the first row to its end, which takes seconds.
                counts = [int(count) for count in counts.split()][:None if number == 0 else 5]
                self.assertEqual(perft(program, setup, len(counts)), counts, line)
            for swap in ("pieces", "sides"):  # What `referee perft hex` prints.
                setup = dict(usual, size=3, swap=swap)
                self.assertEqual(perft(program, setup, 4), [9, 81, 576, 3528], swap)

    def test_refusals(self):
        rows = 0
        with Program(SAMPLES / "hex") as program:
            usual = default_setup(program.describe())
            for line in data_lines(HEX / "refusals.txt"):
                parts = line.split(" : ")
                # The other rows are setups that the referee refuses itself, and positions.
                if len(parts) == 3:
                    setup, actions, words = parts
                    setup = dict(usual, **json.loads(setup))
                    actions = [hex_action(text) for text in actions.split("; ")]
                    check_refusal(self, program, setup, actions, words)
                    rows += 1
        self.assertGreater(rows, 10)

    def test_the_playthrough(self):
        text = (HEX / "playthrough.txt").read_text()
        plies = {}
        for number, seat, colour, count, listed, played in re.findall(
                r"^ply (\d+): seat (\d), (\w+); (\d+) legal:(.*)$[^=]*?^played (\S+)$", text, re.M):
            first = [] if not listed else listed.replace("..", "").split()
            plies[int(number)] = (played, int(count), int(seat), colour, first)
        for number, played, count in re.findall(r"(\d+)\. (\S+) \((\d+)\)", text):
            plies[int(number)] = (played, int(count), None, None, [])
        outcome = json.loads(re.search(r"^over after \d+ plies: (.*)$", text, re.M).group(1))
        self.assertEqual(sorted(plies), list(range(len(plies))))
        moves = [{"seat": number % 2, "action": hex_action(plies[number][0])}
                 for number in range(len(plies))]
        with Program(SAMPLES / "hex") as program:
            setup = default_setup(program.describe())
            self.assertEqual(json.dumps(setup, sort_keys=True, separators=(",", ":")),
                             re.search("^setup (.*)$", text, re.M).group(1))
            answer = program.walk(setup=setup, moves=moves, want=EVERYTHING, at="all")
        for number, ply in enumerate(answer["plies"][:-1]):
            played, count, seat, colour, first = plies[number]
            self.assertEqual(len(ply["actions"]), count, number)
            self.assertEqual([hex_text(action) for action in ply["actions"][:len(first)]], first)
            if colour:
                self.assertEqual((ply["turn"]["of"], answer["seats"][seat]), ([seat], colour))
        self.assertEqual(answer["plies"][-1]["turn"], {"over": outcome})

    def test_the_description(self):
        about = json.loads((HEX / "about.json").read_text())
        with Program(SAMPLES / "hex") as program:
            described = program.describe()
        for key in ("title", "summary", "seats", "reasons", "score"):
            self.assertEqual(described[key], about[key], key)
        for own, built_in in zip(described["setup"], about["setup"]):
            for key in ("name", "default", "meaning"):
                self.assertEqual(own[key], built_in[key])
        for own, built_in in zip(described["actions"], about["actions"]):
            for key in ("example", "meaning"):
                self.assertEqual(own[key], built_in[key])

    def test_the_chain_and_the_swaps(self):
        with Program(SAMPLES / "hex") as program:
            usual = default_setup(program.describe())

            def after(setup, text):
                moves = [{"seat": number % 2, "action": hex_action(action)}
                         for number, action in enumerate(text.split())]
                walked = program.walk(setup=dict(usual, **setup), moves=moves, want=EVERYTHING,
                                      at="end")
                return walked["plies"][0]

            # The chain along row 1 is shorter than the one that winds through row 2.
            view = after({"size": 4}, "a2 a1 b2 b1 a3 c1 b3 d4 d2 a4 c2")["view"]
            self.assertEqual(view["chain"], [[1, 0], [1, 1], [1, 2], [1, 3]])
            self.assertEqual(view["last"], [[1, 2]])
            for swap, stones, colours, last in [
                    ("pieces", [[], [[1, 0]]], ["black", "red"], [[1, 0]]),
                    ("sides", [[[0, 1]], []], ["red", "black"], [[0, 1]])]:
                ply = after({"size": 3, "swap": swap}, "b1 swap")
                self.assertEqual(ply["position"], {"to_move": 0, "size": 3, "stones": stones,
                                                   "colours": colours, "turn": 2})
                self.assertEqual((len(ply["actions"]), ply["view"]["last"]), (8, last))
            won = after({"size": 3, "swap": "sides"}, "a1 swap b1 a3 b2 c1 b3")
            self.assertEqual(won["turn"], {"over": {"places": [1, 2], "reason": "connected"}})


class Kit(unittest.TestCase):
    """What the kit does when rules are wrong."""

    def setUp(self):
        self.folder = Folder("faulty.py")
        self.program = Program(self.folder.path, "faulty.py")
        self.state = self.program.at_start({"size": 3})["state"]

    def tearDown(self):
        self.program.end()
        self.folder.place.cleanup()

    def ask(self, what, **more):
        """What it answers when the rules do this."""
        move = {"seat": 0, "action": dict(more, type="do", what=what)}
        return self.program.after(self.state, move)

    def test_failures_say_what_and_where(self):
        line = 1 + (HERE / "games" / "faulty.py").read_text().splitlines().index(
            '            return state["x"]')
        for what, expected in [
                ("set", "the state that `play` returned is a set, which has no order"),
                ("deep_set", "the state that `play` returned['cells'][1]['inside'] is a set"),
                ("none", "`play` returned None"),
                ("key_error", "KeyError: 'x' in faulty.py:%d" % line),
                ("nan", "the state that `play` returned['value'] can't be written as JSON"),
                ("object", "returned['value'][0] can't be written as JSON: object is no type"),
                ("tuple_key", "returned['cells'] can't be written as JSON: keys must be"),
                ("exit", "SystemExit: 3 in faulty.py:"),
                ("endless", "RecursionError: "),
                ("changed", "a method changed the state"),
                ("no_turn", "`turn` returned None: return a seat, over(..) or chance(..)"),
                ("malformed_list", "`at` must be a cell"),
                ("set_of_actions", "what `actions` returned is a set")]:
            answer = self.ask(what)
            self.assertEqual(answer["type"], "failed", what)
            self.assertIn(expected, answer["text"])
            # It goes on after every failure.
            self.assertEqual(self.ask("fine")["type"], "walked")
        self.assertIn("Traceback", self.program.end())

    def test_prints_go_to_stderr(self):
        self.assertEqual(self.ask("print")["type"], "walked")
        said = self.program.end()
        self.assertIn("a stray print\n", said)
        self.assertIn("a stray write\n", said)
        self.assertIn("printed while the rules are read\n", said)

    def test_refusals_of_rules_and_setup(self):
        self.assertEqual(self.ask("illegal"), {"type": "refused", "move": 0, "kind": "illegal",
                                               "rule": "this is forbidden"})
        answer = self.program.walk(setup={"size": 7}, moves=[], want=[], at="end")
        self.assertEqual(answer, {"type": "refused", "move": 0, "kind": "setup",
                                  "rule": "`size` can't be 7"})
        fine, bad = [{"seat": 0, "action": {"type": "do", "what": what}}
                     for what in ("fine", "illegal")]
        answer = self.program.walk(setup={"size": 3}, moves=[fine, fine, bad, fine], want=[],
                                   at="all")
        self.assertEqual((answer["type"], answer["move"]), ("refused", 2))

    def test_whole_floats_are_integers(self):
        answer = self.ask("whole", at=[2.0, -1.0], count=4.0)
        # Compared as text, since 2.0 == 2.
        self.assertEqual(json.dumps(answer["recorded"]), json.dumps(
            [{"at": [2, -1], "count": 4, "type": "do", "what": "whole"}]))
        self.assertEqual(json.dumps(answer["plies"][0]["state"]["at"]), "[2, -1]")

    def test_a_state_is_the_same_within_a_walk_and_after_it(self):
        moves = [{"seat": 0, "action": {"type": "do", "what": what}} for what in ("tuple", "look")]
        whole = self.program.walk(setup={"size": 3}, moves=moves, want=[], at="end")
        half = self.program.after(self.state, moves[0])["plies"][0]
        rest = self.program.after(half["state"], moves[1], [])
        self.assertEqual(whole["plies"], rest["plies"])
        self.assertEqual(whole["plies"][0]["state"]["seen"], ["list", "str"])

    def test_what_a_game_has_without_writing_it(self):
        with Folder("bare.py") as folder, Program(folder.path, "bare.py") as program:
            described = program.describe()
            self.assertEqual([described[key] for key in ("title", "lists", "estimates", "chance")],
                             ["bare", False, False, False])
            short, long = [{"type": "walk", "path": path}
                           for path in ([[0, 0], [0, 2]], [[0, 0], [0, 1], [0, 2]])]
            for action in (short, long):
                moves = [{"seat": 0, "action": action}]
                answer = program.walk(setup={}, moves=moves, want=EVERYTHING, at="end")
                self.assertEqual(answer, {
                    "type": "walked", "seats": ["black"], "recorded": [long],
                    "plies": [{"state": [3], "turn": {"of": [0]}, "actions": None, "notes": [],
                               "position": {"state": [3]},
                               "view": {"text": '{\n "state": [\n  3\n ]\n}'}}]})
            answer = program.walk(setup={}, moves=moves * 2, want=["actions"], at="end")
            self.assertEqual(answer["plies"], [{"state": [3, 3], "actions": [], "turn": {"over": {
                "places": [1], "reason": "tired", "scores": [2]}}}])
            bent = {"seat": 0, "action": {"type": "walk", "path": [[0, 0], [1, 0]]}}
            self.assertEqual(program.after([], bent)["rule"], "the path leaves its row")

    def test_a_seat_without_a_piece(self):
        with Folder("bare.py") as folder, Program(folder.path, "bare.py", "seats") as program:
            self.assertEqual(program.ask(type="describe", protocol=1), {
                "type": "failed", "text": "`seats` is ['white'], but `pieces` has ['black']"})

    def test_requests_of_others_fail(self):
        for request in ({"type": "describe", "protocol": 2}, {"type": "look"}, {"type": "walk"}):
            self.assertEqual(self.program.ask(**request)["type"], "failed", request)

    def test_numbers_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        sys.path.insert(0, str(KITS))
        try:
            from referee_kit import game
        finally:
            sys.path.pop(0)
        self.assertEqual(game._encode({"a": numpy.int64(3), "b": numpy.array([[1, 2]]),
                                       "c": numpy.bool_(True)}, "it"),
                         '{"a":3,"b":[[1,2]],"c":true}')
        self.assertEqual(game._turn(numpy.int8(1)), {"of": [1]})
        self.assertEqual(game._as_cell((numpy.int64(1), 2)), [1, 2])
        with self.assertRaises(ValueError):
            game.whole(numpy.float64(0.5))


class Tutorial(unittest.TestCase):
    """The code of docs/first-game.md and of docs/game-programs.md."""

    def blocks(self, page, language):
        """The blocks of code in this language."""
        fenced = (ROOT / "docs" / page).read_text().split("\n```")[1::2]
        return [block.split("\n", 1)[1] + "\n" for block in fenced
                if block.split("\n", 1)[0] == language]

    def test_the_game_of_the_tutorial(self):
        with Folder() as folder:
            rules = "\n".join(self.blocks("first-game.md", "python"))
            (folder.path / "rules.py").write_text(rules)
            with Program(folder.path) as program:
                described = program.describe()
                self.assertIn('name = "%s"' % described["name"],
                              self.blocks("first-game.md", "toml")[0])
                self.assertEqual(perft(program, {}, 4), [9, 72, 504, 3024])
                for seed in range(5):
                    RandomGame(program, described, {}, seed)
            blocks = self.blocks("first-game.md", "console,ignore")
            session, = (block for block in blocks if ">>>" in block)
            expected, = re.findall(r"^\(.*\)$", session, re.M)
            lines = "from rules import Three; game = Three()\n" + "\n".join(
                re.findall("^>>> (.*)$", session, re.M)[:-1])
            last = re.findall("^>>> (.*)$", session, re.M)[-1]
            ran = subprocess.run([sys.executable, "-c", "%s\nprint((%s))" % (lines, last)],
                                 cwd=folder.path, stdout=subprocess.PIPE,
                                 env=dict(os.environ, PYTHONPATH=str(KITS)))
            self.assertEqual(ran.stdout.decode().strip(), expected)

    def test_the_messages_of_the_page(self):
        blocks = self.blocks("game-programs.md", "")
        text = "\n".join(block for block in blocks if "->" in block or "<-" in block)
        messages = [(way, json.loads(message)) for way, message in re.findall(
            "^(->|<-) (.*?)(?=^->|^<-|\\Z)", text.replace("[PLY]", "[]"), re.M | re.S)]
        self.assertEqual([message["type"] for _, message in messages], [
            "describe", "described", "walk", "walked", "walk", "refused", "failed"])
        described = messages[1][1]
        self.assertEqual(described.pop("id"), 1)
        check_description(described)
        view, = [json.loads(block) for block in blocks if block.startswith('{"shape"')]
        check_view(described, view)
        # The sample refuses as on the page.
        with Program(SAMPLES / "tic-tac-toe") as program:
            self.assertEqual(json.loads(program.line(messages[4][1])), messages[5][1])


class ClassGames(unittest.TestCase):
    """The adapter for classes that change."""

    PAIR = {"type": "pair", "a": [0, 0], "b": [0, 1]}

    def walk(self, program, actions, want=EVERYTHING, setup=None, at="end"):
        moves = [{"seat": number % 2, "action": action} for number, action in enumerate(actions)]
        return program.walk(setup=setup or {"turns": 12}, moves=moves, want=want, at=at)

    def test_it_describes_the_actions_of_the_class(self):
        with Folder("course", "course_rules.py") as folder:
            with Program(folder.path, "course_rules.py") as program:
                described = program.describe()
        self.assertEqual((described["lists"], described["estimates"]), (False, False))
        pair, trail = described["actions"]
        self.assertEqual(pair["fields"], [{"name": "a", "type": "cell"},
                                          {"name": "b", "type": "cell"}])
        self.assertEqual((pair["text"], pair["meaning"]),
                         ("pair {a} {b}", "Places two stones side by side."))
        self.assertEqual(trail["fields"][1], {"name": "ways", "type": "string", "max": 1000})
        self.assertEqual(trail["example"], {"type": "trail", "start": [0, 0], "ways": "UP"})

    def test_moves_refusals_and_failures(self):
        with Folder("course", "course_rules.py") as folder:
            with Program(folder.path, "course_rules.py") as program:
                trail = {"type": "trail", "start": [2, 2], "ways": "DOWN LEFT"}
                reverse = {"type": "pair", "a": [0, 1], "b": [0, 0]}
                walked = self.walk(program, [reverse, trail])
                self.assertEqual(walked["recorded"], [self.PAIR, trail])
                ply = walked["plies"][0]
                self.assertEqual(ply["view"], {"text": "00..\n....\n....\n.1.."})
                self.assertEqual((ply["turn"], ply["actions"]), ({"of": [0]}, None))
                for action, rule in [
                        ({"type": "pair", "a": [0, 0], "b": [2, 0]},
                         "The cells are not side by side"),
                        ({"type": "pair", "a": [0, 0], "b": [-1, 0]}, "Out of bounds: -1, 0"),
                        ({"type": "pair", "a": [0, 2], "b": [0, 1]}, "occupied"),
                        ({"type": "trail", "start": [0, 0], "ways": "UP"}, "Out of bounds: -1, 0"),
                        ({"type": "trail", "start": [0, 0], "ways": "AWAY"}, "'AWAY'")]:
                    answer = program.after(ply["state"], {"seat": 0, "action": action})
                    self.assertEqual(answer, {"type": "refused", "move": 0, "kind": "illegal",
                                              "rule": rule})
                # The board that a refused move had changed is not used again.
                fine = {"seat": 0, "action": {"type": "trail", "start": [0, 2], "ways": ""}}
                self.assertEqual(program.after(ply["state"], fine)["type"], "walked")
                # The class raised an exception after the turn had been counted.
                defect = {"seat": 0, "action": {"type": "trail", "start": [3, 3], "ways": ""}}
                answer = program.after(ply["state"], defect)
                self.assertEqual(answer["type"], "failed")
                self.assertRegex(answer["text"],
                                 r"^RuntimeError: a defect in the class in course/board.py:\d+$")
            self.assertIn("the board is asked", program.said)

    def test_boards_are_kept_and_equal_to_new_ones(self):
        with Folder("course", "course_rules.py") as folder:
            with Program(folder.path, "course_rules.py", "listed") as program:
                game = RandomGame(program, program.describe(), {"turns": 4}, 2)
                # One board for the game: each step went on from the board before it.
                self.assertEqual(game.plies[-1]["notes"], ["1 boards"])
                want = ["actions", "position", "view"]
                for number in reversed(range(len(game.plies))):
                    ply = program.walk(state=game.plies[number]["state"], moves=[], want=want,
                                       at="end")["plies"][0]
                    self.assertEqual(ply, {key: game.plies[number][key]
                                           for key in want + ["state", "turn"]})

    def test_a_copied_board_is_not_played_again(self):
        with Folder("course", "course_rules.py") as folder:
            with Program(folder.path, "course_rules.py", "copied") as program:
                start = self.walk(program, [])["plies"][0]
                for action in start["actions"]:
                    answer = program.after(start["state"], {"seat": 0, "action": action})
                    played = answer["plies"][0]["state"]
                    ply = program.walk(state=played, moves=[], want=EVERYTHING, at="end")["plies"][0]
                    self.assertEqual(ply["notes"], ["1 boards"])

    def test_seats_that_choose_at_once(self):
        with Folder("course", "course_rules.py") as folder:
            with Program(folder.path, "course_rules.py", "at-once") as program:
                described = program.describe()
                self.assertEqual((described["lists"], described["simultaneous"]), (True, True))
                first, second = [[dict(self.PAIR, a=[row, 0], b=[row, 1])] for row in (0, 3)]
                plies = self.walk(program, first + second, at="all")["plies"]
        self.assertEqual([ply["actions"][:1] for ply in plies[:2]], [[first], [second]])
        self.assertEqual(plies[2]["view"], {"text": "00..\n....\n....\n11.."})

    def test_constants_are_those_of_the_setup(self):
        with Folder("course", "course_rules.py") as folder:
            with Program(folder.path, "course_rules.py") as program:
                over = {"over": {"places": [1, 1], "reason": "end"}}
                for turns, turn in [(1, over), (2, {"of": [1]}), (1, over)]:
                    ply = self.walk(program, [self.PAIR], setup={"turns": turns})["plies"][0]
                    self.assertEqual(ply["turn"], turn)
                refused = self.walk(program, [], setup={"turns": 13})
                self.assertEqual((refused["kind"], refused["rule"]), ("setup", "not thirteen turns"))

    def test_a_set_of_actions_is_listed_once_and_sorted(self):
        lines = []
        for seed in ("1", "2"):
            with Folder("course", "course_rules.py") as folder:
                with Program(folder.path, "course_rules.py", "listed", seed=seed) as program:
                    lines.append(program.line(
                        {"id": 1, "type": "walk", "setup": {"turns": 12}, "moves": [],
                         "want": ["actions"], "at": "end"}))
        self.assertEqual(*lines)
        listed = json.loads(lines[0])["plies"][0]["actions"]
        self.assertEqual((len(listed), listed[0]), (24, dict(self.PAIR)))


def data_lines(path):
    """The lines of a data file without comments."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def hex_action(text):
    """An action of Hex from its text: `c4`, `3,40`, `swap`."""
    if text == "swap":
        return {"type": "swap"}
    if "," in text:
        return {"type": "place", "at": [int(part) for part in text.split(",")]}
    return {"type": "place", "at": [int(text[1:]) - 1, ord(text[0]) - ord("a")]}


def hex_text(action):
    row, column = action["at"]
    return "%s%d" % (chr(ord("a") + column), row + 1)


def every_action(described, size):
    """Every action with cells on and just off the board, and every value of other fields."""
    found = []
    for form in described["actions"]:
        actions = [{"type": form["type"]}]
        for field in form["fields"]:
            if field["type"] == "cell":
                values = [[r, c] for r in range(-1, size + 1) for c in range(-1, size + 1)]
            elif field["type"] == "choice":
                values = field["values"]
            else:
                values = list(range(field["min"], field["max"] + 1))
            actions = [dict(action, **{field["name"]: value})
                       for action in actions for value in values]
        found += actions
    return found


def check_refusal(test, program, setup, actions, words):
    """Plays all but the last action and expects that the last is refused with these words."""
    start = program.walk(setup=setup, moves=[], want=[], at="end")
    if not actions:
        test.assertEqual((start["type"], start.get("kind")), ("refused", "setup"), start)
        test.assertIn(words, start["rule"])
        return
    state, ply = start["plies"][0]["state"], start["plies"][0]
    for action in actions[:-1]:
        move = action if {"draw", "retire"} & set(action) else {"seat": ply["turn"]["of"][0], "action": action}
        answer = program.after(state, move, [])
        test.assertEqual(answer["type"], "walked", (setup, actions, answer))
        ply = answer["plies"][0]
        state = ply["state"]
    last = actions[-1]
    seat = ply["turn"].get("of", [0])[0]
    answer = program.after(state, last if "draw" in last else {"seat": seat, "action": last}, [])
    test.assertEqual((answer["type"], answer.get("kind")), ("refused", "illegal"), answer)
    test.assertIn(words, answer["rule"])
    test.assertEqual(answer["move"], 0)


if __name__ == "__main__":
    unittest.main()
