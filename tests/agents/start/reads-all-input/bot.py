import json
import sys

from simple_agent import SimpleAgent

agent = SimpleAgent()
for line in sys.stdin.read().splitlines():
    agent.handle(json.loads(line))
