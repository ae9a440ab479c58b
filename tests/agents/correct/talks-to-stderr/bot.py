import sys

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        print("turn", turn["turn"], "of", len(turn["actions"]), "actions", file=sys.stderr)
        return turn["actions"][0]


Agent().run()
