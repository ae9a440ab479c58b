"""A package in the package."""

from .moves import forward_moves

__all__ = ["forward_moves"]
