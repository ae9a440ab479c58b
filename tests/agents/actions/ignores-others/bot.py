from simple_agent import HexAgent


class Agent(HexAgent):
    def on_played(self, message):
        if message["seat"] == self.seat:
            super().on_played(message)


Agent().run()
