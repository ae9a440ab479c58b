import json
import sys

from simple_agent import SimpleAgent

agent = SimpleAgent()
agent.handle(json.loads(sys.stdin.buffer.readline()))
while block := sys.stdin.buffer.read(1 << 20):
    for line in block.splitlines():
        agent.handle(json.loads(line))
