import os
import time

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        # Before the answer, so that the next request can't be in the pipe already.
        os.close(0)
        super().answer(turn)
        time.sleep(3600)


Agent().run()
