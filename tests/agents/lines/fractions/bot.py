from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        self.send({"type": "action", "action": {**action, "at": [0.5, 0.5]}})


Agent().run()
