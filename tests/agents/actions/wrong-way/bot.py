from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return {"type": "move", "from": [7, 1], "directions": ["DOWN"]}


Agent().run()
