from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        row, column = turn["actions"][0]["at"]
        return f"{chr(ord('a') + column)}{row + 1}"


Agent().run()
