"""Imports a broken module."""

from .program import Agent
