from simple_agent import HexAgent


class Agent(HexAgent):
    def choose(self, turn):
        row, column = self.free[-1]
        return {"type": "place", "at": [row + 1, column + 1]}


Agent().run()
