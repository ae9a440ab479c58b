from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        action = turn["actions"][0]
        if action["type"] == "move":
            action["path"].reverse()
        return action


Agent().run()
