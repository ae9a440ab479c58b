import time

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_over(self, message):
        end = time.process_time() + 3
        while time.process_time() < end:
            pass


Agent().run()
