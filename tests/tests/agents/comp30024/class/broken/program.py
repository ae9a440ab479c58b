"""Broken."""


class Agent
    """No colon."""
