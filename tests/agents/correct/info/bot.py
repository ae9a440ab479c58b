from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        self.send({"type": "info", "depth": 1, "score": 0.5, "text": "the first"})
        return turn["actions"][0]


Agent().run()
