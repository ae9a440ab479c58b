"""A package of the course's name, with the agent's own classes."""
