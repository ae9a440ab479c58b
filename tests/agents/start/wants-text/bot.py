from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    want = "actions"


Agent().run()
