import os

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        # The child was meant to search in the background, but it runs on and answers, too.
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        super().answer(turn)
        if not child:
            os._exit(0)


Agent().run()
