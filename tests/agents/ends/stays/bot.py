import time

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_over(self, message):
        time.sleep(3600)


Agent().run()
