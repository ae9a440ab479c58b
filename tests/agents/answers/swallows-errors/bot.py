from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def answer(self, turn):
        try:
            self.send({"type": "action", "action": turn["action"][0]})
        except Exception:
            pass


Agent().run()
