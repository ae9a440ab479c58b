from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        while True:
            self.send({"type": "info", "text": "thinking"})


Agent().run()
