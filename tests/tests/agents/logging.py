"""Plays like any agent, and writes all that it reads to its stderr.

Its arguments are what it wants in its requests.
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
