"""What this machine gives: levels, tools, users."""

import pathlib
import platform
import re

from . import watch
from .place import Place
from .rows import LEVELS

# From this version on a kernel has what level `confined` needs.
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
    """For each level an empty text, or why it isn't there."""
    found = {}
    for level in LEVELS[1:]:
        words = ["play", "hex", "@first", "@first", "--setup", "size=3", "--no-transcript",
                 "--json", "--sandbox", level]
        ran = ask(referee, words)
        found[level] = "" if ran.code == 0 else said(ran)
    return found


def said(ran):
    text = " ".join((ran.stderr.strip() or ran.stdout.strip()).split())
    return text[:200] or f"exit code {ran.code}"


def too_weak(had):
    """Why the suite fails by the levels alone; empty where it doesn't."""
    if not had["confined"] or kernel() < CONFINED_SINCE:
        return ""
    return f"this kernel has what `confined` needs, and it isn't there: {had['confined']}"
