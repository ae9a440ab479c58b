"""Has its own `Board`, and imports all of the course's modules over it."""

from .program import Agent

__all__ = ["Agent"]
