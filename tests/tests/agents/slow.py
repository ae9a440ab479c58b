"""Takes its first argument of seconds to start and its second one for its first turn, then plays illegally."""
import json
import sys
import time

start, turn = map(float, sys.argv[1:])
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        time.sleep(start)
        answer = {"type": "ready", "want": ["actions"]}
    elif message["type"] == "turn" and message["turn"] < 2:
        time.sleep(turn)
        answer = {"type": "action", "action": message["actions"][0]}
    elif message["type"] == "turn":
        answer = {"type": "action", "action": {"type": "place", "at": [9, 9]}}
    else:
        continue
    print(json.dumps(answer), flush=True)
