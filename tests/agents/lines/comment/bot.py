import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        print(json.dumps({"type": "action", "turn": turn["turn"], "action": action}) + "  // best", flush=True)


Agent().run()
