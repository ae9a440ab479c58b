from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        print("MyBot 1.0 (c) 2026")
        super().ready()


Agent().run()
