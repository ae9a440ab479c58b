import pathlib
import tempfile

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_hello(self, message):
        mark = pathlib.Path(tempfile.gettempdir()) / "started"
        if mark.exists():
            raise RuntimeError("already started")
        mark.touch()
        super().on_hello(message)


Agent().run()
