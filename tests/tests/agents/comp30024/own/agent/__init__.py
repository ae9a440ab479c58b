"""Uses classes of the `referee` in its own folder, which has only what it needs."""

from .program import Agent

__all__ = ["Agent"]
