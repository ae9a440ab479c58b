from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        self.send({"type": "Ready", "want": self.want})


Agent().run()
