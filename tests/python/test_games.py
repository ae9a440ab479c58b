"""The native module has the rules of the Rust tests: their playthroughs, counts and refusals hold through it.

Run by tests/wheel, with a Python that has the wheel. Needs no package; what needs numpy is left out without it.
"""
import contextlib
import copy
import io
import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from referee_kit import games
from referee_kit.game import Game as GameProgram, form, grid, piece, reason, won_by

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "sample-agents" / "games"
#: The most positions whose actions are listed for one count: more where the module is optimised.
LISTED_MAX = int(os.environ.get("REFEREE_LISTED_MAX", "8000"))

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


def folder(name):
    return ROOT / "referee" / "games" / "src" / name.replace("-", "_")


def data_lines(name, file):
    lines = [line.split("#")[0].strip() for line in (folder(name) / file).read_text().splitlines()]
    return [line for line in lines if line]


def starts():
    """Every game in its default setup and in every variant that it names."""
    for name in games.names():
        yield games.start(name)
        for setup in games.about(name)["variants"]:
            yield games.start(name, setup)


class Golden(unittest.TestCase):
    def test_counts_are_met(self):
        for name in games.names():
            for line in data_lines(name, "perft.txt"):
                setup, counts = line.rsplit(" : ", 1)
                game, listed = games.start(name, json.loads(setup)), 1
                for depth, count in enumerate(map(int, counts.split()), 1):
                    if listed > LISTED_MAX:
                        break
                    self.assertEqual(game.perft(depth), count, (name, setup, depth))
                    listed = count

    def test_refusals_name_the_rule(self):
        for name in games.names():
            for line in data_lines(name, "refusals.txt"):
                setup, *actions, words = line.split(" : ")
                if not actions:
                    with self.assertRaises(games.BadSetup, msg=line) as refused:
                        games.start(name, json.loads(setup))
                else:
                    game = games.start(name, json.loads(setup))
                    *before, last = actions[0].split("; ")
                    for action in before:
                        game.play(action)
                    position = game.position()
                    with self.assertRaises(games.IllegalAction, msg=line) as refused:
                        game.play(last)
                    self.assertEqual(game.position(), position, line)
                self.assertIn(words, str(refused.exception), line)

    def test_playthroughs_hold(self):
        for name in games.names():
            lines = (folder(name) / "playthrough.txt").read_text().splitlines()
            setup = next(line for line in lines if line.startswith("setup "))
            game = games.start(name, json.loads(setup[6:]))
            played = 0
            for number, line in enumerate(lines):
                shown = re.match(r"ply (\d+): seat (\d), (\S+); (\d+) legal: (.*)", line)
                if shown:
                    ply, seat, colour, count, listed = shown.groups()
                    self.assertEqual((game.turn, game.to_move), (int(ply), int(seat)), line)
                    self.assertEqual(len(game.actions()), int(count), line)
                    first = [action.strip() for action in re.sub(r" \.\.$", "", listed).split("  ") if action]
                    own = [game.format(action) for action in game.actions()]
                    self.assertEqual(first, own[:len(first)], line)
                    board = game.text(legend=played == 0).splitlines()
                    self.assertEqual(lines[number + 1:number + 1 + len(board)], board, line)
                actions = re.match(r"played (.+)", line)
                for action in [actions[1]] if actions else []:
                    self.assertEqual(game.format(game.play(action)), action)
                    played += 1
                if re.match(r"\d+\. ", line):
                    for _, action, count in re.findall(r"(\d+)\. (.+?) \((\d+)\)", line):
                        self.assertEqual(len(game.legal()), int(count), line)
                        self.assertEqual(game.format(game.play(action)), action)
                        played += 1
                over = re.match(r"over after (\d+) plies: (.+)", line)
                if over:
                    self.assertEqual(played, int(over[1]))
                    outcome = {key: value for key, value in game.outcome().items() if key != "text"}
                    wanted = json.loads(over[2])
                    self.assertEqual(outcome, {"scores": None, **wanted})
                    self.assertEqual(lines[number + 1:], game.text(legend=True).splitlines())


class Contract(unittest.TestCase):
    def test_numbers_and_dictionaries_are_the_same_actions(self):
        for game in starts():
            chooser = random.Random(1)
            for _ in range(12):
                if game.is_over():
                    break
                actions, legal = game.actions(), game.legal()
                self.assertEqual([game.number(action) for action in actions], legal)
                self.assertEqual(len(set(legal)), len(legal), (game.name, game.setup))
                self.assertTrue(all(0 <= number < game.numbers for number in legal))
                place = chooser.randrange(len(legal))
                one, other = game.copy(), game.after(actions[place])
                one.play_number(legal[place])
                self.assertEqual(one.position(), other.position())
                self.assertEqual(game.number(game.action(legal[place])), legal[place])
                for _ in range(3):
                    number = chooser.randrange(game.numbers)
                    if number not in legal:
                        self.assertRaises(games.IllegalAction, game.play_number, number)
                game = one

    def test_a_copy_is_independent(self):
        game = games.start("hex", size=3)
        copy = game.copy()
        copy.play("b2")
        self.assertEqual((game.turn, copy.turn), (0, 1))
        self.assertEqual(game.position()["stones"], [[], []])
        self.assertEqual(copy.after("a1").turn, 2)

    def test_the_end(self):
        game = games.start("hex", size=3)
        for action in ["a1", "a2", "b1", "b2", "c1"]:
            self.assertIsNone(game.outcome())
            self.assertEqual(game.rewards(), [0, 0])
            game.play(action)
        self.assertEqual(game.outcome(), {"places": [1, 2], "scores": None, "reason": "connected",
                                          "text": "it connected its two sides"})
        self.assertEqual((game.winner(), game.rewards(), game.to_move, game.legal()), (0, [1, -1], None, []))
        self.assertEqual(repr(game), "<Game hex at turn 5, over: connected>")
        self.assertRaises(games.IllegalAction, game.play, "c3")
        self.assertRaises(ValueError, game.estimate, 0)

    def test_sides_can_be_swapped(self):
        game = games.start("hex", size=4, swap="sides")
        game.play("b2")
        self.assertEqual(game.colours, ["black", "red"])
        game.play({"type": "swap"})
        self.assertEqual((game.colours, game.to_move), (["red", "black"], 0))

    def test_a_seat_can_retire_from_three(self):
        game = games.start("chexers")
        game.retire(1)
        game.play_number(game.legal()[0])
        self.assertEqual(game.to_move, 2)
        self.assertRaises(ValueError, games.start("hex").retire, 0)

    def test_mistakes_are_explained(self):
        for wrong, text in [("hexx", "did you mean \"hex\"?"), ("go", "the games are"), ("./nowhere", "there is no")]:
            with self.assertRaisesRegex(games.BadSetup, re.escape(text)):
                games.start(wrong)
        with self.assertRaisesRegex(games.BadSetup, "did you mean `size`"):
            games.start("hex", siz=5)
        with self.assertRaisesRegex(games.IllegalAction, "expected an object such as"):
            games.start("hex").play(5)

    def test_numbers_out_of_range_say_the_range(self):
        game, pig = games.start("hex", size=3), games.start(PROGRAMS / "pig")
        pig.play_number(pig.legal()[0])
        for call, first, text in [
                (game.play_number, games.IllegalAction, "no action has the number %s: they are 0 to 9"),
                (game.action, IndexError, "no action has the number %s: they are 0 to 9"),
                (game.planes, IndexError, "there is no seat %s: they are 0 to 1"),
                (game.estimate, IndexError, "there is no seat %s: they are 0 to 1"),
                (games.start("chexers").retire, IndexError, "there is no seat %s: they are 0 to 2"),
                (pig.draw, games.IllegalAction, "%s is none of 6 outcomes to draw"),
                (game.perft, ValueError, "the depth is a whole number from 0 to 64, not %s"),
                (lambda n: games.playouts(game, n), ValueError, "from 0 to 4294967296, not %s"),
                (lambda n: games.playouts(game, 1, threads=n), ValueError, "from 1 to 256, not %s"),
                (lambda n: games.playouts(game, 1, plies_max=n), ValueError, "plies_max is a whole number .*, not %s"),
                (lambda n: games.rewards([n]), ValueError, "a place is a whole number .*, not %s")]:
            for wrong in (-1, 10 ** 30):
                with self.subTest(text), self.assertRaisesRegex(first, text % wrong):
                    call(wrong)
        with self.assertRaisesRegex(ValueError, "at most 255 seats, not 1000000"):
            games.rewards([1] * 10 ** 6)
        with self.assertRaisesRegex(TypeError, "start\\('hex'\\), not 'hex'"):
            games.symmetries("hex")

    def test_modules_are_found_in_the_package(self):
        code = "import referee_kit as kit\nprint(kit.games.start('hex').name, hasattr(kit, 'other'))\n" \
               "try: kit.env\nexcept ImportError as error: print(error)\n"
        child = [sys.executable, "-c", "import sys\nsys.modules['numpy'] = None\n" + code]
        shown = subprocess.run(child, capture_output=True, encoding="utf-8", check=True).stdout
        self.assertEqual(shown, "hex False\nenvironments need numpy: pip install numpy\n")

    def test_a_served_game_program_needs_its_rules(self):
        hello = json.dumps({"type": "hello", "game": "nim", "setup": {}}) + "\n"
        child = subprocess.run([sys.executable, "-c", "import referee_kit\nreferee_kit.serve(len)"], input=hello,
                               capture_output=True, encoding="utf-8")
        self.assertIn('unknown game "nim"', child.stderr)
        self.assertIn('for a game program, pass rules="./its-folder"', child.stderr)

    def test_the_page_has_the_numbers(self):
        page = (ROOT / "docs" / "training.md").read_text()
        rows = re.findall(r"- \*\*(.+?)(?: 11)?\*\*: (\d+) actions.*; (\d+) x (\d+): (.+)", page)
        shown = {title.lower().replace(" ", "-"): (int(numbers), int(height), int(width), names.split(", "))
                 for title, numbers, height, width, names in rows}
        starts = [games.start(name) for name in games.names()]
        self.assertEqual(shown, {game.name: (game.numbers, *game.plane_shape[1:], grouped(game.plane_names()))
                                 for game in starts})

    def test_a_notebook_shows_the_board(self):
        for game in starts():
            view = game.view()
            self.assertTrue(game._repr_svg_() == view._repr_svg_() == view.svg, game.name)
            self.assertTrue(view.svg.startswith("<svg "))
        game = games.start("hex", size=3)
        game.play("b1")
        view = game.view()
        self.assertEqual((view["shape"], view["last"], len(view["edges"])), ({"diamond": 3}, [[0, 1]], 4))
        self.assertEqual(view["pieces"], [{"at": [0, 1], "piece": game.colours[0], "text": None}])

    def test_pickled_games_are_the_same(self):
        for start in starts():
            game, chooser = start.copy(), random.Random(5)
            # A position alone doesn't have the repetitions that may end it.
            for _ in range(1000 if start.setup.get("repetitions") == 2 else 30):
                if game.is_over():
                    break
                if game.seats > 2 and game.turn == 9:
                    game.retire(game.to_move)
                game.play_number(chooser.choice(game.legal()))
                if game.turn == 20 or game.is_over():
                    for other in [pickle.loads(pickle.dumps(game)), copy.deepcopy(game), copy.copy(game)]:
                        self.assertEqual((other.position(), other.outcome(), other.setup, other.view()),
                                         (game.position(), game.outcome(), game.setup, game.view()))
        begun = games.start("hex", position=start_position())
        begun.play("c3")
        self.assertEqual(pickle.loads(pickle.dumps(begun)).position(), begun.position())


def grouped(names):
    """Planes by seat are one entry: "pieces (2)"."""
    seats = [name.split(" of own")[0] for name in names if " of opponent" not in name]
    counts = {name: sum(other == name or other.startswith(name + " of ") for other in names) for name in seats}
    return [name if count == 1 else "%s (%d)" % (name, count) for name, count in counts.items()]


def start_position():
    game = games.start("hex")
    game.play("a1")
    return game.position()


class Playouts(unittest.TestCase):
    def test_the_seed_determines_them(self):
        for game in starts():
            n = 2 if game.numbers > 1000 else 10
            one = games.playouts(game, n, 7)
            self.assertEqual(one, games.playouts(game, n, 7, threads=3), game.name)
            self.assertEqual(game.turn, 0)
            self.assertLess(sum(one.wins) + one.unfinished, n + 1)
            if game.seats > 1:
                self.assertAlmostEqual(sum(one.rewards), 0)
        game = games.start("hex", size=5)
        self.assertNotEqual(games.playouts(game, 50, 1), games.playouts(game, 50, 2))

    def test_they_are_whole_games(self):
        hex_ = games.start("hex", size=5, swap="pieces")
        done = games.playouts(hex_, 200, 1)
        self.assertEqual((done.games, sum(done.wins), done.unfinished), (200, 200, 0))
        self.assertTrue(9 <= done.plies <= 26)
        cut = games.playouts(hex_, 10, 1, plies_max=3)
        self.assertEqual((cut.unfinished, cut.plies, cut.rewards), (10, 3, (0, 0)))
        self.assertEqual(games.playouts(hex_, 0, 1).games, 0)

    def test_from_a_position_that_decides(self):
        game = games.start("hex", size=3)
        for action in ["a1", "a2", "b1", "b2"]:
            game.play(action)
        game.play("c1")
        self.assertEqual(games.playouts(game, 5).rewards, (1, -1))

    def test_other_threads_run_meanwhile(self):
        game, go, ran = games.start("chexers"), threading.Lock(), []

        def other():
            with go:
                ran.append(True)

        go.acquire()
        thread = threading.Thread(target=other)
        thread.start()
        interval = sys.getswitchinterval()
        # From now on the interpreter changes threads only where one lets the others run.
        sys.setswitchinterval(1000)
        try:
            go.release()
            for _ in range(100_000):
                games.playouts(game, 20, 1)
                if ran:
                    break
            others_ran = bool(ran)
        finally:
            sys.setswitchinterval(interval)
            thread.join()
        self.assertTrue(others_ran)


    @unittest.skipUnless(hasattr(signal, "raise_signal") and os.name == "posix", "needs signals")
    def test_ctrl_c_ends_native_work(self):
        # It is ignored in a job of a shell script that runs in the background.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        game = games.start("chexers")
        for work in [lambda: games.playouts(game, 1 << 30), lambda: games.playouts(game, 1 << 30, threads=2),
                     lambda: game.perft(30)]:
            timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
            timer.start()
            begun = time.monotonic()
            self.assertRaises(KeyboardInterrupt, work)
            self.assertLess(time.monotonic() - begun, 30)
            timer.join()


class Nim(GameProgram):
    name, summary, seats = "nim", "Take one to three.", ["red", "blue"]
    pieces = [piece("red", "red"), piece("blue", "blue")]
    forms = [form("take", "{count}", {"type": "integer", "name": "count", "min": 1, "max": 3}, example={"count": 1})]
    reasons = [reason("last", "it took the last one")]
    plies_max = 21

    def start(self, setup):
        return {"left": 7, "mover": 0}

    def turn(self, state):
        return state["mover"] if state["left"] else won_by(1 - state["mover"], 2, "last")

    def actions(self, state):
        return [{"type": "take", "count": count} for count in range(1, min(3, state["left"]) + 1)]

    def play(self, state, action):
        return {"left": state["left"] - action["count"], "mover": 1 - state["mover"]}

    def view(self, state):
        return grid(1, 7)


class Broken(Nim):
    name = "broken"

    def play(self, state, action):
        raise RuntimeError("a mistake")


class Unseen(Nim):
    name = "unseen"

    def view(self, state):
        if state["left"] < 7:
            raise RuntimeError("no picture")
        return grid(1, 7)


class Unlisted(Nim):
    name = "unlisted"

    def can_list(self):
        return False


class Interrupted(Nim):
    name, interrupts = "interrupted", True

    def actions(self, state):
        if state["left"] < 7 and self.interrupts:
            raise KeyboardInterrupt("by the person")
        return super().actions(state)


class Programs(unittest.TestCase):
    def test_a_class_is_a_game(self):
        game = games.start(Nim)
        self.assertEqual((game.legal(), game.numbers), ([0, 1, 2], 3))
        game.play({"type": "take", "count": 3})
        game.play("3")
        game.play_number(0)
        self.assertEqual((game.winner(), game.outcome()["text"]), (0, "it took the last one"))
        first = games.playouts(games.start(Nim), 30, 1)
        self.assertEqual((first, sum(first.wins)), (games.playouts(games.start(Nim()), 30, 1, threads=2), 30))

    def test_the_samples_play_as_their_programs(self):
        for path in sorted(PROGRAMS.glob("*/rules.py")):
            game, chooser = games.start(path.parent), random.Random(1)
            self.assertEqual(game.name, path.parent.name)
            played = []
            while not game.is_over():
                if game.chance:
                    game.draw(chooser.randrange(len(game.chance["weights"])))
                    continue
                numbers, actions = game.legal(), game.actions()
                self.assertEqual([game.action(number) for number in numbers], actions)
                game.play_number(chooser.choice(numbers))
                played.append(game.position())
            self.assertTrue(played and game.outcome()["places"])

    def test_hex_in_python_is_hex(self):
        native, program, chooser = games.start("hex", size=5), games.start(PROGRAMS / "hex", size=5), random.Random(2)
        while not native.is_over():
            self.assertEqual(native.legal(), program.legal())
            number = chooser.choice(native.legal())
            native.play_number(number)
            program.play_number(number)
        self.assertEqual(native.outcome()["places"], program.outcome()["places"])

    def test_failing_rules_are_named(self):
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            self.check_failing_rules()
        self.assertIn('raise RuntimeError("a mistake")', printed.getvalue())

    def check_failing_rules(self):
        game = games.start(Broken)
        with self.assertRaisesRegex(games.RulesFailed, "RuntimeError: a mistake"):
            game.play("1")
        self.assertRaises(games.RulesFailed, game.legal)
        self.assertRaises(games.RulesFailed, games.playouts, games.start(Broken), 2, 1)
        self.assertRaises(games.RulesFailed, games.start(Broken).perft, 2)
        self.assertEqual(games.start(Broken).perft(1), 3)
        with self.assertRaisesRegex(games.RulesFailed, "don't list"):
            games.start(Unlisted).perft(1)
        game = games.start(Unseen)
        game.play("1")
        for seen in [game.view, game.svg, game.text, *([game.planes] if numpy else [])]:
            with self.assertRaisesRegex(games.RulesFailed, "RuntimeError: no picture"):
                seen()
        self.assertEqual(game.legal(), [0, 1, 2])

    def test_interrupts_pass_through(self):
        game = games.start(Interrupted)
        self.assertRaisesRegex(KeyboardInterrupt, "by the person", game.perft, 2)
        self.assertRaisesRegex(KeyboardInterrupt, "by the person", games.playouts, game, 2)
        self.assertRaisesRegex(KeyboardInterrupt, "by the person", games.playouts, game, 9, threads=3)
        game.play("1")
        for asked in [game.legal, game.actions, game.position]:
            self.assertRaisesRegex(KeyboardInterrupt, "by the person", asked)
        Interrupted.interrupts = False
        self.addCleanup(setattr, Interrupted, "interrupts", True)
        # It goes on where it was.
        self.assertEqual((game.legal(), game.turn), ([0, 1, 2], 1))

    def test_programs_are_pickled_by_their_place(self):
        for named in [Nim, PROGRAMS / "connect-four"]:
            game = games.start(named)
            game.play_number(game.legal()[1])
            self.assertEqual(pickle.loads(pickle.dumps(game)).position(), game.position())

    def test_other_objects_are_no_games(self):
        for wrong in [5, None, [], dict, GameProgram]:
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertRaises((TypeError, games.RulesFailed), games.start, wrong)


CHILD = r"""
import random, sys
from referee_kit import games
from referee_kit._native import Batch, Game, Rules, playouts

loop = []
loop.append(loop)
deep = {}
deep["type"] = deep
class Odd:
    def __index__(self): raise RuntimeError
class Huge:
    def __index__(self): return 1 << 200
objects = [None, True, False, 0, 1, -1, 5, 1 << 31, 1 << 63, 1 << 64, -(1 << 63), 1 << 200, 0.5, float("nan"),
           float("inf"), "", "b2", "a1", "swap", "\ud800", "x" * 100000, b"", b"\0" * 8, (), (1, 2), [], [1], loop, {}, deep,
           {1: 2}, {"type": None}, {"type": "place"}, {"type": "place", "at": [0, 1 << 62]},
           {"type": "place", "at": [1, 1]}, {"type": "move", "path": [1] * 1000}, {"type": "move", "from": [0, 0]},
           {"position": {}}, {"position": {"to_move": 9}}, {"size": 1 << 62}, object(), Odd(), Huge(), Odd, type, games, len,
           lambda *_: b"", lambda *_: b"{}", lambda *_: None, {"x"}, complex(1, 1), slice(1), iter([]), Ellipsis]
chooser = random.Random(int(sys.argv[1]))
targets = [games.start(name) for name in games.names()] + [games.start("hex", size=3)]
objects += targets[:2]
calls = 0
for turn in range(int(sys.argv[2])):
    game = chooser.choice(targets).copy()
    for _ in range(chooser.randrange(4)):
        if game.legal():
            game.play_number(chooser.choice(game.legal()))
    # Long calls with valid arguments are not wrong objects.
    methods = [it for it in dir(Game) if not it.startswith("__") and it != "perft"]
    batch = Batch(games.start("hex", size=3), 2, 1, 9)
    target, name = chooser.choice(
        [(game, chooser.choice(methods))] * 6 + [(batch, chooser.choice(["step", "observe", "game"]))]
        + [(Rules, chooser.choice(["built_in", "of_program"])), (Rules.built_in("hex"), "start")]
        + [(games, "playouts"), (games, "start"), (Game, "__new__"), (sys.modules["referee_kit._native"], "Batch")])
    arguments = [chooser.choice(objects) for _ in range(chooser.randrange(4))]
    if name in ("playouts", "Batch") and len(arguments) > 1 and isinstance(arguments[1], int):
        arguments[1] %= 50
    member = getattr(target, name)
    try:
        member(*arguments) if callable(member) else setattr(target, name, arguments and arguments[0])
    except BaseException as error:
        if type(error).__name__ == "PanicException" or isinstance(error, (SystemExit, KeyboardInterrupt)):
            print("panic", name, arguments, error)
            sys.exit(1)
    calls += 1
print("calls", calls)
"""


class WrongObjects(unittest.TestCase):
    def test_the_interpreter_survives_them(self):
        child = subprocess.run([sys.executable, "-c", CHILD, "1", "6000"], capture_output=True, encoding="utf-8",
                               errors="replace", timeout=600)
        self.assertEqual((child.returncode, child.stdout), (0, "calls 6000\n"), child.stderr[-2000:])


    def test_what_changes_or_has_no_end_is_refused(self):
        class Endless(list):
            def __iter__(self):
                while True:
                    yield 0

        class Grows:
            def __index__(self):
                action["more"] = 1
                return 1

        many = []
        for _ in range(30):
            many = [many, many]
        game = games.start("hex", size=3)
        for wrong in [many, Endless()]:
            with self.assertRaisesRegex(ValueError, "more than"):
                game.play({"type": wrong})
        action = {"type": "place", "at": [Grows(), 1], "last": 1}
        with self.assertRaises((ValueError, games.IllegalAction)):
            game.play(action)


@unittest.skipIf(numpy is None, "needs numpy")
class Arrays(unittest.TestCase):
    def test_masks_have_the_legal_actions(self):
        for game in starts():
            mask = game.mask()
            self.assertEqual((mask.shape, mask.dtype), ((game.numbers,), numpy.int8))
            self.assertEqual(sorted(game.legal()), numpy.flatnonzero(mask).tolist())

    def test_planes_show_what_a_seat_sees(self):
        game = games.start("hex", size=3)
        game.play("b1")
        self.assertEqual(game.plane_names(), ["pieces of own", "pieces of opponent", "edge of own",
                                              "edge of opponent", "last action", "to move"])
        own, other = game.planes(0), game.planes()
        self.assertEqual((own.shape, own.dtype), (game.plane_shape, numpy.float32))
        stone = [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
        for plane, seen in [(0, own), (1, other), (4, own), (4, other)]:
            self.assertEqual(seen[plane].tolist(), stone)
        self.assertEqual((own[1].sum(), own[5].sum(), other[5].sum()), (0, 0, 9))
        self.assertEqual(own[2].tolist(), [[1, 0, 1]] * 3)
        self.assertEqual(other[2].tolist(), [[1, 1, 1], [0, 0, 0], [1, 1, 1]])

    def test_planes_are_fractions_and_belong_to_their_game(self):
        for game in starts():
            chooser = random.Random(1)
            for _ in range(6):
                for seat in range(game.seats):
                    planes = game.planes(seat)
                    self.assertEqual(planes.shape, game.plane_shape)
                    self.assertTrue(((planes >= 0) & (planes <= 1)).all(), game.name)
                if game.is_over():
                    break
                game.play_number(chooser.choice(game.legal()))

    def test_positions_that_differ_have_other_planes(self):
        """For games whose position is all on the board."""
        for name in ["hex", "peg-solitaire", "chinese-checkers", "freckers"]:
            game = games.start(name)
            first = game.planes(0).tobytes()
            after = {game.after(action).planes(0).tobytes() for action in game.actions()}
            self.assertNotIn(first, after)
            self.assertEqual(len(after), len({json.dumps(game.after(action).position()) for action in game.actions()}))

    def test_symmetric_games_stay_symmetric(self):
        """A game whose every action is turned: the same legal actions, planes and end, seen by the turned seats."""
        turned_seats = 0
        for start in starts():
            if start.numbers > 100_000:
                continue
            for symmetry in games.symmetries(start):
                game, chooser = start.copy(), random.Random(3)
                for _ in range(8):
                    if game.is_over():
                        break
                    other, seats = turned_position(game, symmetry)
                    if other is None or limited(other):
                        break
                    turned_seats += symmetry.seats[0] != 0
                    self.assertEqual(sorted(other.legal()), sorted(symmetry.actions[game.legal()].tolist()))
                    number = chooser.choice(game.legal())
                    self.assertEqual(other.to_move, seats[game.to_move])
                    game.play_number(number)
                    other.play_number(int(symmetry.actions[number]))
                    if limited(game) or limited(other):
                        break
                    shown = numpy.ones(game.plane_shape[0], bool)
                    # A swap without cells leaves the mark of the action before, which a position doesn't have.
                    shown[game.plane_names().index("last action")] = len(game.action(number)) > 1
                    for seat in range(game.seats):
                        turned = symmetry.planes(game.planes(seat))
                        self.assertTrue((turned == other.planes(seats[seat]))[shown].all(), (game.name, game.setup))
                    if game.is_over():
                        places = other.outcome()["places"]
                        self.assertEqual(game.outcome()["places"], [places[seat] for seat in seats])
        self.assertGreater(turned_seats, 100)

    def test_known_games_have_their_symmetries(self):
        counts = {"hex": 4, "chexers": 3, "freckers": 4, "chinese-checkers": 4, "checker-puzzle": 2,
                  "peg-solitaire": 2}
        self.assertEqual({name: len(games.symmetries(games.start(name))) for name in games.names()}, counts)
        self.assertEqual(len(games.symmetries(games.start(PROGRAMS / "connect-four"))), 1)
        turn = games.symmetries(games.start("hex", size=4))[2]
        policy = numpy.arange(17.0)
        self.assertEqual(turn.policy(policy)[turn.actions].tolist(), policy.tolist())


def limited(game):
    """Whether a limit ended it: what limits count isn't turned."""
    return game.is_over() and game.outcome()["reason"] in ("repetition", "turn_limit", "move_limit")


def turned_position(game, symmetry):
    """A game that starts from the turned position, and the seats that took others' parts; None if it can't be one."""
    cells, seats = game.cells, symmetry.seats
    to = {cell: cells[number] for cell, number in zip(cells, symmetry.cells.tolist())}
    setup = {key: value for key, value in game.setup.items() if key != "position"}

    def turn(listed):
        if game.name == "chinese-checkers":
            return sorted(int(symmetry.cells[number - 1]) + 1 for number in listed)
        return sorted(list(to[tuple(cell)]) for cell in listed)

    def by_seat(listed):
        changed = list(listed)
        for seat, value in enumerate(listed):
            changed[seats[seat]] = value
        return changed

    position = game.position()
    for key in ("open", "pegs", "pads"):
        if key in position:
            position[key] = turn(position[key])
    for key in ("stones", "marbles", "frogs", "pieces"):
        if key in position:
            alone = game.seats == 1
            position[key] = turn(position[key]) if alone else by_seat([turn(part) for part in position[key]])
    if "exits" in position:
        position["exits"] = by_seat(position["exits"])
    if "open" in setup:
        setup["open"] = position["open"]
    if game.name == "hex" and seats[0]:
        # Seat 0 begins in every game: it gets the other colour instead of the other seat.
        position["colours"].reverse()
        setup["first"] = "red" if setup["first"] == "black" else "black"
        seats = (0, 1)
    elif "to_move" in position:
        position["to_move"] = seats[position["to_move"]]
        # The number of a turn tells whose it is.
        position["turn"] += seats[0]
    try:
        return games.start(game.name, setup, position=position), seats
    except games.BadSetup:
        return None, seats  # No game can reach it, such as a start whose limit of turns is one.


class WithoutNumpy(unittest.TestCase):
    def test_arrays_say_what_they_need(self):
        code = "import sys; sys.modules['numpy'] = None\nfrom referee_kit import games\n" \
               "games.start('hex').%s"
        for member, what in [("mask()", "arrays"), ("planes()", "arrays"), ("name; games.symmetries(games.start('hex'))", "symmetries"),
                             ("name; from referee_kit import replays; next(replays.batches('.'))", "batches")]:
            child = subprocess.run([sys.executable, "-c", code % member], capture_output=True, encoding="utf-8")
            self.assertIn("ImportError: %s need numpy: pip install numpy" % what, child.stderr)


if __name__ == "__main__":
    unittest.main()
