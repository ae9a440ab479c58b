"""Plays for an agent that was written for a course's own program, unmodified.

    python3 ADAPTER.py MODULE[:CLASS] [--strict]

in the folder from which the agent's module is imported. Whatever the agent prints goes to stderr,
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
# The room above the limit on memory before the system refuses more, in MB.
MORE_MB = 64
# The courses' own packages, and what they are beside.
COURSES = {"referee": "the package", "src": "the folder `agents`"}
# How far in an agent's own modules are looked for.
FOLDERS_DEEP = 3
# Packages whose name isn't that of their module.
INSTALLED_AS = {"cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "yaml": "pyyaml"}


class NotAnAction(Exception):
    """What the agent returned can't be sent."""


class Form:
    """How agents look that were written for one game of a course. `expected` describes an action."""

    # What an agent's class is called, and what it has.
    classes = []
    methods = ["action", "update"]
    # Whether memory counts, and if so, whether what the import takes does.
    memory_counts = True
    imports_count = False
    # Whether methods get facts about time and memory.
    has_facts = False

    def __init__(self, strict, setup):
        """Prepares what agents import."""

    @staticmethod
    def room_before_import():
        """How much the address space may grow besides the limit before memory counts, in MB. None: as much as the
        system has; imports map gigabytes that they never use, and what is used counts anyhow."""
        return None

    def find(self, spec):
        """The class that `MODULE[:CLASS]` means."""
        return find_class(spec, self.classes, self.methods)

    def construct(self, make, colour, facts):
        """Makes the agent."""
        return make(colour)

    def ask(self, seat):
        """Asks the agent for its action."""
        return seat.call("action")

    def tell(self, seat, number, action):
        """Tells the agent of an action, its own or another's."""
        seat.call("update", seat.colours[number], action)

    def refusal(self, action):
        """What the course's program said about an action of wrong types, if that is known."""


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
        bound_memory(self.limit_mb, MORE_MB)

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


def bound_memory(limit_mb, more_mb):
    """Has the system itself keep the address space from growing by more than this. No code can undo it,
    and the first time no code of the agent has run."""
    used_mb = Resources.sizes_mb()[0]
    if None in (used_mb, limit_mb, more_mb):
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

    def __init__(self, form, spec, strict, hello):
        if "position" in hello["setup"]:
            fail(f"{ADAPTER}: agents can't start from a position")
        self.spec, self.number, self.strict = spec, hello["seat"], strict
        self.game = guarded("import", form, strict, hello["setup"])
        self.colours = [self.game.colour(seat) for seat in hello["seats"]]
        self.returned = None
        # The same match again: as far as an agent draws from here, it draws the same.
        random.seed(hello["seed"])
        seed_numpy(hello["seed"])
        limits = hello["limits"] if self.game.memory_counts else {}
        if self.game.imports_count:
            self.resources = Resources(hello["clock"], limits)
        loaded = "numpy" in sys.modules
        make = guarded("import", self.game.find, spec)
        if not loaded:
            seed_numpy(hello["seed"])
        if not self.game.imports_count:
            self.resources = Resources(hello["clock"], limits)
        colour, facts = self.colours[self.number], self.resources.facts()
        self.agent = guarded("__init__()", self.game.construct, make, colour, facts)
        self.resources.check_memory("__init__()")

    def answer(self, message):
        """Asks the agent for its action; what can't be sent is garbled, in words."""
        self.resources.begin(message.get("left_ms"))
        action = self.game.ask(self)
        try:
            wire = self.game.wire(action)
        except (NotAnAction, TypeError, ValueError, AttributeError, IndexError, OverflowError):
            shown, kind = clipped(action), type(action).__name__
            shown = shown if shown.startswith(f"{kind}(") else f"{shown} ({kind})"
            method = self.game.methods[0]
            say(f"{self.spec}: {self.refusal(action)}{method}() returned {shown}, expected {self.game.expected}")
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
        self.game.tell(self, message["seat"], action)

    def call(self, name, *arguments):
        """Calls one of the agent's methods with what it takes of the keyword arguments."""
        facts = self.resources.facts() if self.game.has_facts else {}

        def method():
            method = getattr(self.agent, name)
            return method(*arguments, **(facts if self.strict else accepted(method, facts)))

        returned = guarded(f"{name}()", method)
        self.resources.check_memory(f"{name}()")
        return returned


def seed_numpy(seed):
    """Seeds the generator of numpy, if that has been imported."""
    if hasattr(sys.modules.get("numpy"), "random"):
        sys.modules["numpy"].random.seed(seed % 2**32)


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


def find_class(spec, names, methods):
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
    found = own_classes(modules, methods)
    listed = " and ".join(f"{method}()" for method in methods)
    listed = f"found {', '.join(found)}" if found else f"found none with {listed}"
    advice = "" if len(names) == 1 else "; add :CLASS to the agent's name"
    if not str(getattr(modules[0], "__file__", "")).startswith(FOLDER):
        advice = "; Python has a module of that name: rename the package"
    fail(f"no class {' or '.join(names)} in {where}{advice}; {listed}")


def own_classes(modules, methods):
    """The names of the classes in these modules that can be meant to play."""
    found = {}
    for name, made in [pair for module in modules for pair in vars(module).items()]:
        plays = all(callable(getattr(made, method, None)) for method in methods)
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
    """What to do about a missing module: it is the course's, the agent's own by another name, or not installed."""
    top = (module or "").partition(".")[0]
    if top in COURSES:
        return f"; put the course's folder `{top}` beside {COURSES[top]}"
    if not top or any(os.path.exists(os.path.join(FOLDER, top + end)) for end in ("", ".py")):
        return ""
    own = own_module(top)
    if own:
        return f"; import it as {own.replace(os.sep, '.')}, since it is in {os.path.dirname(own)}"
    return f"; install it: {sys.executable} -m pip install {INSTALLED_AS.get(top, top)}"


def own_module(name):
    """The path of a module of this name further in, without its ending."""
    for place, folders, files in os.walk(FOLDER):
        inner = os.path.relpath(place, FOLDER)
        deep = inner.count(os.sep) >= FOLDERS_DEEP
        folders[:] = [] if deep else sorted(folder for folder in folders if folder.isidentifier())
        if name + ".py" in files or name in folders:
            return os.path.normpath(os.path.join(inner, name))
    return None


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
        sys.exit(f"usage: python3 {ADAPTER}.py MODULE[:CLASS] [--strict]")
    wire = Wire()
    faulthandler.enable()
    messages = wire.messages()
    hello = next(messages, None)
    if hello is None:
        return
    form = GAMES.get(hello["game"], OTHERS)
    if form is None:
        fail(f"{ADAPTER}: agents play {' and '.join(GAMES)}, not {hello['game']}")
    if form.memory_counts:
        bound_memory(hello["limits"].get("memory_mb"), form.room_before_import())
    sys.path.insert(0, FOLDER)
    load_from_source()
    seat = Seat(form, sys.argv[1], strict, hello)
    wire.send({"type": "ready", "name": sys.argv[1], "version": sys.version.split()[0]})
    for message in messages:
        if message["type"] == "turn":
            wire.send(seat.answer(message))
        elif message["type"] == "played":
            seat.update(message)
