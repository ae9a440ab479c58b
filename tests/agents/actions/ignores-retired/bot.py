from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    next = 0

    def on_played(self, message):
        assert message["seat"] == self.next, f"seat {self.next} is to move"
        self.next = (self.next + 1) % 3


Agent().run()
