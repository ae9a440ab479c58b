import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        self.send({"type": "action", "action": json.dumps(action)})


Agent().run()
