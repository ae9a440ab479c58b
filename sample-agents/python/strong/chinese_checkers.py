"""Chinese Checkers: alpha-beta over sets of marbles held as bits of integers.

Two seats race past each other, so a position is worth what we have come forward less what the other
has. Every position of the board has a worth for each seat, and a move changes the sum by the
difference of two: no position is counted from the start. Once the marbles have passed each other only
one's own moves matter, and the same search looks at those alone, which takes it twice as far ahead.
With three seats and more it does so from the start: no one knows what all the others will do.
"""
import random

from bit_sets import bits, count
from search import WON, Search

# What a step towards the target's tip is worth, the square of the steps (so that no marble is left
# behind), and a step away from the middle line, where most jumps are.
STEP, STRAGGLING, ASIDE = 20, 1, 3
# What a foreign marble in our target costs that finds no way out: until it leaves we can't be home.
SHUT_IN = 150
# How many moves are followed below the first one, by the number of seats that are looked at.
WIDTH_BOTH, WIDTH_ALONE = 40, 24
START_POINTS = {2: (0, 3), 3: (0, 2, 4), 4: (1, 2, 4, 5), 6: (0, 1, 2, 3, 4, 5)}
DIRECTIONS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


class Star:
    """The board as tables. A position is an index, its number on the board less one; a set of
    positions is an integer with their bits."""

    def __init__(self, size, long_jumps):
        self.cells = star_cells(size)
        index = {cell: number for number, cell in enumerate(self.cells)}
        self.steps = []
        self.jumps = []
        for q, r in self.cells:
            rays = []
            for dq, dr in DIRECTIONS:
                ray = [index.get((q + n * dq, r + n * dr)) for n in range(1, 4 * size + 1)]
                rays.append([cell for cell in ray if cell is not None])
            self.steps.append(sum(1 << ray[0] for ray in rays if ray))
            self.jumps.append([jump_table(ray, long_jumps) for ray in rays if len(ray) > 1])
        self.points = [self.point(number, size) for number in range(6)]

    def point(self, number, size):
        outwards = [outward(cell)[number] for cell in self.cells]
        return sum(1 << cell for cell, out in enumerate(outwards) if out > size)

    def worths(self, target):
        """By position: what a marble there is worth to whom this point is the target."""
        outwards = [outward(cell)[target] for cell in self.cells]
        tip = self.cells[outwards.index(max(outwards))]
        worths = []
        for q, r in self.cells:
            dq, dr = q - tip[0], r - tip[1]
            steps = max(abs(dq), abs(dr), abs(dq + dr))
            # On the middle line two of the three differences are the same.
            aside = sorted((abs(dq), abs(dr), abs(dq + dr)))
            aside = aside[1] - aside[0]
            worths.append(-STEP * steps - STRAGGLING * steps * steps - ASIDE * aside)
        return worths


def star_cells(size):
    """The cells (q, r) of a star, row by row from the top."""
    reach = range(-2 * size, 2 * size + 1)
    def inside(q, r):
        s = q + r
        return (q <= size and r <= size and s >= -size) or (q >= -size and r >= -size and s <= size)
    return [(q, r) for r in reach for q in reach if inside(q, r)]


def outward(cell):
    """How far outwards a cell lies in the direction of each of the six points."""
    q, r = cell
    return (-r, q, q + r, r, -q, -q - r)


def jump_table(ray, long_jumps):
    """For jumps along a ray: the positions over which one can jump, whether they ascend, and for
    the bit of each what must be empty beyond it, where the jump lands, and that as a bit."""
    reach = len(ray) // 2 if long_jumps else 1
    table = {}
    for distance in range(1, reach + 1):
        beyond = sum(1 << cell for cell in ray[distance:2 * distance])
        landing = ray[2 * distance - 1]
        table[1 << ray[distance - 1]] = (beyond, landing, 1 << landing)
    return sum(table), ray[1] > ray[0], table


class Player:
    """The board, and how to choose on it."""

    def __init__(self, hello):
        setup = hello["setup"]
        self.seat = hello["seat"]
        self.seats = setup.get("seats", 2)
        self.random = random.Random(hello["seed"])
        self.filled = setup["win"] == "filled"
        self.star = Star(setup["size"], setup["jumps"] == "long")
        points = self.star.points
        starts = START_POINTS[self.seats]
        self.targets = [points[(start + 3) % 6] for start in starts]
        self.worths = [self.star.worths((start + 3) % 6) for start in starts]
        zones = [sum(points) - points[start] - points[(start + 3) % 6] for start in starts]
        nothing = [0] * self.seats
        self.no_end = nothing if setup["neutral"] == "free" else zones
        self.no_landing = zones if setup["neutral"] == "closed" else nothing
        position = setup.get("position")
        self.out = set()
        self.to_move = 0
        self.marbles = tuple(points[start] for start in starts)
        if position:
            self.to_move = position["to_move"]
            self.out.update(position.get("retired") or ())
            lists = position["marbles"]
            self.marbles = tuple(sum(1 << number - 1 for number in own) for own in lists)
        self.been = {self.marbles}
        # What the search assumes in this phase of the game.
        self.alone = False
        self.nearly_home = False

    def played(self, seat, action):
        if action["type"] == "move":
            start, end = action["path"][0] - 1, action["path"][-1] - 1
            own = self.marbles[seat] ^ (1 << start) ^ (1 << end)
            self.marbles = self.marbles[:seat] + (own,) + self.marbles[seat + 1:]
            self.been.add(self.marbles)
        self.to_move = self.next_seat(seat)

    def retired(self, seat):
        self.out.add(seat)
        if self.to_move == seat:
            self.to_move = self.next_seat(seat)

    def next_seat(self, seat):
        following = [(seat + ahead) % self.seats for ahead in range(1, self.seats + 1)]
        return next((other for other in following if other not in self.out), seat)

    def actions(self):
        occupied = 0
        for own in self.marbles:
            occupied |= own
        listed = [{"type": "move", "path": [start + 1, end + 1]}
                  for start in bits(self.marbles[self.to_move])
                  for end in bits(self.ends(start, occupied, self.to_move))]
        return listed or [{"type": "pass"}]

    def ends(self, start, occupied, seat):
        """Where a seat's marble can come to in one turn."""
        others = occupied & ~(1 << start)
        ends = self.star.steps[start] & ~others
        no_landing = self.no_landing[seat]
        jumps = self.star.jumps
        reached = 1 << start
        stack = [start]
        while stack:
            for over, ascending, table in jumps[stack.pop()]:
                met = over & others
                if met:
                    first = met & -met if ascending else 1 << met.bit_length() - 1
                    beyond, landing, bit = table[first]
                    if not beyond & others and not bit & (reached | no_landing):
                        reached |= bit
                        stack.append(landing)
        return (ends | reached) & ~(1 << start) & ~self.no_end[seat]

    def choose(self, clock):
        state = self.state()
        first = self.children(state, 0)
        if first[0][1] is None:
            return {"type": "pass"}, None
        self.random.shuffle(first)
        # Two agents that wait for each other would walk in circles up to the turn limit.
        fresh = [child for child in first if child[2] is None or child[2][1] not in self.been]
        self.alone = self.seats > 2 or self.have_passed()
        settled = self.marbles[self.seat] & self.targets[self.seat]
        self.nearly_home = 2 * count(settled) >= count(self.marbles[self.seat])
        width = WIDTH_ALONE if self.alone else WIDTH_BOTH
        search = Search(self.children, self.seat, clock, clock.for_a_turn(), width)
        worth, (start, end), _ = search.best(fresh or first)
        info = {"depth": search.depth, "score": worth, "nodes": search.looked}
        return {"type": "move", "path": [start + 1, end + 1]}, info

    def have_passed(self):
        """Whether no marble of ours has one of the other's before it: with two seats."""
        rows = [[outward(self.star.cells[marble])[3] for marble in bits(own)]
                for own in self.marbles]
        return min(rows[0]) > max(rows[1])

    def state(self):
        """The seat to move, the marbles and what they are worth, by seat."""
        sums = tuple(sum(worths[marble] for marble in bits(own))
                     for worths, own in zip(self.worths, self.marbles))
        return (self.to_move, self.marbles, sums)

    def children(self, state, ply):
        seat, marbles, sums = state
        own, worths, others = marbles[seat], self.worths[seat], 0
        for other in marbles:
            others |= other
        following = seat if self.alone else self.next_seat(seat)
        rest = max([value for other, value in enumerate(sums)
                    if other != self.seat and other not in self.out], default=0)
        base = sums[self.seat] - rest
        factor = 1 if seat == self.seat else -1
        found = []
        for start in bits(own):
            ends = self.ends(start, others, seat)
            left = own ^ (1 << start)
            for end in bits(ends):
                gain = worths[end] - worths[start]
                moved = left | 1 << end
                after = marbles[:seat] + (moved,) + marbles[seat + 1:]
                if moved & self.targets[seat] and self.is_home(seat, after):
                    found.append((factor * (WON - ply), (start, end), None))
                    continue
                total = sums[:seat] + (sums[seat] + gain,) + sums[seat + 1:]
                worth = base + factor * gain
                if self.nearly_home:
                    worth -= SHUT_IN * self.shut_in(after)
                found.append((worth, (start, end), (following, after, total)))
        if not found:
            found.append((base, None, (following, marbles, sums)))
        return found

    def shut_in(self, marbles):
        """How many foreign marbles in our target can't come forward."""
        occupied = 0
        for own in marbles:
            occupied |= own
        stuck = 0
        for seat, own in enumerate(marbles):
            if seat == self.seat or seat in self.out or not own & self.targets[self.seat]:
                continue
            worths = self.worths[seat]
            for marble in bits(own & self.targets[self.seat]):
                ends = bits(self.ends(marble, occupied, seat))
                stuck += not any(worths[end] > worths[marble] for end in ends)
        return stuck

    def is_home(self, seat, marbles):
        own, target = marbles[seat], self.targets[seat]
        if self.filled:
            occupied = 0
            for other in marbles:
                occupied |= other
            return not target & ~occupied
        if not own & ~target:
            return True
        return bool(self.out) and not target & ~(own | sum(marbles[other] for other in self.out))
