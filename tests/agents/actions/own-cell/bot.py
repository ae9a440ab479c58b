from simple_agent import HexAgent


class Agent(HexAgent):
    def choose(self, turn):
        return {"type": "place", "at": [5, 5]}


Agent().run()
