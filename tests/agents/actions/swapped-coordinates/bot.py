from simple_agent import HexAgent


class Agent(HexAgent):
    def choose(self, turn):
        return {"type": "place", "at": self.free[0][::-1]}


Agent().run()
