import sys

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_over(self, message):
        print("I won" if message["outcome"]["winner"] == self.seat else "I lost", file=sys.stderr)


Agent().run()
