from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        action = self.choose(turn)
        print('{"type": "info", "tree": ' + "[" * 40 + "]" * 40 + "}", flush=True)
        super().answer(turn)


Agent().run()
