#!/usr/bin/env python3
"""Plays any game: picks one of the legal actions that the referee lists."""
import json
import random
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        random.seed(message["seed"])
        answer = {"type": "ready", "name": "random (Python)", "want": ["actions"]}
    elif message["type"] == "turn":
        answer = {"type": "action", "turn": message["turn"], "action": random.choice(message["actions"])}
    else:
        continue
    print(json.dumps(answer), flush=True)
