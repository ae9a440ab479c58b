from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        budget = min(100, turn["left_ms"] // 10)
        return turn["actions"][0] if budget else None


Agent().run()
