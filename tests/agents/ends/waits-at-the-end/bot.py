import json
import sys
import time

from simple_agent import SimpleAgent

agent = SimpleAgent()
while True:
    line = sys.stdin.readline()
    if line:
        agent.handle(json.loads(line))
    else:
        time.sleep(1)
