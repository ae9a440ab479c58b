"""Forks: forks.py HOW, which is

    bomb     every process forks, up to a number that a machine without limits survives
    rabbit   a chain of processes, each of which forks the next and exits; the agent plays on
    politely one child in each turn, which it waits for
    ignores  it and a child ignore all signals, also after the match
"""

import mmap
import os
import signal
import struct
import sys
import time

from lib_agent import answer, forever, play, report

# The bomb's processes, counted in shared memory. Two that count at once may count as one, which
# doesn't matter here.
MOST = 2000
RABBIT_S = 120


def bomb(_message):
    shared = mmap.mmap(-1, 8)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        count = struct.unpack("q", shared[:8])[0]
        if count >= MOST:
            break
        shared[:8] = struct.pack("q", count + 1)
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)
    forever()


def rabbit():
    if os.fork() != 0:
        return
    try:
        os.setsid()
    except PermissionError:
        # From level `confined` on.
        os.setpgid(0, 0)
    end = time.monotonic() + RABBIT_S
    while time.monotonic() < end:
        try:
            if os.fork() != 0:
                os._exit(0)
        except OSError:
            time.sleep(0.001)
    os._exit(0)


def politely(message):
    try:
        child = os.fork()
    except OSError as error:
        report("harm", f"fork: {error}")
        return answer(message)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return answer(message)


def ignore(*_):
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass


def ignores(_message):
    ignore()
    if os.fork() == 0:
        forever()


HOW = sys.argv[1]
if HOW == "bomb":
    play(turn=bomb)
elif HOW == "rabbit":
    play(start=lambda _: rabbit())
elif HOW == "politely":
    play(turn=politely)
else:
    play(start=ignores, over=lambda _: forever())
