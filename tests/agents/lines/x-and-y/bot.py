from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        self.send({"type": "action", "action": {"type": "place", "x": 0, "y": 0}})


Agent().run()
