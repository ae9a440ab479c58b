"""Notices that it is stopped, or stops itself: stops.py notices | itself."""

import os
import signal
import sys
import time

from lib_agent import answer, play, report

noticed = [0, 0.0]


def continued(_number, _frame):
    noticed[0] += 1


def notices(message):
    """Reports how often it was continued, and the last gap in its own clock."""
    now = time.monotonic()
    gap = now - noticed[1] if noticed[1] else 0
    noticed[1] = now
    report("continued", noticed[0])
    report("gap_s", round(gap, 2))
    answer(message)


def itself(_message):
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)


signal.signal(signal.SIGCONT, continued)
play(turn=notices if sys.argv[1] == "notices" else itself)
