"""Its class, from the package beside it."""

from Killer_A import Agent
