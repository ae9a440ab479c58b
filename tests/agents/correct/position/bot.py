from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    want = ["position"]

    def choose(self, turn):
        taken = [cell for stones in turn["position"]["stones"] for cell in stones]
        size = range(turn["position"]["size"])
        return {"type": "place", "at": next([r, c] for r in size for c in size if [r, c] not in taken)}


Agent().run()
