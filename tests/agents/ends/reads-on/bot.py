import json
import sys

from simple_agent import SimpleAgent

agent = SimpleAgent()
while True:
    line = sys.stdin.readline()
    if line.strip():
        agent.handle(json.loads(line))
