from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        print({"type": "action", "turn": turn["turn"], "action": action}, flush=True)


Agent().run()
