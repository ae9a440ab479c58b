from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_over(self, message):
        print("good game")


Agent().run()
