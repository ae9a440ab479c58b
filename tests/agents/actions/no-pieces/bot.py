from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        return [action for action in turn["actions"] if "from" in action][0]


Agent().run()
