from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        self.send({"type": "action", "action": self.choose(turn)})


Agent().run()
