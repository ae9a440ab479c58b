import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def send(self, message):
        print(json.dumps(message), end="\r\n", flush=True)


Agent().run()
