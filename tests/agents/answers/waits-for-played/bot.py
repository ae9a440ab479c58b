from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        if self.played:
            super().answer(turn)

    played = False

    def on_played(self, message):
        self.played = True


Agent().run()
