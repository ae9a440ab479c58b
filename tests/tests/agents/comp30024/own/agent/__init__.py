"""Plays by classes of its own folder's `referee`, which only has what it needs."""

from .program import Agent

__all__ = ["Agent"]
