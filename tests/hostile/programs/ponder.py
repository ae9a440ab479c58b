"""Works while its opponent thinks, and reports the CPU time of that: ponder.py.

It is measured from its answer to the next request.
"""

import json
import os
import select
import sys
import time

from lib_agent import READY, answer, say, report


def read_message():
    """Reads the next line byte by byte, so that nothing is read ahead."""
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
    message = read_message()
    if message["type"] == "hello":
        say(READY)
    elif message["type"] == "over":
        break
    elif message["type"] == "turn":
        answer(message)
        report("pondered_ms", round(1000 * ponder()))
