from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        self.send({"type": "action", "action": {**action, "at": [str(it) for it in action["at"]]}})


Agent().run()
