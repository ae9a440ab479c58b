from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return turn["actions"][[0][self.seat]]


Agent().run()
