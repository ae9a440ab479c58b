import threading

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_played(self, message):
        threading.Thread(target=sum, args=[range(100_000)]).start()


Agent().run()
