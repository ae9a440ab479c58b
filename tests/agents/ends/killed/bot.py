import os
import signal

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        os.kill(os.getpid(), signal.SIGKILL)


Agent().run()
