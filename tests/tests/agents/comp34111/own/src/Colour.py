"""The colours."""

from enum import Enum

Colour = Enum("Colour", "RED BLUE")
