from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        move = next(action for action in turn["actions"] if action["type"] == "move")
        return {"type": "move", "from": move["from"][::-1], "to": move["to"][::-1]}


Agent().run()
