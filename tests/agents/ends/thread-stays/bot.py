import threading
import time

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_hello(self, message):
        threading.Thread(target=time.sleep, args=[3600]).start()
        super().on_hello(message)


Agent().run()
