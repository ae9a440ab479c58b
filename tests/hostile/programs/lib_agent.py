"""What the programs of the hostile suite share: an agent that plays the first legal action, with
hooks where a program does something else."""

import errno
import json
import os
import sys
import time

READY = {"type": "ready", "want": ["actions"]}


def write(data):
    """Writes bytes to stdout, all of them."""
    while data:
        data = data[os.write(1, data):]


def say(message):
    write(json.dumps(message).encode() + b"\n")


def answer(turn):
    say({"type": "action", "turn": turn["turn"], "action": turn["actions"][0]})


def report(name, value):
    """Reports a value to the suite, on stderr."""
    os.write(2, f"report {name}: {value}\n".encode())


def forever():
    while True:
        time.sleep(60)


def arguments():
    """The program's arguments without the last, the run's token. Paths are written with `%` for `/`,
    since an agent may read every path that its command names."""
    return [it.replace("%", "/") for it in sys.argv[1:-1]]


class Denied(Exception):
    """An attack failed without a system error."""


def attempt(name, action):
    """Tries an attack and reports the result to the suite."""
    try:
        said = f"worked {action() or ''}"
    except OSError as error:
        said = "denied " + errno.errorcode.get(error.errno, str(error.errno))
    except Denied as error:
        said = f"denied {error}"
    os.write(2, f"attack {name}: {said.strip()}\n".encode())


def nothing(_=None):
    """The hook of a program that does nothing else there."""


def play(start=nothing, turn=answer, over=nothing, ready=None):
    """Plays a match to its end. Calls `start` before `ready` and `turn` to answer."""
    for text in iter(sys.stdin.readline, ""):
        message = json.loads(text)
        if message["type"] == "hello":
            start(message)
            say(ready or READY)
        elif message["type"] == "turn":
            turn(message)
        elif message["type"] == "over":
            over(message)
            return


def play_after(attack, harmless=False):
    """Attacks in its first turn, then plays on.

    As root nothing is tried, which fails the row: attacks could damage the machine. `harmless`
    ones only look.
    """
    done = []

    def turn(message):
        if not done:
            done.append(True)
            if harmless or os.geteuid() != 0:
                attack()
            else:
                report("harm", "it runs as root, so nothing was tried")
        answer(message)

    play(turn=turn)
