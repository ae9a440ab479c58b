from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        if self.turns == 5:
            self.send({"type": "resign", "turn": turn["turn"]})
        else:
            super().answer(turn)


Agent().run()
