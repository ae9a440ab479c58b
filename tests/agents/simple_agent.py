"""A correct agent that plays the first listed action. The programs in the folders here change one thing."""
import json
import sys


class SimpleAgent:
    want = ["actions"]

    def __init__(self):
        self.seat = None
        self.setup = {}
        self.turns = 0

    def send(self, message):
        print(json.dumps(message), flush=True)

    def ready(self):
        self.send({"type": "ready", "want": self.want})

    def choose(self, turn):
        return turn["actions"][0]

    def answer(self, turn):
        self.send({"type": "action", "turn": turn["turn"], "action": self.choose(turn)})

    def on_hello(self, message):
        self.seat, self.setup = message["seat"], message["setup"]
        self.ready()

    def on_turn(self, message):
        self.turns += 1
        self.answer(message)

    def handle(self, message):
        method = getattr(self, "on_" + message["type"], None)
        if method:
            method(message)

    def run(self):
        for line in sys.stdin:
            self.handle(json.loads(line))


class HexAgent(SimpleAgent):
    """Keeps its own list of free cells instead of asking for the actions."""
    want = []
    size = None

    def on_hello(self, message):
        size = self.size or message["setup"]["size"]
        self.free = [[row, column] for row in range(size) for column in range(size)]
        super().on_hello(message)

    def on_played(self, message):
        if message["action"]["type"] == "place":
            self.free.remove(message["action"]["at"])
        elif self.setup["swap"] == "pieces":
            self.mirror()

    def mirror(self):
        """The only stone is now on the other side of the long diagonal."""
        size = self.setup["size"]
        cells = [[row, column] for row in range(size) for column in range(size)]
        (stone,) = [cell for cell in cells if cell not in self.free]
        self.free = [cell for cell in cells if cell != stone[::-1]]

    def choose(self, turn):
        return {"type": "place", "at": self.free[0]}
