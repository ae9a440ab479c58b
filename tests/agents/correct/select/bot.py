import json
import os
import select

from simple_agent import SimpleAgent

agent = SimpleAgent()
rest = b""
while True:
    if not select.select([0], [], [], 1.0)[0]:
        continue
    data = os.read(0, 65536)
    if not data:
        break
    *lines, rest = (rest + data).split(b"\n")
    for line in lines:
        agent.handle(json.loads(line))
