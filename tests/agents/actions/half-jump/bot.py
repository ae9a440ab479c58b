from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return {"type": "move", "path": [4, 7]}


Agent().run()
