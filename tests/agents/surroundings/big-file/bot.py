import os

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        with open(os.path.expanduser("~/table"), "wb") as table:
            table.write(bytes(20_000_000))
        return turn["actions"][0]


Agent().run()
