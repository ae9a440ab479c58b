"""How long to think: a share of the time that is left, never so much that a turn comes late.

The referee measures from its request to our answer, so a turn also costs what the machine takes to
run us at all. That is why a part of the time is never planned with.
"""
import time

# In seconds. A game is no fun if every turn takes long, however much time there is.
TURN_MAX = 0.2
PLAN_MAX = 45.0
# As many more turns the bank has to last for.
TURNS_LEFT = 60
# Of the time that a turn may take at all, the share that it takes at most, and that a plan takes.
TURN_SHARE = 0.3
PLAN_SHARE = 0.6
# What answering costs besides thinking, and what a busy machine may add.
OVERHEAD = 0.02


class Clock:
    """Made from `hello.clock`; `start` is called when a turn begins."""

    def __init__(self, clock):
        self.increment = (clock.get("increment_ms") or 0) / 1000
        self.move = clock["move_ms"] / 1000 if clock.get("move_ms") else None
        # By a clock that counts CPU time, waiting for a core costs nothing but the backstop.
        self.by_cpu = clock.get("kind") == "cpu"
        backstop = clock.get("backstop_ms") if self.by_cpu else None
        self.backstop = backstop / 1000 / 2 if backstop else None
        self.planned = False
        self.start(None)

    def start(self, left_ms):
        self.began = time.perf_counter()
        self.began_cpu = time.process_time()
        self.left = None if left_ms is None else left_ms / 1000

    def used(self):
        """Seconds since the turn began, in the clock's own kind."""
        wall = time.perf_counter() - self.began
        if not self.by_cpu:
            return wall
        cpu = time.process_time() - self.began_cpu
        # The backstop is by the wall, four times the allowance if unset: so time on the wall
        # counts half, and half a backstop that was set bounds what may be used.
        return max(cpu, wall / 2)

    def allowance(self):
        """Seconds that this turn may take at the very most."""
        known = (self.left, self.move, self.backstop)
        bounds = [bound for bound in known if bound is not None]
        return max(0.0, min(bounds, default=1.0) - OVERHEAD)

    def for_a_turn(self):
        """Seconds to think in one of many turns."""
        allowed = self.allowance()
        shares = [TURN_MAX, TURN_SHARE * allowed]
        if self.left is not None:
            shares.append(allowed / TURNS_LEFT + 0.6 * self.increment)
        return min(shares)

    def for_a_plan(self):
        """Seconds to think in the first turn, when all others only follow the plan. If a new plan
        is needed after all, the bank must last for more of them."""
        if self.planned and self.left is not None:
            return self.for_a_turn()
        self.planned = True
        return min(PLAN_MAX, PLAN_SHARE * self.allowance())
