from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        super().ready()
        super().ready()


Agent().run()
