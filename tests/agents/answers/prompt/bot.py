from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        self.move = input("Your move: ")


Agent().run()
