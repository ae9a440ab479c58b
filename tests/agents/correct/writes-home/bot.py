import os
import tempfile

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_played(self, message):
        with open(os.path.expanduser("~/played"), "a") as played:
            played.write(str(message["turn"]))
        with tempfile.NamedTemporaryFile() as scratch:
            scratch.write(b"x")


Agent().run()
