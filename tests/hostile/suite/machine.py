"""What this machine supports: levels and options."""

import contextlib
import os
import pathlib
import platform
import re

from . import watch
from .place import Missing, Place
from .rows import LEVELS

# The first kernel with what level `confined` needs.
CONFINED_SINCE = (6, 12)


def kernel():
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def ask(referee, words):
    with Place(pathlib.Path("/nonexistent")) as place:
        return watch.run([referee, *words], place.path, place.environment(), 120)


def knows_levels(referee):
    return "--sandbox" in ask(referee, ["play", "--help"]).stdout


def knows(referee, option):
    return option in ask(referee, ["play", "--help"]).stdout


def levels(referee):
    """Returns per level an empty text, or why it is unavailable."""
    found = {}
    for level in LEVELS[1:]:
        words = ["play", "hex", "@first", "@first", "--setup", "size=3", "--no-transcript",
                 "--json", "--sandbox", level]
        ran = ask(referee, words)
        found[level] = "" if ran.code == 0 else output_of(ran)
    return found


def has_counters():
    """Returns whether the kernel counts CPU time of process trees for this user."""
    if os.geteuid() == 0:
        return True
    try:
        setting = pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii")
    except OSError:
        return False
    return int(setting) <= 2


@contextlib.contextmanager
def little_memory(name, megabytes):
    """Makes a control group with little memory for a while; yields what a process writes itself to, to
    enter it. Needs root."""
    lines = pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    found = [line.split(":", 2)[2] for line in lines if ":memory:" in line]
    if not found:
        raise Missing("no memory controller of version 1")
    folder = pathlib.Path("/sys/fs/cgroup/memory" + found[0]) / name
    try:
        folder.mkdir()
    except OSError as error:
        raise Missing(f"no control group: {error}") from error
    try:
        (folder / "memory.limit_in_bytes").write_text(str(megabytes << 20), encoding="ascii")
        yield folder / "cgroup.procs"
    finally:
        folder.rmdir()


def output_of(ran):
    text = " ".join((ran.stderr.strip() or ran.stdout.strip()).split())
    return text[:200] or f"exit code {ran.code}"


def too_weak(had):
    """Returns why the suite fails because of the levels alone; empty if it doesn't."""
    if not had["confined"] or kernel() < CONFINED_SINCE:
        return ""
    return f"level `confined` is unavailable, though this kernel supports it: {had['confined']}"
