import signal

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_hello(self, message):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().on_hello(message)


Agent().run()
