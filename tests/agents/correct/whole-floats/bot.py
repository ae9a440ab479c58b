from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return {"type": "place", "at": [float(place) for place in turn["actions"][0]["at"]]}


Agent().run()
