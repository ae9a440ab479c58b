"""Alpha-beta search with growing depth, for any number of seats.

All that it knows of a game is a list of children: what each action leads to and how good that looks
to us. Our own turns pick the best child, and every other seat is taken to pick the worst one for
us: with two seats that is minimax, with more it is called paranoid. Alpha-beta skips what can't
change the result; that works best if good actions come first, so children are sorted by how they
look, and the action that proved best one depth before goes to the front.

Growing depth (1, 2, 3 ..) makes the search fit any amount of time: when it runs out, the last depth
that was finished decides, or the unfinished one if it found something better already.
"""

# What winning is worth; sooner wins are worth a little more. Estimates stay far below.
WON = 10 ** 9
# A value that no position reaches.
BEYOND = 2 * WON


class OutOfTime(Exception):
    """The turn's time is used up, in the midst of a search."""


class Search:
    """A search for the seat `seat`.

    `children(state, ply)` lists `(worth, action, child)` for every action in a state, `ply` actions
    below the root: `worth` is how the child looks to us, and `child` is None if the game is then
    over. A state is a tuple whose first item is the seat to move. `width` bounds how many children
    are followed below the root.
    """

    def __init__(self, children, seat, clock, seconds, width=1000):
        self.children = children
        self.seat = seat
        self.clock = clock
        self.seconds = seconds
        self.width = width
        self.looked = 0
        self.depth = 0
        self.best_before = {}
        self.known = {}

    def best(self, first, depth_max=64):
        """The best of `first`, which are the root's children, with its worth."""
        first = sorted(first, key=worth_of, reverse=True)
        best = first[0]
        self.depth = 1
        if len(first) == 1:
            return best
        for depth in range(2, depth_max + 1):
            if abs(best[0]) > WON // 2 or self.clock.used() > self.seconds / 2:
                break
            self.known = {}
            values = []
            try:
                for child in first:
                    alpha = max([value for value, _, _ in values], default=-BEYOND)
                    value = self.value(child, 1, depth - 1, alpha, BEYOND)
                    values.append((value, child[1], child[2]))
            except OutOfTime:
                # The first is the best of the last depth: if it fell, another one may be better,
                # and what is better than it now was looked at as deep as it was.
                if values:
                    best = max(values, key=worth_of)
                break
            self.depth = depth
            best = max(values, key=worth_of)
            # The best goes first; others only have bounds, so they keep their order.
            first.sort(key=lambda child: child[1] != best[1])
        return best

    def value(self, node, ply, depth, alpha, beta):
        worth, _, state = node
        if state is None or depth == 0:
            return worth
        place = (state, ply)
        known = self.known.get(place)
        if known:
            low, high = known
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
        if self.clock.used() > self.seconds:
            raise OutOfTime
        self.looked += 1
        children = self.children(state, ply)
        ours = state[0] == self.seat
        if depth == 1:
            return (max if ours else min)(children, key=worth_of)[0]
        children.sort(key=worth_of, reverse=ours)
        del children[self.width:]
        before = self.best_before.get(place)
        if before is not None:
            children.sort(key=lambda child: child[1] != before)
        alpha_then, beta_then = alpha, beta
        best = -BEYOND if ours else BEYOND
        for child in children:
            value = self.value(child, ply + 1, depth - 1, alpha, beta)
            if ours and value > best:
                best, before = value, child[1]
                alpha = max(alpha, value)
            elif not ours and value < best:
                best, before = value, child[1]
                beta = min(beta, value)
            if alpha >= beta:
                break
        self.best_before[place] = before
        # A value outside the window that was asked for is only a bound.
        low = best if best > alpha_then else -BEYOND
        high = best if best < beta_then else BEYOND
        self.known[place] = (low, high)
        return best


def worth_of(child):
    return child[0]
