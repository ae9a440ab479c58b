import json

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def ready(self):
        message = {"type": "ready", "name": "Zoë 駒 \U0001F422", "want": self.want}
        print(json.dumps(message, ensure_ascii=False), flush=True)


Agent().run()
