from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        self.send({"type": "action", "turn": str(turn["turn"]), "action": action})


Agent().run()
