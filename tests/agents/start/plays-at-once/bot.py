from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        self.send({"type": "action", "action": {"type": "place", "at": [0, 0]}})


Agent().run()
