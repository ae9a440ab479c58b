from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        pass


Agent().run()
