import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        # It expects the board on a line of its own.
        board = json.loads(input())
        return board["actions"][0]

    def run(self):
        while True:
            self.handle(json.loads(input()))


Agent().run()
