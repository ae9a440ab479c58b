from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return {"type": "move", "from": [-3, 0], "to": [-2, 0]}


Agent().run()
