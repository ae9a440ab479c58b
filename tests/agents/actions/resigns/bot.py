from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        turn["actions"][0]

    def answer(self, turn):
        action = self.choose(turn)
        if action is None:
            self.send({"type": "resign"})
        else:
            self.send({"type": "action", "action": action})


Agent().run()
