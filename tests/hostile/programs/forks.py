"""Forks: forks.py HOW, which is

    bomb     every process forks, up to a number at which a machine without limits still lives
    rabbit   a chain of processes in which each forks the next one and ends, then it plays on
    politely one child in each turn, which is waited for
    ignores  one child that ignores all signals, and so does it itself after its game
"""

import mmap
import os
import signal
import struct
import sys
import time

from lib_agent import answer, forever, play, tell

# Of all processes of the bomb together, counted in memory that they share. Two that count at once
# count one, which doesn't matter here.
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
    os.setsid()
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
        tell("harm", f"fork: {error}")
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
