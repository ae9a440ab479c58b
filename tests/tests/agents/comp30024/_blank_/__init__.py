"""A package with a name like those of Python's own."""

from .program import Agent

__all__ = ["Agent"]
