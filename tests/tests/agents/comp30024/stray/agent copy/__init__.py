"""An earlier version beside it, whose class is that of the later one."""

from agent.program import Agent

__all__ = ["Agent"]
