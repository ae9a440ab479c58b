import threading

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    lock = threading.Lock()

    def choose(self, turn):
        self.lock.acquire()
        if self.turns < 3:
            self.lock.release()
        else:
            self.lock.acquire()
        return turn["actions"][0]


Agent().run()
