#!/usr/bin/env python3
"""Plays Hex on a board of its own: places stones where both sides' shortest paths meet."""
import json
import random
import sys
from collections import deque

NEIGHBOURS = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)]


class Board:
    """The stones, and which colour each seat has. Black joins the first column with the last one,
    red the first row with the last one."""

    def __init__(self, setup):
        self.size = setup["size"]
        self.swap = setup["swap"]
        first = setup["first"]
        self.colours = [first, "red" if first == "black" else "black"]
        self.stones = {}
        position = setup.get("position")
        if position:
            self.colours = list(position["colours"])
            for colour, cells in zip(("black", "red"), position["stones"]):
                self.stones.update({tuple(cell): colour for cell in cells})

    def play(self, seat, action):
        if action["type"] == "place":
            self.stones[tuple(action["at"])] = self.colours[seat]
        elif self.swap == "sides":
            self.colours.reverse()
        else:
            ((row, column),) = self.stones
            self.stones = {(column, row): self.colours[seat]}

    def empty(self):
        cells = range(self.size)
        return [(r, c) for r in cells for c in cells if (r, c) not in self.stones]

    def distances(self, colour, far_side):
        """For every cell: how many stones `colour` needs to reach it from one of its borders, a
        stone on the cell itself included. Cells that it can't reach are missing."""
        edge = self.size - 1 if far_side else 0
        cells = range(self.size)
        border = [(r, edge) for r in cells] if colour == "black" else [(edge, c) for c in cells]
        found = {}
        # Steps onto own stones cost nothing and go to the front, so the queue stays sorted.
        queue = deque()
        self._reach(queue, colour, border, 0)
        while queue:
            cell, distance = queue.popleft()
            if cell in found:
                continue
            found[cell] = distance
            around = [(cell[0] + r, cell[1] + c) for r, c in NEIGHBOURS]
            self._reach(queue, colour, [next for next in around if next not in found], distance)
        return found

    def _reach(self, queue, colour, cells, distance):
        for row, column in cells:
            if not (0 <= row < self.size and 0 <= column < self.size):
                continue
            stone = self.stones.get((row, column))
            if stone == colour:
                queue.appendleft(((row, column), distance))
            elif stone is None:
                queue.append(((row, column), distance + 1))

    def detours(self, colour):
        """For every cell: how many stones the shortest path through it needs."""
        near, far = self.distances(colour, False), self.distances(colour, True)
        return {cell: near[cell] + far[cell] for cell in near if cell in far}


def choose(board, seat):
    """The empty cell through which both sides' paths are shortest, the middle of the board before
    its rim. A path that needs one stone more only (2: it is counted from both borders) wins."""
    own = board.detours(board.colours[seat])
    other = board.detours(board.colours[1 - seat])
    far = 4 * board.size
    middle = (board.size - 1) / 2

    def badness(cell):
        wins_at_once = own.get(cell, far) == 2
        away = abs(cell[0] - middle) + abs(cell[1] - middle)
        return (not wins_at_once, own.get(cell, far) + other.get(cell, far), away, random.random())

    return {"type": "place", "at": list(min(board.empty(), key=badness))}


def say(message):
    print(json.dumps(message), flush=True)


def main():
    board, seat = None, None
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            random.seed(message["seed"])
            board, seat = Board(message["setup"]), message["seat"]
            say({"type": "ready", "name": "paths (Python)"})
        elif kind == "played":
            board.play(message["seat"], message["action"])
        elif kind == "turn":
            say({"type": "action", "turn": message["turn"], "action": choose(board, seat)})


if __name__ == "__main__":
    main()
