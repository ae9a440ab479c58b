from simple_agent import HexAgent


class Agent(HexAgent):
    size = 11

    def choose(self, turn):
        return {"type": "place", "at": self.free[-1]}


Agent().run()
