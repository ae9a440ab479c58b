import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        print('{"type": "action", "type": "action", "action": ' + json.dumps(action) + "}", flush=True)


Agent().run()
