"""A typical submission: a package of modules that import each other in every way."""

from .program import Agent

__all__ = ["Agent"]
