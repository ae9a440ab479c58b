import sys

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        for _ in range(200):
            print("thinking " * 100, file=sys.stderr)
        return turn["actions"][0]


Agent().run()
