"""Plays the first legal action, and further matches in the same process. Prints at each `hello` which
process it is: its process id, and when it was started.

usage: again.py MODE [MARK]

MODE is what else it does:

    plays       nothing
    once        doesn't offer further matches
    speaks      writes a line when it has read `over`
    exits       exits then
    computes    computes then, without end
    grows       holds 64 MiB during its first match
    shouts      writes 100,000 bytes to stderr in its first turn of each match
    sleeps      sleeps before each answer
    interrupts  writes a line while its opponent is asked
"""
import json
import os
import sys
import time

MODE = sys.argv[1]


def say(message):
    print(json.dumps(message), flush=True)


def note(text):
    print(text, file=sys.stderr, flush=True)


def born():
    with open("/proc/self/stat") as stat:
        return stat.read().rpartition(")")[2].split()[19]


held = None
matches = 0
shouts = False
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        note(f"process {os.getpid()} of {born()}")
        matches += 1
        held = bytearray(b"x") * (64 << 20) if MODE == "grows" and matches == 1 else None
        shouts = MODE == "shouts"
        again = {} if MODE == "once" else {"again": True}
        say({"type": "ready", "want": ["actions"], **again})
    elif message["type"] == "turn":
        if shouts:
            note("x" * 100_000)
            shouts = False
        time.sleep(0.2 if MODE == "sleeps" else 0)
        say({"type": "action", "action": message["actions"][0]})
        if MODE == "interrupts":
            time.sleep(0.05)
            say({"type": "info"})
    elif message["type"] == "over":
        held = None
        if MODE == "speaks":
            say({"type": "info", "text": "a good game"})
        if MODE == "exits":
            break
        while MODE == "computes":
            pass
