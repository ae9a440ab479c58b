from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        print("playing", action)
        super().answer(turn)


Agent().run()
