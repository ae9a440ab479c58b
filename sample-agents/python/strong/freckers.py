"""Freckers: alpha-beta over frogs and pads held as 64 bits each.

A position is worth how far our frogs have come against the other's, and how many pads they find
before them; what a sequence of jumps or a growth of pads is good for, the search sees by playing
it. Bits make that quick: all frogs that could step to a pad are found with a few shifts, and the
jumps of one frog with a small table for each cell.
"""
import random

from bit_sets import bits, count
from search import WON, Search

LEFT_COLUMN = sum(1 << 8 * row for row in range(8))
BOARD = (1 << 64) - 1
NOT_LEFT = BOARD ^ LEFT_COLUMN
NOT_RIGHT = BOARD ^ LEFT_COLUMN << 7
# By seat: where its frogs want to be, and the directions in which they go.
GOALS = (0xFF << 56, 0xFF)
WAYS = (((0, 1), (0, -1), (1, 0), (1, -1), (1, 1)), ((0, 1), (0, -1), (-1, 0), (-1, -1), (-1, 1)))
# What a row to go costs, its square (so that none is left behind), what a frog that has arrived
# is worth, a pad before a frog, and being to move.
ROW, STRAGGLING, ARRIVED, PAD, TEMPO = 20, 3, 20, 4, 15
WIDTH = 24


def worth_of_row(rows_to_go):
    return -ROW * rows_to_go - STRAGGLING * rows_to_go ** 2 + (ARRIVED if rows_to_go == 0 else 0)


# By seat and cell: what a frog there is worth.
WORTHS = tuple([worth_of_row(7 - cell // 8 if seat == 0 else cell // 8) for cell in range(64)]
               for seat in (0, 1))


def cell_of(row, column):
    """The cell's number, or none if it is off the board."""
    return 8 * row + column if 0 <= row < 8 and 0 <= column < 8 else None


def tables(ways):
    """By cell: the cells one step away, and for every jump the bit jumped over, the bit landed on
    and its cell."""
    steps, jumps = [], []
    for row, column in ((cell // 8, cell % 8) for cell in range(64)):
        near = [cell_of(row + down, column + right) for down, right in ways]
        far = [cell_of(row + 2 * down, column + 2 * right) for down, right in ways]
        steps.append(sum(1 << cell for cell in near if cell is not None))
        jumps.append([(1 << over, 1 << to, to) for over, to in zip(near, far) if to is not None])
    return steps, jumps


STEPS, JUMPS = zip(*(tables(ways) for ways in WAYS))


def around(frogs):
    """The frogs' cells and all cells around them."""
    line = frogs | (frogs & NOT_RIGHT) << 1 | (frogs & NOT_LEFT) >> 1
    return (line | line << 8 | line >> 8) & BOARD


def before(frogs, seat):
    """The cells that frogs of a seat step forward to."""
    line = frogs | (frogs & NOT_RIGHT) << 1 | (frogs & NOT_LEFT) >> 1
    return line << 8 & BOARD if seat == 0 else line >> 8


def bits_of(cells):
    return sum(1 << cell_of(row, column) for row, column in cells)


class Player:
    """The pond, and how to choose on it. A state is the seat to move, the frogs by seat, the free
    pads, and what the frogs of both seats are worth, to red."""

    def __init__(self, hello):
        setup = hello["setup"]
        self.seat = hello["seat"]
        self.random = random.Random(hello["seed"])
        self.every = setup["landing"] == "every"
        self.limit = setup["turn_limit"]
        self.turn = 0
        self.to_move = 0
        self.frogs = (0x7E, 0x7E << 56)
        self.pads = 0x81 | 0x7E << 8 | 0x7E << 48 | 0x81 << 56
        position = setup.get("position")
        if position:
            self.turn, self.to_move = position["turn"], position["to_move"]
            self.frogs = tuple(bits_of(cells) for cells in position["frogs"])
            self.pads = bits_of(position["pads"])
        self.been = {(self.frogs, self.pads)}

    def played(self, seat, action):
        if action["type"] == "grow":
            self.pads |= around(self.frogs[seat]) & ~(self.frogs[0] | self.frogs[1])
        else:
            moved = bits_of([action["from"], action["to"]])
            self.pads &= ~moved
            frogs = list(self.frogs)
            frogs[seat] ^= moved
            self.frogs = tuple(frogs)
        self.been.add((self.frogs, self.pads))
        self.to_move = 1 - seat
        self.turn += 1

    def retired(self, _seat):
        """With two seats the game is then over."""

    def actions(self):
        seat, frogs = self.to_move, self.frogs[0] | self.frogs[1]
        listed = [{"type": "move", "from": list(divmod(start, 8)), "to": list(divmod(end, 8))}
                  for start in bits(self.frogs[seat])
                  for end in bits(self.ends(start, frogs, self.pads, seat))]
        return listed + [{"type": "grow"}]

    def ends(self, start, frogs, pads, seat):
        """Where a frog can come to in one turn."""
        jumps = JUMPS[seat]
        reached = 0
        stack = [start]
        blocked = frogs if not self.every else BOARD ^ pads
        while stack:
            for over, bit, landing in jumps[stack.pop()]:
                if over & frogs and not bit & (blocked | reached):
                    reached |= bit
                    stack.append(landing)
        return (STEPS[seat][start] | reached) & pads

    def choose(self, clock):
        red, blue = self.frogs
        worth = (sum(WORTHS[0][cell] for cell in bits(red))
                 - sum(WORTHS[1][cell] for cell in bits(blue)))
        state = (self.to_move, red, blue, self.pads, worth)
        first = self.children(state, 0)
        self.random.shuffle(first)
        fresh = [child for child in first if not child[2] or not self.has_been(child[2])]
        search = Search(self.children, self.seat, clock, clock.for_a_turn(), WIDTH)
        worth, action, _ = search.best(fresh or first)
        info = {"depth": search.depth, "score": worth, "nodes": search.looked}
        if action == "grow":
            return {"type": "grow"}, info
        start, end = action
        return {"type": "move", "from": list(divmod(start, 8)), "to": list(divmod(end, 8))}, info

    def has_been(self, state):
        _, red, blue, pads, _ = state
        return ((red, blue), pads) in self.been

    def children(self, state, ply):
        seat, red, blue, pads, worth = state
        own = blue if seat else red
        frogs = red | blue
        worths = WORTHS[seat]
        factor = -1 if seat else 1
        ours = 1 if self.seat == 0 else -1
        # Pads before our frogs, for the child's worth, are counted with the other's as they are.
        other_pads = PAD * count(before(red if seat else blue, 1 - seat) & pads)
        last = self.turn + ply + 1 >= self.limit
        goal = GOALS[seat]
        found = []
        for start in bits(own):
            left = own ^ (1 << start)
            for end in bits(self.ends(start, frogs, pads, seat)):
                bit = 1 << end
                moved = left | bit
                after = worth + factor * (worths[end] - worths[start])
                new_pads = pads ^ bit
                child = ((1, moved, blue, new_pads, after) if seat == 0
                         else (0, red, moved, new_pads, after))
                if moved & goal == moved:
                    found.append(((WON - ply) * factor * ours, (start, end), None))
                elif last:
                    found.append((self.at_the_limit(child, ply), (start, end), None))
                else:
                    pads_worth = PAD * count(before(moved, seat) & new_pads) - other_pads - TEMPO
                    found.append((ours * (after + factor * pads_worth), (start, end), child))
        grown = pads | around(own) & ~frogs
        child = (1 - seat, red, blue, grown, worth)
        if last:
            found.append((self.at_the_limit(child, ply), "grow", None))
        else:
            theirs = PAD * count(before(red if seat else blue, 1 - seat) & grown)
            pads_worth = PAD * count(before(own, seat) & grown) - theirs - TEMPO
            found.append((ours * (worth + factor * pads_worth), "grow", child))
        return found

    def at_the_limit(self, state, ply):
        """What the end by the turn limit is worth to us: who has more frogs across wins."""
        _, red, blue, _, _ = state
        lead = count(red & GOALS[0]) - count(blue & GOALS[1])
        lead = lead if self.seat == 0 else -lead
        return 0 if lead == 0 else (WON - ply if lead > 0 else ply - WON)
