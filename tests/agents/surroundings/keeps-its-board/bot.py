from simple_agent import HexAgent


class Agent(HexAgent):
    free = None

    def on_hello(self, message):
        if self.free is None:
            super().on_hello(message)
        else:
            self.ready()

    def ready(self):
        self.send({"type": "ready", "again": True})


Agent().run()
