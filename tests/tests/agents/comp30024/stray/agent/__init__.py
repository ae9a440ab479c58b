"""Imports by the name that the course's program knew it by."""

from agent.program import Agent

__all__ = ["Agent"]
