from simple_agent import HexAgent


class Agent(HexAgent):
    def on_played(self, message):
        self.free.remove(message["action"]["at"])


Agent().run()
