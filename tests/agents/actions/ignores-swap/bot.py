from simple_agent import HexAgent


class Agent(HexAgent):
    def mirror(self):
        pass

    def choose(self, turn):
        return {"type": "place", "at": self.free[7]}


Agent().run()
