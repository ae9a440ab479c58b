import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        print("\033[32m" + json.dumps({"type": "action", "turn": turn["turn"], "action": action}) + "\033[0m", flush=True)


Agent().run()
