"""Uses CRLF line ends and blank lines, and resigns after 12 turns."""

import json
import sys


def say(message):
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\r\n\r\n")
    sys.stdout.buffer.flush()


TURNS = 0
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "ready", "name": "ñ", "want": ["actions"]})
    elif message["type"] == "turn":
        TURNS += 1
        say({"type": "info", "text": "½"})
        if TURNS > 12:
            say({"type": "resign"})
        else:
            say({"type": "action", "action": message["actions"][-1]})
