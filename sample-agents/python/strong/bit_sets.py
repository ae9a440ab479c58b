"""Sets of cells as integers: cell number `n` is in the set if bit `n` is 1.

Python's integers are as long as they need to be, and what takes a loop over a set takes one
operation here: `a | b` unites, `a & ~b` takes away, a shift moves every cell at once.
"""


def bits(bit_set):
    """The cells of a set, ascending."""
    while bit_set:
        lowest = bit_set & -bit_set
        yield lowest.bit_length() - 1
        bit_set ^= lowest


if hasattr(int, "bit_count"):
    # Since Python 3.10.
    count = int.bit_count
else:
    def count(bit_set):
        """How many cells a set has."""
        return bin(bit_set).count("1")
