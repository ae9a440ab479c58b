import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        print(json.dumps({"type": "action", "action": self.choose(turn)}))


Agent().run()
