import random

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_hello(self, message):
        random.seed(message["seed"])
        super().on_hello(message)

    def choose(self, turn):
        return {"type": "place", "at": [random.randrange(11), random.randrange(11)]}


Agent().run()
