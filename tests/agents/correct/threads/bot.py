import json
import queue
import sys
import threading

from simple_agent import SimpleAgent

messages = queue.Queue()


def read():
    for line in sys.stdin:
        messages.put(json.loads(line))
    messages.put(None)


threading.Thread(target=read).start()
agent = SimpleAgent()
while (message := messages.get()) is not None:
    agent.handle(message)
