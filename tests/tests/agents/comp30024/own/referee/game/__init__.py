"""The least that an agent can play with, under the course's names."""

from collections import namedtuple
from enum import Enum

WHOSE = "its own"
Coord = namedtuple("Coord", "r c")
MoveAction = namedtuple("MoveAction", "coord directions")
GrowAction = namedtuple("GrowAction", "")
Action = (MoveAction, GrowAction)
PlayerColor = Enum("PlayerColor", "RED BLUE")
Direction = Enum("Direction", "Up UpLeft UpRight Left Right Down DownLeft DownRight")
