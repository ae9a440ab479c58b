"""A submission's own copy of the course's package has only what it needs."""


class AgentBase:
    """The agent's base."""

    def __init__(self, colour):
        self.colour = colour
