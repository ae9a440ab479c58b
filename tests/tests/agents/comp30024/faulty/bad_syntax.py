"""Isn't Python."""

class Agent
    pass
