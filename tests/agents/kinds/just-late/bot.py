import time

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        time.sleep(3.3)
        return turn["actions"][0]


Agent().run()
