import json
import sys

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        sys.stdout.buffer.write((json.dumps({"type": "action", "turn": turn["turn"], "action": action}) + "\n").encode("utf-16"))
        sys.stdout.flush()


Agent().run()
