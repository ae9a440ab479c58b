"""Works on while its opponent thinks, and tells how much CPU time that was: ponder.py.

What it used between its answer and the next request is measured after the answer was written and
before the request is read.
"""

import json
import os
import select
import sys
import time

from lib_agent import READY, answer, say, tell


def heard():
    """The next line, byte by byte so that none is read ahead."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit()
        line += byte
    return json.loads(line)


def ponder():
    begun = time.process_time()
    while not select.select([0], [], [], 0)[0]:
        for _ in range(1000):
            pass
    return time.process_time() - begun


while True:
    message = heard()
    if message["type"] == "hello":
        say(READY)
    elif message["type"] == "over":
        break
    elif message["type"] == "turn":
        answer(message)
        tell("pondered_ms", round(1000 * ponder()))
