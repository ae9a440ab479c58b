from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        self.send({"type": "info", "tree": list(range(20_000))})
        super().answer(turn)


Agent().run()
