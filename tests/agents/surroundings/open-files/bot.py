from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    files = []

    def choose(self, turn):
        self.files += [open("/dev/null") for _ in range(300)]
        return turn["actions"][0]


Agent().run()
