from simple_agent import HexAgent


class Agent(HexAgent):
    def choose(self, turn):
        return {"type": "swap"} if turn["turn"] == 1 else super().choose(turn)


Agent().run()
