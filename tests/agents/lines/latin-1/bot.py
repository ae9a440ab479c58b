import sys

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        sys.stdout.buffer.write('{"type": "info", "text": "Zoë"}\n'.encode("latin-1"))
        super().answer(turn)


Agent().run()
