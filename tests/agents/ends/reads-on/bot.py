import json
import sys

from simple_agent import SimpleAgent

agent = SimpleAgent()
while True:
    while not (line := sys.stdin.readline().strip()): pass
    agent.handle(json.loads(line))
