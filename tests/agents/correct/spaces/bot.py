import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def send(self, message):
        print("\n  " + json.dumps(message, separators=(" , ", " :  ")) + "  \n", flush=True)


Agent().run()
