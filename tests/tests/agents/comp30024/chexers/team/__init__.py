"""A submission of 2019: a package named for its team, with a class of another name."""

from team.player import Forward as Player

__all__ = ["Player"]
