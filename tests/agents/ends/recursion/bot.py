from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def depth(self, left):
        return 1 + self.depth(left - 1) if left else 0

    def choose(self, turn):
        self.depth(self.turns * 40)
        return turn["actions"][0]


Agent().run()
