import json
import sys

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def send(self, message):
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


Agent().run()
