"""Plays, and copies its input to stderr.

Its arguments are more entries of `want`.
"""
import json
import sys

wants = sys.argv[1:]
for line in sys.stdin.buffer:
    sys.stderr.buffer.write(line)
    sys.stderr.buffer.flush()
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "want": ["actions"] + wants}
    elif message["type"] == "turn":
        answer = {"type": "action", "action": message["actions"][message["turn"] % 2]}
    else:
        continue
    print(json.dumps(answer), flush=True)
