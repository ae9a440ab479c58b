from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        self.send({"type": "ready", "protocol": 2})


Agent().run()
