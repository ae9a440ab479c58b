"""Hex: alpha-beta over the few cells that matter, with each side's shortest ways as the measure.

A side's distance is the number of stones that it still needs to join its borders. Two cells with
two empty common neighbours (a bridge) count as neighbours, because the other side can't take both.
Who needs fewer stones is ahead; among equals, who has more cells on its shortest ways, which are
then harder to block. All this is found by letting a set of cells grow over the board, stone by
stone, as shifts of one long integer.

Good cells lie on the ways of both sides: a stone there shortens the one and blocks the other. So in
every position only the best few of such cells are looked at, which leaves time to look deeper.
"""
import random

from bit_sets import bits, count
from search import WON, Search

# What a stone fewer to go is worth, and what a cell is worth on a shortest way and on a way that is
# one stone longer.
STONE, SHORTEST, LONGER = 100, 2, 0.6
# Cells that are looked at in a position, at the first move and below.
CELLS_FIRST, CELLS_BELOW = 16, 6
# What a cell costs that is still to be filled in when nothing but bridges is missing.
FILLED_IN = 5
NO_BRIDGES = (0,) * 6
# The advantage of the side to move over the measure.
TEMPO = 60


class Board:
    """The board with a frame around it, as bits. Red joins the rows, from top to bottom, and black
    the columns, from left to right."""

    def __init__(self, size):
        self.size = size
        # Two columns of frame and one between, so that the end of a row isn't beside the next one.
        self.width = size + 3
        lines = range(size)
        self.cells = sum(1 << self.cell(row, column) for row in lines for column in lines)
        top = sum(1 << self.cell(-1, column) for column in lines)
        left = sum(1 << self.cell(row, -1) for row in lines)
        self.borders = {"red": (top, top << self.width * (size + 1)),
                        "black": (left, left << size + 1)}

    def cell(self, row, column):
        return (row + 1) * self.width + column + 1

    def at(self, cell):
        return [part - 1 for part in divmod(cell, self.width)]

    def bridge_ends(self, empty):
        """For each of the six directions of bridges: the cells with the two before them empty."""
        width = self.width
        right, left = empty << 1, empty >> 1
        down, up = empty << width, empty >> width
        down_left, up_right = empty << width - 1, empty >> width - 1
        return (down & right, up & left, down & down_left, up & up_right,
                up_right & right, down_left & left)

    def ways(self, own, empty, near, far, bridge_ends):
        """The cells that a side can come to from its border `near` with 1, 2, .. more stones and no
        fewer, until the border `far` is reached; none if it can't be."""
        width = self.width
        beside, bridge, steep, flat = width - 1, width + 1, 2 * width - 1, width - 2
        ends, ends_up, ends_steep, ends_steep_up, ends_flat, ends_flat_down = bridge_ends
        levels = []
        reached = 0
        joined = 0
        front = near
        while True:
            around = 0
            while front:
                around |= (front << 1 | front >> 1 | front << width | front >> width
                           | front << beside | front >> beside
                           | front << bridge & ends | front >> bridge & ends_up
                           | front << steep & ends_steep | front >> steep & ends_steep_up
                           | front >> flat & ends_flat | front << flat & ends_flat_down)
                # Own stones cost nothing: what they touch belongs to the same level.
                front = around & own & ~joined
                joined |= front
            if around & far:
                return levels
            front = around & empty & ~reached
            if not front:
                return None
            reached |= front
            levels.append(front)


class Player:
    """The stones, and how to choose a cell. A state is the seat to move, the red stones and the
    black ones."""

    def __init__(self, hello):
        setup = hello["setup"]
        self.seat = hello["seat"]
        self.size = setup["size"]
        self.swap = setup.get("swap", "none")
        self.random = random.Random(hello["seed"])
        self.board = Board(self.size)
        first = setup.get("first", "black")
        self.colours = [first, "red" if first == "black" else "black"]
        self.stones = {"red": 0, "black": 0}
        self.turn = 0
        position = setup.get("position")
        if position:
            self.turn = position["turn"]
            self.colours = list(position["colours"])
            for colour, cells in zip(("black", "red"), position["stones"]):
                self.stones[colour] = sum(1 << self.board.cell(*cell) for cell in cells)

    def played(self, seat, action):
        if action["type"] == "place":
            self.stones[self.colours[seat]] |= 1 << self.board.cell(*action["at"])
        elif self.swap == "sides":
            self.colours.reverse()
        else:
            (cell,) = bits(self.stones["red"] | self.stones["black"])
            self.stones = {"red": 0, "black": 0}
            self.stones[self.colours[seat]] = 1 << self.mirrored(cell)
        self.turn += 1

    def retired(self, _seat):
        """With two seats the game is then over."""

    def mirrored(self, cell):
        return self.board.cell(*reversed(self.board.at(cell)))

    def may_swap(self):
        return self.turn == 1 and self.swap != "none"

    def actions(self):
        empty = self.board.cells & ~(self.stones["red"] | self.stones["black"])
        listed = [{"type": "place", "at": self.board.at(cell)} for cell in bits(empty)]
        return listed + [{"type": "swap"}] * self.may_swap()

    def choose(self, clock):
        if self.turn == 0:
            return {"type": "place", "at": self.opening()}, None
        if self.may_swap():
            (cell,) = bits(self.stones["red"] | self.stones["black"])
            if self.is_strong(*self.board.at(cell)):
                return {"type": "swap"}, None
        state = (self.seat, self.stones["red"], self.stones["black"])
        first = self.children_of(state, 0, CELLS_FIRST)
        self.random.shuffle(first)
        search = Search(self.children, self.seat, clock, clock.for_a_turn())
        worth, cell, _ = search.best(first)
        info = {"depth": search.depth, "score": round(worth), "nodes": search.looked}
        return {"type": "place", "at": self.board.at(cell)}, info

    def opening(self):
        """The first stone: the middle of the board; but where that would be taken over, the third
        cell of the other side's border from its acute corner, about the fairest there is."""
        if self.swap == "none":
            return [self.size // 2, (self.size - 1) // 2]
        return [2, 0] if self.colours[self.seat] == "red" else [0, 2]

    def is_strong(self, row, column):
        """Whether a first stone is worth taking over. On all but the smallest boards that is known
        to be so for the cells off the two lines at the rim, and the search is too shallow to
        find it; on small boards it holds for the short diagonal."""
        last = self.size - 1
        off_rim = min(row, column, last - row, last - column)
        return off_rim >= 2 or self.size <= 6 and row + column == last

    def children(self, state, ply):
        return self.children_of(state, ply, CELLS_BELOW)

    def children_of(self, state, ply, most):
        _, red, black = state
        return [self.child(state, cell, ply) for cell in self.candidates(red, black)[:most]]

    def child(self, state, cell, ply):
        seat, red, black = state
        if self.colours[seat] == "red":
            after = (1 - seat, red | 1 << cell, black)
        else:
            after = (1 - seat, red, black | 1 << cell)
        worth = self.worth(after)
        if abs(worth) == WON:
            return (worth - ply if worth > 0 else worth + ply, cell, None)
        return (worth, cell, after)

    def sides(self, red, black):
        """For both sides: the cells with 1, 2, .. stones to go from each of the side's borders."""
        board = self.board
        empty = board.cells & ~(red | black)
        ends = board.bridge_ends(empty)
        for colour, own in (("red", red), ("black", black)):
            near, far = board.borders[colour]
            ahead = board.ways(own, empty, near, far, ends)
            if ahead == []:
                # Only bridges are missing. They are filled in at last, so as to end the game.
                ahead = board.ways(own, empty, near, far, NO_BRIDGES)
                yield FILLED_IN * len(ahead), ahead, board.ways(own, empty, far, near, NO_BRIDGES)
            elif ahead is None:
                yield None, [], []
            else:
                yield STONE * len(ahead), ahead, board.ways(own, empty, far, near, ends)

    def worth(self, state):
        """What the position is worth to us."""
        seat, red, black = state
        worths = []
        for to_go, ahead, back in self.sides(red, black):
            if to_go is None:
                # Cut off: so the other side is joined.
                own = "red" if not worths else "black"
                return -WON if own == self.colours[self.seat] else WON
            shortest, longer = on_ways(ahead, back)
            worths.append(SHORTEST * count(shortest) + LONGER * count(longer) - to_go)
        own, other = worths if self.colours[self.seat] == "red" else reversed(worths)
        return own - other + (TEMPO if seat == self.seat else -TEMPO)

    def candidates(self, red, black):
        """The empty cells, those first that lie on the ways of both sides."""
        ways = [on_ways(ahead, back) for _, ahead, back in self.sides(red, black)]
        (red_short, red_long), (black_short, black_long) = ways
        groups = (red_short & black_short, red_short & black_long | red_long & black_short,
                  red_short | black_short, red_long & black_long, red_long | black_long,
                  self.board.cells)
        cells, seen = [], red | black
        for group in groups:
            found = list(bits(group & ~seen))
            found.sort(key=self.off_middle)
            cells += found
            seen |= group
        return cells

    def off_middle(self, cell):
        row, column = self.board.at(cell)
        return abs(2 * row - self.size + 1) + abs(2 * column - self.size + 1)


def on_ways(ahead, back):
    """The cells on a side's shortest ways, and those on ways that are one stone longer."""
    shortest = longer = 0
    for level, other in zip(ahead, reversed(back)):
        shortest |= level & other
    for level, other in zip(ahead[1:], reversed(back)):
        longer |= level & other
    return shortest, longer & ~shortest
