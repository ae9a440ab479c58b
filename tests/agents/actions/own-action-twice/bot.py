from simple_agent import HexAgent


class Agent(HexAgent):
    def choose(self, turn):
        return {"type": "place", "at": self.free.pop(0)}


Agent().run()
