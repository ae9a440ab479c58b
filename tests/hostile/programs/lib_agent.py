"""What the programs of the hostile suite share: an agent that plays the first legal action, with
places at which a program does something else."""

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


def tell(name, value):
    """A figure for the suite, on stderr."""
    os.write(2, f"told {name}: {value}\n".encode())


def forever():
    while True:
        time.sleep(60)


def arguments():
    """Those of the program but for the run's token, the last. Paths come with `%` for `/`: what its
    command names by a path, an agent may read."""
    return [it.replace("%", "/") for it in sys.argv[1:-1]]


class Denied(Exception):
    """An attack that has failed without an error of the system."""


def attempt(name, action):
    """Tries an attack and tells the suite what came of it."""
    try:
        said = f"worked {action() or ''}"
    except OSError as error:
        said = "denied " + errno.errorcode.get(error.errno, str(error.errno))
    except Denied as error:
        said = f"denied {error}"
    os.write(2, f"attack {name}: {said.strip()}\n".encode())


def nothing(_=None):
    """For the places at which a program does what every agent does."""


def play(start=nothing, turn=answer, over=nothing, ready=None):
    """Speaks the protocol to its end. `start` is called before `ready`, `turn` answers."""
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
    """Plays on after an attack in its first turn.

    What attacks could do as root would be done to the machine: then nothing is tried, which fails
    the row. `harmless` ones only look.
    """
    done = []

    def turn(message):
        if not done:
            done.append(True)
            if harmless or os.geteuid() != 0:
                attack()
            else:
                tell("harm", "it runs as root, so that nothing could be tried")
        answer(message)

    play(turn=turn)
