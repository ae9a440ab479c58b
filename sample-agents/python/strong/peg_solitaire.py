"""Peg Solitaire: a table of how games end, and a search from the start that has to meet it.

Every jump takes one peg, so all positions after n jumps have the same number of pegs. Played
backwards, a jump adds a peg: so from one last peg backwards all positions of a few pegs that can be
solved are soon found, exactly and for good. The search forwards then only has to come to one of
them. It goes level by level and keeps the best of each (a beam), more with each try.

A position that fails the three-colour parity count can't be solved at all, and no jump changes
that; then, and where no solution is met, the way to the fewest pegs that was found is taken. Small
boards are searched whole.
"""
from bit_sets import count

STEPS = {"triangle": ((-1, -1), (-1, 0), (0, -1), (0, 1), (1, 0), (1, 1)),
         "diamond": ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))}
# Positions in the table of ends, and how many positions each try of the beam keeps of a level. The
# last try keeps enough that small boards are searched whole.
ENDS_MAX = 150000
WIDTHS = (10, 100, 1000, 10000, 60000)
# Positions that a try may keep of all levels together, so as to stay within the memory allowed.
KEPT_MAX = 1000000
# What counts against a position: a peg without a neighbour, far from the others; what for it.
ALONE, FAR_OUT, JUMP = 4, 1, 1


class OutOfTime(Exception):
    """The search has used up its time."""


class Board:
    """The board as tables: a cell is an index, a set of cells an integer. `jumps` lists for every
    three cells in a row the bits that a jump exchanges, the pegs that it needs, and its action."""

    def __init__(self, shape, size):
        self.cells = [(row, column) for row in range(size)
                      for column in range(row + 1 if shape == "triangle" else size)]
        index = {cell: number for number, cell in enumerate(self.cells)}
        self.index = index
        self.jumps = []
        self.near = []
        for row, column in self.cells:
            near = 0
            for down, right in STEPS[shape]:
                over, to = ((row + n * down, column + n * right) for n in (1, 2))
                near |= 1 << index[over] if over in index else 0
                if to in index:
                    pegs = 1 << index[row, column] | 1 << index[over]
                    action = {"type": "jump", "from": [row, column], "to": list(to)}
                    self.jumps.append((pegs | 1 << index[to], pegs, action))
            self.near.append(near)
        self.all = (1 << len(self.cells)) - 1
        # Three cells in a row always differ in colour.
        colours = [(row + column if shape == "triangle" else row - column) % 3
                   for row, column in self.cells]
        self.colours = [self.of_colour(colours, colour) for colour in range(3)]

    def of_colour(self, colours, wanted):
        return sum(1 << cell for cell, colour in enumerate(colours) if colour == wanted)

    def bits(self, cells):
        return sum(1 << self.index[tuple(cell)] for cell in cells)

    def parities(self, pegs):
        """Whether the pegs on each colour are odd. A jump changes all three."""
        return [count(pegs & colour) % 2 for colour in self.colours]

    def ends_by_parity(self, pegs):
        """The cells that parity allows for one last peg."""
        odd = self.parities(pegs)
        cells = 0
        for own, colour in enumerate(self.colours):
            before, after = odd[own - 1], odd[own - 2]
            if before == after != odd[own]:
                cells |= colour
        return cells


class Player:
    """The board, and the plan that is followed."""

    def __init__(self, hello):
        setup = hello["setup"]
        self.board = Board(setup["shape"], setup["size"])
        opened = self.board.bits(setup["open"])
        self.pegs = self.board.all & ~opened
        self.goal = opened if setup.get("finish") == "start" else self.board.all
        position = setup.get("position")
        if position:
            self.pegs = self.board.bits(position["pegs"])
        # The positions still to come.
        self.plan = []

    def played(self, _seat, action):
        start, end = self.board.bits([action["from"]]), self.board.bits([action["to"]])
        jumps = (change for change, pegs, _ in self.board.jumps if pegs & start and change & end
                 and not pegs & end and change & self.pegs == pegs)
        self.pegs ^= next(jumps)
        if self.plan and self.plan[0] == self.pegs:
            self.plan.pop(0)
        else:
            self.plan = []

    def retired(self, _seat):
        """There are no other seats."""

    def actions(self):
        return [action for change, pegs, action in self.board.jumps if self.pegs & change == pegs]

    def choose(self, clock):
        if not self.plan:
            self.plan = Planner(self.board, self.goal, clock).plan(self.pegs)
        change = self.plan[0] ^ self.pegs
        action = next(action for bits, pegs, action in self.board.jumps
                      if bits == change and self.pegs & bits == pegs)
        return action, {"text": "{} jumps are planned".format(len(self.plan))}


class Planner:
    """Finds the positions to go through, within the time for a plan."""

    def __init__(self, board, goal, clock):
        self.board = board
        self.clock = clock
        self.goal = goal
        self.seconds = clock.for_a_plan()

    def plan(self, start):
        ends = self.board.ends_by_parity(start) & self.goal
        # The table holds the solved positions only, until a first way is known.
        table = {1 << cell: 0 for cell in range(len(self.board.cells)) if ends >> cell & 1}
        best = [start]
        try:
            for number, width in enumerate(WIDTHS):
                if number == 1 and ends:
                    table = self.table(table, start)
                way, whole = self.beam(start, min(width, KEPT_MAX // count(start)), table)
                solved = way[-1] in table
                if solved or len(way) > len(best):
                    best = way
                if solved or whole or not ends and count(best[-1]) <= 2:
                    break
        except OutOfTime:
            pass
        if len(best) == 1:
            changes = (change for change, pegs, _ in self.board.jumps if start & change == pegs)
            best.append(min((start ^ change for change in changes), key=self.cost))
        return best[1:]

    def check(self):
        if self.clock.used() > self.seconds:
            raise OutOfTime

    def table(self, solved, start):
        """Every position of few pegs that can be solved, and the next one on its way."""
        level, table = solved, dict(solved)
        backwards = [(change, change ^ pegs) for change, pegs, _ in self.board.jumps]
        for _ in range(count(start) - 1):
            found = {}
            for number, pegs in enumerate(level):
                if number % 256 == 0:
                    self.check()
                for change, landed in backwards:
                    if pegs & change == landed:
                        found[pegs ^ change] = pegs
            table.update(found)
            level = found
            if len(found) * 4 > ENDS_MAX:
                break
        return table

    def beam(self, start, width, table):
        """The way to the fewest pegs by the best `width` positions of each level, and whether none
        was dropped."""
        before = {start: 0}
        level = [start]
        whole = True
        while True:
            for pegs in level:
                if pegs in table:
                    return self.way(pegs, before) + self.to_end(pegs, table), True
            found = self.after(level)
            if not found:
                return self.way(level[0], before), whole
            if len(found) > width:
                whole = False
                level = self.best_of(found, width)
            else:
                level = list(found)
            for pegs in level:
                before[pegs] = found[pegs]

    def after(self, level):
        """What is one jump away from a level's positions, and which of them."""
        jumps = [(change, pegs) for change, pegs, _ in self.board.jumps]
        found = {}
        for number, pegs in enumerate(level):
            if number % 256 == 0:
                self.check()
            for change, needed in jumps:
                if pegs & change == needed:
                    found[pegs ^ change] = pegs
        return found

    def best_of(self, found, width):
        scored = []
        for number, pegs in enumerate(found):
            if number % 256 == 0:
                self.check()
            scored.append((self.cost(pegs), number, pegs))
        scored.sort()
        return [pegs for _, _, pegs in scored[:width]]

    def way(self, pegs, before):
        way = [pegs]
        while before[way[-1]]:
            way.append(before[way[-1]])
        return way[::-1]

    def to_end(self, pegs, table):
        way = []
        while table[pegs]:
            pegs = table[pegs]
            way.append(pegs)
        return way

    def cost(self, pegs):
        """How unlikely a position is to be solved, as it looks: pegs that others can't reach stay
        to the end."""
        cost = 0
        near = self.board.near
        left = pegs
        while left:
            bit = left & -left
            left ^= bit
            around = near[bit.bit_length() - 1]
            if not around & pegs:
                cost += ALONE
            cost += FAR_OUT * (6 - count(around))
        return cost
