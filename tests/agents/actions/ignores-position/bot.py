from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    want = []
    moves = [[4, 15], [15, 26], [26, 37], [37, 48]] * 999

    def choose(self, turn):
        return {"type": "move", "path": self.moves[self.turns - 1]}


Agent().run()
