from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_hello(self, message):
        self.send(message)


Agent().run()
