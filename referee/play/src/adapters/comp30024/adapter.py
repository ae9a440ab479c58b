"""Plays for an agent of the course COMP30024, unmodified: Freckers 2025 and Chexers 2019.

    python3 comp30024.py PACKAGE[:CLASS] [--strict]

in the folder from which the agent's package is imported. Whatever the agent prints goes to stderr,
the referee's messages never reach its stdin, and its own mistakes are shown as it would see them.
With --strict, what the course's own program refused is refused.
"""

import sys

# Nothing of the agent's folder is imported before its memory is bounded.
del sys.path[0]

# Modules that take long to import and that not every agent needs are imported where they are used.
import faulthandler
import importlib
import importlib.machinery
import io
import json
import os
import random
import time

REPR_CHARACTERS_MAX = 160
NEEDED_PYTHON = (3, 10)
OWN_FILE = (lambda: None).__code__.co_filename
FOLDER = os.getcwd()
# The exit status by which the referee knows that the agent used too much memory.
MEMORY_STATUS = 99
# What the address space may grow by before the agent's memory counts, in MB: by the folder's own
# `referee.game`, by its own numpy, by all that a player of 2019 imports. The first is the room above the limit, too.
GAME_MB, NUMPY_MB, IMPORTS_MB = 64, 256, 4096


# Packages whose name isn't that of their module.
INSTALLED_AS = {"cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "yaml": "pyyaml"}


class NotAnAction(Exception):
    """What the agent returned can't be sent."""


class Freckers:
    """The agents of 2025, which get objects of `referee.game`, and facts about time and memory."""

    classes = ["Agent", "Player", "ExamplePlayer"]
    # In 2025, what the agent's package takes while it is imported was the agent's.
    imports_count = True
    expected = "MoveAction(coord, directions) or GrowAction()"

    def __init__(self, strict):
        self.strict = strict
        if any(os.path.isfile(f"referee/game{end}.py") for end in ("", "/__init__")):
            stand_for_referee()
        else:
            exec(compile(COURSE, OWN_FILE, "exec"), globals())
            install_referee()
        import_numpy()
        self.game = importlib.import_module("referee.game")
        names = ["Coord", "Direction", "GrowAction", "MoveAction", "PlayerColor"]
        missing = [name for name in names if not hasattr(self.game, name)]
        if missing:
            fail(f"the folder's own referee.game has no {missing[0]}: it isn't that of 2025")
        self.ways = {way.name.replace("_", "").upper(): way for way in self.game.Direction}

    def colour(self, name):
        """Returns a colour as agents get it."""
        return self.game.PlayerColor[name.upper()]

    def construct(self, make, colour, facts):
        """Makes the agent. The course named the argument, and some agents rely on it."""
        if self.strict:
            return make(color=colour, **facts)
        kinds = {one.name: one.kind for one in parameters(make)}
        facts = accepted(make, facts)
        if "color" in kinds or all(kind.name == "VAR_KEYWORD" for kind in kinds.values()):
            return make(color=colour, **facts)
        return make(colour, **facts)

    def action(self, wire):
        """Returns an action as agents get it."""
        if wire["type"] == "grow":
            return self.game.GrowAction()
        ways = tuple(self.ways[way.replace("_", "")] for way in wire["directions"])
        return self.game.MoveAction(self.game.Coord(*wire["from"]), ways)

    def refusal(self, action):
        """What the course's board said about an action of wrong types, or None."""
        game = self.game
        if isinstance(action, game.GrowAction):
            return None
        if not isinstance(action, game.MoveAction):
            return f"Unknown action {clipped(action, str)}"
        if type(action) is not game.MoveAction:
            return f"Action '{clipped(action, str)}' is not a MOVE action object."
        for name in ("coord", "directions"):
            if not hasattr(action, name):
                return f"Action '{clipped(action, str)}' is missing '{name}' attribute."
        if type(action.coord) is not game.Coord:
            return f"'{clipped(action.coord, str)}' is not a valid coordinate."
        if type(action.directions) not in (tuple, list):
            return f"Action '{clipped(action, str)}' has invalid directions object."
        wrong = [way for way in action.directions if type(way) is not game.Direction]
        return f"'{clipped(wrong[0], str)}' is not a valid direction." if wrong else None

    def wire(self, action):
        """Returns an action as the referee gets it."""
        if self.strict and self.refusal(action):
            raise NotAnAction
        kinds = {kind.__name__ for kind in type(action).__mro__}
        if "GrowAction" in kinds:
            return {"type": "grow"}
        if "MoveAction" not in kinds:
            raise NotAnAction
        coord, ways = action.coord, action.directions
        ways = ways if isinstance(ways, (tuple, list)) else [ways]
        names = [self.wire_way(way) for way in ways]
        return {"type": "move", "from": [whole(coord.r), whole(coord.c)], "directions": names}

    @staticmethod
    def wire_way(way):
        """Returns a direction as the referee gets it: `DownLeft` is `DOWN_LEFT`."""
        inner = "".join(f"_{letter}" if letter.isupper() else letter for letter in way.name[1:])
        return (way.name[0] + inner).upper()


class Chexers:
    """The players of 2019: tuples, and no keyword arguments."""

    classes = ["Player", "ExamplePlayer", "Agent"]
    # In 2019, memory was counted once all players had been imported.
    imports_count = False
    expected = '("MOVE", ((q, r), (q, r))), ("JUMP", ..), ("EXIT", (q, r)) or ("PASS", None)'

    def __init__(self, strict):
        """The course accepted nothing that this doesn't."""

    def refusal(self, action):
        """What the course's program said about an action of wrong types, if that is known."""

    def colour(self, name):
        """Returns a colour as players get it."""
        return name.lower()

    def construct(self, make, colour, facts):
        """Makes the player."""
        return make(colour)

    def action(self, wire):
        """Returns an action as players get it."""
        name = wire["type"].upper()
        if name == "PASS":
            return (name, None)
        if name == "EXIT":
            return (name, tuple(wire["from"]))
        return (name, (tuple(wire["from"]), tuple(wire["to"])))

    def wire(self, action):
        """Returns an action as the referee gets it; the course accepted only exactly these tuples."""
        name, where = action
        if name in ("MOVE", "JUMP"):
            (from_q, from_r), (to_q, to_r) = where
            start, end = [whole(from_q), whole(from_r)], [whole(to_q), whole(to_r)]
            wire = {"type": name.lower(), "from": start, "to": end}
        elif name == "EXIT":
            wire = {"type": "exit", "from": [whole(number) for number in where]}
        else:
            wire = {"type": "pass"}
        if self.action(wire) != action:
            raise NotAnAction
        return wire


GAMES = {"freckers": Freckers, "chexers": Chexers}


def whole(number):
    """An integer, also one of numpy's."""
    if int(number) != number:
        raise NotAnAction
    return int(number)


def parameters(function):
    """Returns the parameters of a function or class, as far as Python knows them."""
    import inspect

    try:
        return inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []


def accepted(function, facts):
    """Those of the facts that a function takes as keyword arguments."""
    taken = parameters(function) if facts else []
    if any(one.kind is one.VAR_KEYWORD for one in taken):
        return facts
    return {one.name: facts[one.name] for one in taken if one.name in facts}


class Resources:
    """What an agent gets to know about its time, in seconds, and its memory, in MB."""

    def __init__(self, clock, limits):
        self.clock, self.limit_mb = clock, limits.get("memory_mb")
        self.now = time.process_time if clock["kind"] == "cpu" else time.monotonic
        self.left_ms, self.turn_began = clock["bank_ms"], None
        self.before_mb, self.peak_before_mb = self.sizes_mb()
        bound_memory(self.limit_mb, GAME_MB)

    @staticmethod
    def sizes_mb():
        """The process's address space and its peak, which the course measured; None if unknown."""
        try:
            with open("/proc/self/status", encoding="ascii", errors="replace") as status:
                sizes = dict(line.split()[:2] for line in status if line.startswith("Vm"))
            return int(sizes["VmSize:"]) / 1024, int(sizes["VmPeak:"]) / 1024
        except (OSError, KeyError, ValueError):
            return None, None

    def begin(self, left_ms):
        """The agent's turn begins, with this much in its bank."""
        self.left_ms, self.turn_began = left_ms, self.now()

    def end(self, used_ms):
        """The agent's turn has ended and took this much from its bank."""
        self.turn_began = None
        if self.left_ms is not None:
            self.left_ms = max(0, self.left_ms - used_ms) + self.clock["increment_ms"]

    def facts(self):
        """The course's `referee` keyword arguments."""
        seconds = None if self.left_ms is None else self.left_ms / 1000
        if seconds is not None and self.turn_began is not None:
            seconds = max(0.0, seconds - (self.now() - self.turn_began))
        used_mb, room_mb = self.sizes_mb()[0], None
        if None not in (used_mb, self.before_mb, self.limit_mb):
            room_mb = self.limit_mb - max(0.0, used_mb - self.before_mb)
        limit_mb = None if self.limit_mb is None else float(self.limit_mb)
        return {"time_remaining": seconds, "space_remaining": room_mb, "space_limit": limit_mb}

    def check_memory(self, what):
        """Ends an agent whose address space has ever grown beyond the limit, as the course did."""
        used_mb, peak_mb = self.sizes_mb()
        if None in (used_mb, self.before_mb, self.limit_mb):
            return
        # A peak from before is not the agent's.
        most_mb = (peak_mb if peak_mb > self.peak_before_mb else used_mb) - self.before_mb
        if most_mb > self.limit_mb:
            text = f"exceeded space limit (peak={most_mb:.1f}MB, {self.limit_mb} MB are allowed)"
            fail(f"{sys.argv[1]}: {what}: {text}", MEMORY_STATUS)


def import_numpy():
    """As in the course, neither its time nor its memory is the agent's."""
    try:
        importlib.import_module("numpy")
    except Exception:  # A missing or broken one is the trouble of who needs it.
        pass


def stand_for_referee():
    """Lets the folder's own `referee.game` be imported without the rest of the course's program, whose
    `__init__` imports its server and what that needs."""
    import types

    package = types.ModuleType("referee")
    package.__path__ = [os.path.join(FOLDER, "referee")]
    sys.modules["referee"] = package


def room_before_import(game):
    """How much the address space may grow besides the limit before the agent's memory counts, in MB."""
    if game is Chexers:
        return IMPORTS_MB
    if any(os.path.exists(os.path.join(FOLDER, f"numpy{end}")) for end in ("", ".py")):
        return GAME_MB + NUMPY_MB
    import_numpy()
    return GAME_MB


def bound_memory(limit_mb, more_mb):
    """Has the system itself keep the address space from growing by more than this. No code can undo it,
    and the first time no code of the agent has run."""
    used_mb = Resources.sizes_mb()[0]
    if None in (used_mb, limit_mb):
        return
    most = int(used_mb + limit_mb + more_mb) << 20
    try:
        import resource

        now = resource.getrlimit(resource.RLIMIT_AS)[1]
        if now == resource.RLIM_INFINITY or now > most:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, OSError, ValueError):
        pass  # There is no such limit, or a lower one.


class Printed(io.FileIO):
    """What Python prints, to either stream; it knows whether a line has been left unended."""

    unended = False

    def write(self, data):
        """Writes, as far as the system takes it."""
        written = super().write(data)
        if written:
            Printed.unended = bytes(memoryview(data)[:written][-1:]) != b"\n"
        return written

    @classmethod
    def stream(cls, number):
        """A stream of text to a descriptor, line by line."""
        raw = io.BufferedWriter(cls(number, "w", closefd=False))
        return io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True)


class Wire:
    """The referee's lines, on descriptors that only this class knows."""

    def __init__(self):
        self.inbox = os.fdopen(os.dup(0), "rb")
        self.outbox = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        # Prints, C extensions and subprocesses alike: what goes to 1 comes out at stderr.
        os.dup2(2, 1)
        sys.stdout = sys.__stdout__ = Printed.stream(1)
        sys.stderr = sys.__stderr__ = Printed.stream(2)

    def messages(self):
        """The referee's messages, until it is over."""
        for line in self.inbox:
            if line.strip():
                message = json.loads(line)
                if message["type"] == "over":
                    return
                yield message

    def send(self, message):
        """Sends one message."""
        rest = json.dumps(message).encode("ascii") + b"\n"
        while rest:
            rest = rest[os.write(self.outbox, rest):]


class Seat:
    """The agent at its seat."""

    def __init__(self, spec, strict, hello):
        if hello["game"] not in GAMES:
            fail(f"comp30024: agents play {' and '.join(GAMES)}, not {hello['game']}")
        if "position" in hello["setup"]:
            fail("comp30024: agents can't start from a position")
        self.spec, self.number, self.strict = spec, hello["seat"], strict
        self.game = guarded("import", GAMES[hello["game"]], strict)
        self.colours = [self.game.colour(seat["colour"]) for seat in hello["seats"]]
        self.returned = None
        # The same match again: as far as an agent draws from here, it draws the same.
        random.seed(hello["seed"])
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(hello["seed"] % 2**32)
        if self.game.imports_count:
            self.resources = Resources(hello["clock"], hello["limits"])
        make = guarded("import", find_class, spec, self.game.classes)
        if not self.game.imports_count:
            self.resources = Resources(hello["clock"], hello["limits"])
        colour, facts = self.colours[self.number], self.resources.facts()
        self.agent = guarded("__init__()", self.game.construct, make, colour, facts)
        self.resources.check_memory("__init__()")

    def answer(self, message):
        """Asks the agent for its action; what can't be sent is garbled, in words."""
        self.resources.begin(message.get("left_ms"))
        action = self.call("action")
        try:
            wire = self.game.wire(action)
        except (NotAnAction, TypeError, ValueError, AttributeError, IndexError, OverflowError):
            shown, kind = clipped(action), type(action).__name__
            shown = shown if shown.startswith(f"{kind}(") else f"{shown} ({kind})"
            say(f"{self.spec}: {self.refusal(action)}action() returned {shown}, expected {self.game.expected}")
            wire = {"type": shown}
        self.returned = action
        return {"type": "action", "turn": message["turn"], "action": wire}

    def refusal(self, action):
        """The course's words about an action, before others."""
        try:
            refusal = self.game.refusal(action)
        except Exception:  # Whatever an agent's own attributes do.
            refusal = None
        return f"{refusal} " if refusal else ""

    def update(self, message):
        """Passes an action to the agent; its own as it returned it."""
        own = message["seat"] == self.number
        if own:
            self.resources.end(message["used_ms"])
        action = self.returned if own else self.game.action(message["action"])
        self.call("update", self.colours[message["seat"]], action)

    def call(self, name, *arguments):
        """Calls one of the agent's methods with what it takes of the keyword arguments."""
        facts = self.resources.facts() if isinstance(self.game, Freckers) else {}

        def method():
            method = getattr(self.agent, name)
            return method(*arguments, **(facts if self.strict else accepted(method, facts)))

        returned = guarded(f"{name}()", method)
        self.resources.check_memory(f"{name}()")
        return returned


class Source(importlib.machinery.SourceFileLoader):
    """Loads modules from their source: an agent's digest doesn't cover bytecode, which could be another program."""

    def path_stats(self, path):
        """Says that there is no bytecode, and that none can be kept."""
        raise OSError(f"no bytecode of {path}")


def load_from_source():
    """Lets modules of the agent's folder be loaded from their source alone."""
    machinery = importlib.machinery
    finder = machinery.FileFinder.path_hook(
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (Source, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    )

    def hook(path):
        if path != FOLDER and not path.startswith(os.path.join(FOLDER, "")):
            raise ImportError
        return finder(path)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()


def find_class(spec, names):
    """The class that `PACKAGE[:CLASS]` means: in the package itself, or where the course put it."""
    package, _, name = spec.partition(":")
    names = [name] if name else names
    modules = [importlib.import_module(package)]
    for inner in ("", ".program", ".player", ".agent"):
        if inner:
            folders = getattr(modules[0], "__path__", None)
            if not folders or not importlib.machinery.PathFinder.find_spec(package + inner, folders):
                continue
            modules.append(importlib.import_module(package + inner))
        for name in names:
            made = getattr(modules[-1], name, None)
            home = str(getattr(made, "__module__", None))
            if callable(made) and not home.startswith("referee."):
                return made
    where = " or ".join(module.__name__ for module in modules)
    found = own_classes(modules)
    listed = f"found {', '.join(found)}" if found else "found none with action() and update()"
    advice = "" if len(names) == 1 else "; add :CLASS to the agent's name"
    fail(f"no class {' or '.join(names)} in {where}{advice}; {listed}")


def own_classes(modules):
    """The names of the classes in these modules that can be meant to play."""
    found = {}
    for name, made in [pair for module in modules for pair in vars(module).items()]:
        plays = all(callable(getattr(made, method, None)) for method in ("action", "update"))
        if isinstance(made, type) and plays and not made.__module__.startswith("referee."):
            found[name] = made
    return list(found)


def guarded(what, function, *arguments):
    """Calls the agent's code, whose exceptions end the process at once, with all its threads."""
    try:
        return function(*arguments)
    except BaseException as error:  # An agent's sys.exit() is a mistake like any other.
        import traceback

        trace = traceback.TracebackException(type(error), error, error.__traceback__)
        trim(trace)
        lines = list(trace.format())
        if not trace.stack and not trace.__cause__ and not trace.__context__:
            lines = list(trace.format_exception_only())
        last = one_line(error)
        if isinstance(error, SystemExit):
            last = f"the agent ended its own process ({last})"
        if isinstance(error, ModuleNotFoundError):
            last += advice(error.name)
        if what == "import" and sys.version_info < NEEDED_PYTHON:
            python = ".".join(map(str, sys.version_info[:2]))
            last += f"; the course used Python 3.12, and this is {python}: {sys.executable}"
        # The agent's files, wherever they are copied to for the match.
        lines = [line.replace(os.path.join(FOLDER, ""), "") for line in lines]
        text, last = "".join(lines).rstrip(), place(error, trace) + last
        text += "" if text.endswith(f"\n{last}") or text == last else f"\n{last}"
        status = MEMORY_STATUS if isinstance(error, MemoryError) else 1
        fail(f"{sys.argv[1]} failed in {what}:\n{text}", status)


def advice(module):
    """How to install a missing module, unless the agent's folder has it or the course's program had."""
    top = (module or "").partition(".")[0]
    here = any(os.path.exists(os.path.join(FOLDER, top + end)) for end in ("", ".py"))
    if not top or here or top == "referee":
        return ""
    return f"; install it: {sys.executable} -m pip install {INSTALLED_AS.get(top, top)}"


def one_line(error):
    """What an exception says, as a traceback ends, but on one line."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:  # Whatever an agent's own `__str__` does.
        text = object.__repr__(error)
    return ": ".join([type(error).__name__] + [" ".join(text.split())] * bool(text.strip()))


def place(error, trace):
    """`file:line: ` of the agent's own line that an exception is about or came through last."""
    places = [(frame.filename, frame.lineno) for frame in trace.stack]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    here = os.path.join(FOLDER, "")
    own = [at for at in places if at[0].startswith(here) and "site-packages" not in at[0]]
    if not own:
        return ""
    file, line = own[-1]
    return f"{os.path.relpath(file, FOLDER)}:{line or 1}: "


def trim(trace):
    """Leaves the agent's own frames in a traceback, and in those that led to it."""
    import traceback

    # What dataclasses write for themselves has no file of its own.
    ours = (OWN_FILE, importlib.__file__, "<string>")
    frames = [frame for frame in trace.stack if frame.filename not in ours]
    frames = [frame for frame in frames if not frame.filename.startswith("<frozen importlib")]
    trace.stack = traceback.StackSummary.from_list(frames)
    for earlier in (trace.__cause__, trace.__context__):
        if earlier is not None:
            trim(earlier)


def clipped(value, show=repr):
    """A value as Python shows it, if it can be shown, and not too long."""
    try:
        shown = show(value)
    except Exception:  # Whatever an agent's own `__repr__` does.
        shown = object.__repr__(value)
    return shown if len(shown) <= REPR_CHARACTERS_MAX else shown[:REPR_CHARACTERS_MAX] + ".."


def say(text):
    """Writes a line to the stderr that the process began with, after all that was printed."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # The agent has closed it, or put something else in its place.
    start = "\n" if Printed.unended else ""
    Printed.unended = False
    os.write(2, f"{start}{text}\n".encode("utf-8", "backslashreplace"))


def fail(text, status=1):
    """Says why, and ends the process."""
    say(text)
    os._exit(status)


def main():
    """Plays a match."""
    strict = sys.argv[2:] == ["--strict"]
    if len(sys.argv) != 2 + strict:
        sys.exit("usage: python3 comp30024.py PACKAGE[:CLASS] [--strict]")
    wire = Wire()
    faulthandler.enable()
    messages = wire.messages()
    hello = next(messages, None)
    if hello is None:
        return
    room_mb = room_before_import(GAMES.get(hello["game"]))
    bound_memory(hello["limits"].get("memory_mb"), room_mb)
    sys.path.insert(0, FOLDER)
    load_from_source()
    seat = Seat(sys.argv[1], strict, hello)
    wire.send({"type": "ready", "name": sys.argv[1], "version": sys.version.split()[0]})
    for message in messages:
        if message["type"] == "turn":
            wire.send(seat.answer(message))
        elif message["type"] == "played":
            seat.update(message)


if __name__ == "__main__":
    main()
