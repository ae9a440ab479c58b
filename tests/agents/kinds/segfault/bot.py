import ctypes

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        if self.turns == 2:
            ctypes.string_at(0)
        return turn["actions"][0]


Agent().run()
