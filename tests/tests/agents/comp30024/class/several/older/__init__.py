"""Another version beside it: which of the two plays?"""


class Agent:
    """Not finished."""
