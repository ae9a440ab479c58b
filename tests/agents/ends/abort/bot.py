import os

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        if self.turns == 2:
            os.abort()
        return turn["actions"][0]


Agent().run()
