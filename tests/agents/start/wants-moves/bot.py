from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    want = ["moves"]


Agent().run()
