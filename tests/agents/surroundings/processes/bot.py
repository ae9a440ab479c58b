import subprocess

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def choose(self, turn):
        if self.turns == 1:
            children = [subprocess.Popen(["sleep", "2"]) for _ in range(40)]
            for child in children:
                child.wait()
        return turn["actions"][0]


Agent().run()
