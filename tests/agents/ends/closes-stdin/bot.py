import os
import time

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        super().answer(turn)
        os.close(0)
        time.sleep(3600)


Agent().run()
