from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    last = None

    def choose(self, turn):
        last, self.last = self.last, turn["actions"][0]
        return last or self.last


Agent().run()
