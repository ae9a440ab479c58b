"""In which order it fills the board."""

from src.Colour import Colour


def cells(size, colour):
    """Line by line, each from one of the colour's sides to the other."""
    lines = [(line, at) for line in range(size) for at in range(size)]
    return [(at, line) if colour == Colour.RED else (line, at) for line, at in lines]
