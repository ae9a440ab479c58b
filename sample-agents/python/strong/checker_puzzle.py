"""The Checker Puzzle: the fewest moves, proved by a search from both ends where that fits.

Moves can be taken back, so the puzzle can be searched from the start and from the goal at once: the
two searches meet half-way, and half the depth means far fewer than half the positions. Both go
breadth first, so that the first meeting is a shortest solution. A position and its mirror image
(rows and columns exchanged) are one, which halves the rest. Where start and goal are each other's
image upside down, so are the two searches, and only one of them has to be made.

Larger boards have too many positions. There each level keeps only those that look best (a beam) and
takes as many as time allows: first a quick try with few, then again with more.
"""
from bit_sets import bits

DIRECTIONS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
# Positions that a search from both ends may keep, so as to stay well within the memory allowed.
KEPT_MAX = 1300000
# Of the time, the share that may go into a search for the proof.
PROOF_SHARE = 0.7
# How many positions each try of the beam keeps of a level.
WIDTHS = (30, 200, 1000, 4000, 16000)
# What a row still to climb costs, its square (pieces that keep together hop over each other), a
# column aside of the goal, and a piece outside of it.
ROW, STRAGGLING, ASIDE, OUTSIDE = 4, 1, 1, 2


class Diamond:
    """The board as tables: a cell is an index, row by row; a set of cells is an integer."""

    def __init__(self, size, depth):
        self.size = size
        lines = range(size)
        self.cells = [(row, column) for row in lines for column in lines]
        self.steps, self.hops = zip(*(self.ways(*cell) for cell in self.cells))
        self.goal = sum(1 << number for number, cell in enumerate(self.cells) if sum(cell) < depth)
        self.depth = depth
        self.to_mirror = self.image_tables([column * size + row for row, column in self.cells])
        self.to_turn = self.image_tables([size * size - 1 - cell for cell in range(size * size)])

    def index(self, row, column):
        on_board = 0 <= row < self.size and 0 <= column < self.size
        return row * self.size + column if on_board else None

    def ways(self, row, column):
        """The neighbours, and for every hop the bit hopped over, the bit landed on, its cell."""
        near, hops = 0, []
        for down, right in DIRECTIONS:
            over = self.index(row + down, column + right)
            to = self.index(row + 2 * down, column + 2 * right)
            if over is not None:
                near |= 1 << over
            if to is not None:
                hops.append((1 << over, 1 << to, to))
        return near, hops

    def image_tables(self, images):
        """Tables by which to find the image of a set: one for every few cells, with the image of
        each set of these."""
        width = 12
        tables = []
        for low in range(0, len(images), width):
            table = [0]
            for image in images[low:low + width]:
                table += [before | 1 << image for before in table]
            tables.append((low, len(table) - 1, table))
        return tables

    def mirrored(self, bit_set):
        """Rows and columns exchanged."""
        image = 0
        for low, mask, table in self.to_mirror:
            image |= table[bit_set >> low & mask]
        return image

    def turned(self, bit_set):
        """Upside down."""
        image = 0
        for low, mask, table in self.to_turn:
            image |= table[bit_set >> low & mask]
        return image

    def canonical(self, bit_set):
        """Of a set and its mirror image the smaller one."""
        image = self.mirrored(bit_set)
        return image if image < bit_set else bit_set

    def ends(self, start, others):
        """Where a piece can come to in one move."""
        hops = self.hops
        reached = 0
        stack = [start]
        while stack:
            for over, bit, to in hops[stack.pop()]:
                if over & others and not bit & (others | reached):
                    reached |= bit
                    stack.append(to)
        return (self.steps[start] & ~others | reached) & ~(1 << start)

    def after(self, pieces):
        """All positions one move away."""
        found = []
        left = pieces
        while left:
            bit = left & -left
            left ^= bit
            others = pieces ^ bit
            ends = self.ends(bit.bit_length() - 1, others)
            while ends:
                end = ends & -ends
                ends ^= end
                found.append(others | end)
        return found


class OutOfTime(Exception):
    """The search has used up its share of time or memory."""


class Player:
    """The board, and the plan that is followed."""

    def __init__(self, hello):
        setup = hello["setup"]
        self.board = Diamond(setup["size"], setup["depth"])
        self.pieces = self.board.turned(self.board.goal)
        position = setup.get("position")
        if position:
            self.pieces = sum(1 << self.board.index(*cell) for cell in position["pieces"])
        # The positions still to come.
        self.plan = []

    def played(self, _seat, action):
        start, end = (1 << self.board.index(*action["path"][place]) for place in (0, -1))
        self.pieces ^= start | end
        if self.plan and self.plan[0] == self.pieces:
            self.plan.pop(0)
        else:
            self.plan = []

    def retired(self, _seat):
        """There are no other seats."""

    def actions(self):
        cells = self.board.cells
        return [{"type": "move", "path": [list(cells[start]), list(cells[end])]}
                for start in bits(self.pieces)
                for end in bits(self.board.ends(start, self.pieces ^ (1 << start)))]

    def choose(self, clock):
        if not self.plan:
            self.plan = Planner(self.board, clock).plan(self.pieces)
        end = self.plan[0] & ~self.pieces
        start = self.pieces & ~self.plan[0]
        path = [list(self.board.cells[bit.bit_length() - 1]) for bit in (start, end)]
        info = {"text": "{} moves are planned".format(len(self.plan))}
        return {"type": "move", "path": path}, info


class Planner:
    """Finds the positions to go through, within the time for a plan."""

    def __init__(self, board, clock):
        self.board = board
        self.clock = clock
        self.seconds = clock.for_a_plan()
        self.costs = [self.cost_of(*cell) for cell in board.cells]

    def plan(self, start):
        """A shortest way, or one that isn't long; at least one move."""
        way, seconds = None, PROOF_SHARE * self.seconds
        try:
            way = self.beam(start, WIDTHS[0], None)
            return self.from_both_ends(start, way, seconds)
        except OutOfTime:
            pass
        try:
            for width in WIDTHS[1:]:
                way = self.beam(start, width, way)
        except OutOfTime:
            pass
        return way or [min(self.board.after(start), key=self.cost)]

    def check(self, seconds):
        if self.clock.used() > seconds:
            raise OutOfTime

    def from_both_ends(self, start, known, seconds):
        """A shortest way, by levels from the start and from the goal. What is no longer than a way
        that is known isn't looked for."""
        board = self.board
        canonical = board.canonical
        ahead, back = [{canonical(start)}], [{canonical(board.goal)}]

        def view(place):
            return place if back is not ahead else canonical(board.turned(place))
        if start == board.turned(board.goal):
            # Seen upside down, the levels from the start are those from the goal.
            back = ahead
        while True:
            grown = min(ahead, back, key=lambda levels: len(levels[-1]))
            # In how many moves it can be done at best, now that it can't in fewer.
            if known and len(ahead) + len(back) - 1 >= len(known):
                return known
            grown.append(self.next_level(grown, seconds))
            for below, level in enumerate(back[-2:], len(back) - len(back[-2:])):
                met = self.met(ahead[-1], view, level, seconds)
                if met is not None:
                    to_goal = [view(place) for place in self.down(view(met), back[:below])]
                    return self.walk(start, self.down(met, ahead[:-1])[::-1] + [met] + to_goal)

    def met(self, level, view, other, seconds):
        """A position of a level that, as it is seen from the goal, is in another one."""
        for number, place in enumerate(level):
            if number % 1024 == 0:
                self.check(seconds)
            if view(place) in other:
                return place
        return None

    def next_level(self, levels, seconds):
        """What is one move from the last level and in no other one."""
        mirrored, after = self.board.mirrored, self.board.after
        found = set()
        add = found.add
        room = KEPT_MAX - sum(len(level) for level in levels)
        for number, pieces in enumerate(levels[-1]):
            if number % 256 == 0:
                self.check(seconds)
                if len(found) > room:
                    raise OutOfTime
            for next_pieces in after(pieces):
                image = mirrored(next_pieces)
                add(image if image < next_pieces else next_pieces)
        # Moves can be taken back, so no older level can be met.
        for level in levels[-2:]:
            found -= level
        if not found:
            raise OutOfTime
        return found

    def down(self, place, levels):
        """The way from a position through the levels to the first one."""
        way = []
        for level in reversed(levels):
            canonical = (self.board.canonical(after) for after in self.board.after(place))
            place = next(after for after in canonical if after in level)
            way.append(place)
        return way

    def walk(self, pieces, way):
        """The positions on a way from `pieces` on, which is its first: of every position itself
        and its mirror image the one that follows the position before."""
        walked = []
        for place in way[1:]:
            images = (place, self.board.mirrored(place))
            pieces = next(after for after in self.board.after(pieces) if after in images)
            walked.append(pieces)
        return walked

    def beam(self, start, width, known):
        """A way that follows the best `width` positions of each level, if it is shorter than the
        one known; else that one."""
        board = self.board
        first, goal = board.canonical(start), board.canonical(board.goal)
        before = {first: None}
        level = [(self.cost(start), first)]
        for _ in range(len(known) - 1 if known else 20 * board.size):
            found = []
            for number, (cost, pieces) in enumerate(level):
                if number % 64 == 0:
                    self.check(self.seconds)
                self.spread(pieces, cost, before, found)
            if goal in before:
                way = [goal]
                while way[-1] != first:
                    way.append(before[way[-1]])
                return self.walk(start, way[::-1])
            found.sort()
            level = found[:width]
            # What was dropped may be found again on another way.
            for _, pieces in found[width:]:
                del before[pieces]
        return known

    def spread(self, pieces, cost, before, found):
        """Adds what is one move away, with its cost, if it wasn't met before."""
        board, costs = self.board, self.costs
        for start in bits(pieces):
            others = pieces ^ (1 << start)
            for end in bits(board.ends(start, others)):
                place = board.canonical(others | 1 << end)
                if place not in before:
                    before[place] = pieces
                    found.append((cost + costs[end] - costs[start], place))

    def cost_of(self, row, column):
        """What a piece costs here: a sum of these has the goal as its one best position."""
        rows = row + column
        cost = ROW * rows + STRAGGLING * rows * rows
        if rows >= self.board.depth:
            cost += OUTSIDE + ASIDE * max(0, abs(row - column) - self.board.depth + 1)
        return cost

    def cost(self, pieces):
        return sum(self.costs[cell] for cell in bits(pieces))
