"""The moves."""

from collections import namedtuple

Move = namedtuple("Move", "x y")
