import os

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    searching = None

    def answer(self, turn):
        # The child was meant to search in the background, but it answers, too, a turn later.
        if self.searching:
            child, go_on = self.searching
            os.close(go_on)
            os.waitpid(child, 0)
        wait, go_on = os.pipe()
        child = os.fork()
        if child:
            os.close(wait)
            self.searching = child, go_on
            super().answer(turn)
        else:
            os.close(go_on)
            os.read(wait, 1)
            super().answer(turn)
            os._exit(0)


Agent().run()
