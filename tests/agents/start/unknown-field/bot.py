from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        self.send({"type": "ready", "author": "me", "want": self.want})


Agent().run()
