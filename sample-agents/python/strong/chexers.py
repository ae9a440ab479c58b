"""Chexers: alpha-beta for three seats, over pieces held as bits.

A seat needs four exits: it is worth how few steps its foremost pieces lack, and a piece that is
missing for the fourth exit costs more steps than a walk across the board. So the search fights for
pieces as long as some are missing and runs as soon as it has enough. Both others are taken to play
against us (the search is called paranoid then): pessimistic, but it never leaves a piece where it
can be jumped over without noticing.
"""
import random

from bit_sets import bits
from search import WON, Search

DIRECTIONS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
CELLS = [(q, r) for q in range(-3, 4) for r in range(-3, 4) if abs(q + r) <= 3]
INDEX = {cell: number for number, cell in enumerate(CELLS)}
# In steps: what a missing piece costs, and what a piece more than needed is worth.
MISSING, SPARE = 14, 3
WIDTH = 16
SEATS = 3


def steps_to_go(seat, cell):
    """The steps that a piece of a seat lacks from here until it is off the board."""
    q, r = cell
    return 4 - (q, r, -q - r)[seat]


# By seat: the steps to go by cell, the cells at the start, the cells to exit from.
STEPS = tuple([steps_to_go(seat, cell) for cell in CELLS] for seat in range(SEATS))
STARTS = tuple(sum(1 << cell for cell, steps in enumerate(STEPS[seat]) if steps == 7)
               for seat in range(SEATS))
EXITS = tuple(sum(1 << cell for cell, steps in enumerate(STEPS[seat]) if steps == 1)
              for seat in range(SEATS))


def ways():
    """By cell: the bits and numbers of its neighbours and of what lies behind them (0 and none off
    the board)."""
    found = []
    for q, r in CELLS:
        around = []
        for dq, dr in DIRECTIONS:
            near, far = INDEX.get((q + dq, r + dr)), INDEX.get((q + 2 * dq, r + 2 * dr))
            if near is not None:
                around.append((1 << near, near, 0 if far is None else 1 << far, far))
        found.append(around)
    return found


WAYS = ways()


class Player:
    """The board, and how to choose on it. A state is the seat to move, the pieces by seat, the
    exits by seat."""

    def __init__(self, hello):
        setup = hello["setup"]
        self.seat = hello["seat"]
        self.random = random.Random(hello["seed"])
        self.needed = setup["exits"]
        self.limit = SEATS * setup["turns_per_seat"]
        self.out = set()
        self.turn = 0
        self.pieces, self.exits = STARTS, (0, 0, 0)
        position = setup.get("position")
        if position:
            self.turn = position["turn"]
            self.pieces = tuple(sum(1 << INDEX[tuple(cell)] for cell in own)
                                for own in position["pieces"])
            self.exits = tuple(position["exits"])
            self.out.update(position.get("retired") or ())
        # How often each position has been since the last exit.
        self.been = {}
        self.remember()

    def remember(self):
        place = (self.turn % SEATS, self.pieces)
        self.been[place] = self.been.get(place, 0) + 1

    def next_turn(self):
        self.turn += 1
        while self.turn % SEATS in self.out and self.turn < self.limit:
            self.turn += 1

    def played(self, seat, action):
        kind = action["type"]
        if kind == "exit":
            self.exits = tuple(made + (other == seat) for other, made in enumerate(self.exits))
            gone = 1 << INDEX[tuple(action["from"])]
            self.pieces = tuple(own & ~gone for own in self.pieces)
            self.been = {}
        elif kind != "pass":
            start, end = tuple(action["from"]), tuple(action["to"])
            over = ((start[0] + end[0]) // 2, (start[1] + end[1]) // 2) if kind == "jump" else start
            self.pieces = go(self.pieces, seat, 1 << INDEX[start], 1 << INDEX[over],
                             1 << INDEX[end])
        self.next_turn()
        self.remember()

    def retired(self, seat):
        self.out.add(seat)
        if self.turn % SEATS == seat:
            self.next_turn()
            self.remember()

    def actions(self):
        seat = self.turn % SEATS
        own = self.pieces[seat]
        empty = ~(self.pieces[0] | self.pieces[1] | self.pieces[2])
        exits = [{"type": "exit", "from": list(CELLS[start])} for start in bits(own & EXITS[seat])]
        moves, jumps = [], []
        for start in bits(own):
            for near_bit, near, far_bit, far in WAYS[start]:
                if near_bit & empty:
                    moves.append(action_of(("move", start, near)))
                elif far_bit & empty:
                    jumps.append(action_of(("jump", start, far)))
        return exits + moves + jumps or [{"type": "pass"}]

    def choose(self, clock):
        state = (self.turn % SEATS, self.pieces, self.exits)
        first = self.children(state, 0)
        self.random.shuffle(first)
        fresh = [child for child in first if not child[2] or child[2][:2] not in self.been]
        search = Search(self.children, self.seat, clock, clock.for_a_turn(), WIDTH)
        worth, action, _ = search.best(fresh or first)
        info = {"depth": search.depth, "score": worth, "nodes": search.looked}
        return action_of(action), info

    def following(self, seat):
        """The seat that moves next."""
        after = (seat + 1) % SEATS
        while after in self.out and after != seat:
            after = (after + 1) % SEATS
        return after

    def children(self, state, ply):
        seat, pieces, exits = state
        own = pieces[seat]
        empty = ~(pieces[0] | pieces[1] | pieces[2])
        after = self.following(seat)
        lacking = [self.lacking(other, pieces[other], exits[other]) for other in range(SEATS)]
        found = []
        for start in bits(own):
            bit = 1 << start
            for near_bit, near, far_bit, far in WAYS[start]:
                if near_bit & empty:
                    moved = go(pieces, seat, bit, bit, near_bit)
                    action = ("move", start, near)
                elif far_bit & empty:
                    moved = go(pieces, seat, bit, near_bit, far_bit)
                    action = ("jump", start, far)
                else:
                    continue
                worth = self.worth(pieces, moved, exits, lacking)
                found.append((worth, action, (after, moved, exits)))
            if bit & EXITS[seat]:
                made = exits[:seat] + (exits[seat] + 1,) + exits[seat + 1:]
                if made[seat] >= self.needed:
                    worth = WON - ply if seat == self.seat else ply - WON
                    found.append((worth, ("exit", start), None))
                    continue
                left = pieces[:seat] + (own ^ bit,) + pieces[seat + 1:]
                worth = self.worth(pieces, left, made, lacking, seat)
                found.append((worth, ("exit", start), (after, left, made)))
        if not found:
            worth = self.worth(pieces, pieces, exits, lacking)
            found.append((worth, ("pass",), (after, pieces, exits)))
        if self.turn + ply + 1 >= self.limit:
            return [(worth if child is None else 0, action, None)
                    for worth, action, child in found]
        return found

    def worth(self, pieces, after, exits, lacking, exited=None):
        """What the position is worth to us: the steps that the others lack less those that we do.
        Only seats whose pieces changed are counted again."""
        new = [known if after[seat] == pieces[seat] and seat != exited
               else self.lacking(seat, after[seat], exits[seat])
               for seat, known in enumerate(lacking)]
        others = [new[seat] for seat in range(SEATS) if seat != self.seat and seat not in self.out]
        if not others:
            return -new[self.seat]
        return (sum(others) + min(others)) / (len(others) + 1) - 2 * new[self.seat]

    def lacking(self, seat, own, made):
        """The steps that a seat's foremost pieces lack until its last exit."""
        needed = self.needed - made
        to_go = STEPS[seat]
        steps = sorted([to_go[cell] for cell in bits(own)])
        spare = len(steps) - needed
        if spare >= 0:
            return sum(steps[:needed]) - SPARE * spare
        return sum(steps) - MISSING * spare


def go(pieces, seat, start, over, end):
    """A piece goes, and what it jumps over becomes the mover's."""
    gone = ~(start | over)
    pieces = [own & gone for own in pieces]
    pieces[seat] |= end | (over & ~start)
    return tuple(pieces)


def action_of(action):
    """An action as the protocol has it."""
    kind, cells = action[0], [list(CELLS[cell]) for cell in action[1:]]
    return dict(zip(("type", "from", "to"), [kind] + cells))
