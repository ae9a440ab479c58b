from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        super().answer(turn)
        self.send({"type": "info", "depth": 9})


Agent().run()
