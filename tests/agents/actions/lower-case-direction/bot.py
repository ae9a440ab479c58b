from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return {"type": "move", "from": [0, 1], "directions": ["down"]}


Agent().run()
