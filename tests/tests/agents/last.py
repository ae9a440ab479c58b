"""Plays the last legal action in any game. In Hex that is the swap."""
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "want": ["actions"]}
    elif message["type"] == "turn":
        answer = {"type": "action", "action": message["actions"][-1]}
    else:
        continue
    print(json.dumps(answer), flush=True)
