from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return turn["actions"][[0, 0][self.turns - 1]]


Agent().run()
