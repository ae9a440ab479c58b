"""Writes without end: flood.py endless | blank | lines | stderr MEGABYTES."""

import os
import sys

from lib_agent import answer, forever, play, say, write

MB = 1_000_000


def endless(_turn):
    """Writes three gigabytes without a line end."""
    piece = b"x" * MB
    for _ in range(3000):
        write(piece)
    forever()


def blank(_turn):
    """Writes blank lines, as many as there would be bytes otherwise."""
    piece = b"\n" * MB
    for _ in range(100):
        write(piece)
    forever()


def lines(_hello):
    """Writes valid lines right after `ready`."""
    say({"type": "ready", "want": ["actions"]})
    for number in range(1_000_000):
        say({"type": "info", "depth": number})


def stderr(turn):
    piece = b"z" * MB
    if turn["turn"] == 0:
        for _ in range(int(sys.argv[2])):
            os.write(2, piece)
    answer(turn)


if sys.argv[1] == "endless":
    play(turn=endless)
elif sys.argv[1] == "blank":
    play(turn=blank)
elif sys.argv[1] == "lines":
    play(start=lines)
else:
    play(turn=stderr)
