"""Plays like any agent, and keeps all that it reads in the file that its first argument names.

Its other arguments are what it wants in its requests.
"""
import json
import sys

log = open(sys.argv[1], "ab", buffering=0)
wants = sys.argv[2:]
for line in sys.stdin.buffer:
    log.write(line)
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "want": ["actions"] + wants}
    elif message["type"] == "turn":
        answer = {"type": "action", "action": message["actions"][message["turn"] % 2]}
    else:
        continue
    print(json.dumps(answer), flush=True)
