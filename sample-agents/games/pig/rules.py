"""Pig: roll a die as often as you dare. A one loses what this turn has brought; hold to keep it."""
from referee_kit.game import Game, Illegal, chance, form, integer, over, piece, reason, text

SIDES = ["red", "green", "blue", "yellow"]


class Pig(Game):
    """A state has the `points` of each seat, how many `turns` are over, and of the present turn:
    what it has `brought`, how many `rolls` it had, and whether the die is `rolling`."""
    name, title = "pig", "Pig"
    summary = "Two to four sides roll a die; a one loses the turn's points, holding keeps them."
    seats = SIDES
    seat_counts = [2, 3, 4]
    setup = [integer("seats", 2, 4, 2, "how many play"),
             integer("target", 10, 100, 50, "the points that win"),
             integer("turns_per_seat", 1, 50, 30, "then most points win")]
    pieces = [piece(side, side) for side in SIDES]
    forms = [form("roll", "roll", meaning="rolls the die"),
             form("hold", "hold", meaning="keeps the turn's points and ends the turn")]
    reasons = [reason("target", "it reached the target"),
               reason("turn_limit", "the limit of turns was reached", "most points win")]
    score = {"unit": "points", "fewer_is_better": False}
    # In a turn a roll, which is an action and a draw, brings two points or more.
    plies_max = 4 * 50 * (100 + 3)

    def start(self, setup):
        seats = setup["seats"]
        return {"points": [0] * seats, "retired": [], "brought": 0, "rolls": 0, "rolling": False,
                "turns": 0, "target": setup["target"], "limit": seats * setup["turns_per_seat"]}

    def sides(self, setup):
        return SIDES[:setup["seats"]]

    def turn(self, state):
        points = state["points"]
        if max(points) >= state["target"]:
            return ranked(points, "target")
        if state["turns"] >= state["limit"]:
            return ranked(points, "turn_limit")
        if state["rolling"]:
            return chance([1] * 6, labels=["1", "2", "3", "4", "5", "6"])
        return mover(state)

    def actions(self, state):
        can_roll = state["points"][mover(state)] + state["brought"] < state["target"]
        return [{"type": "hold"}] * (state["rolls"] > 0) + [{"type": "roll"}] * can_roll

    def play(self, state, action):
        seat = mover(state)
        if action["type"] == "roll":
            if state["points"][seat] + state["brought"] >= state["target"]:
                raise Illegal("you have reached the target, so hold")
            return dict(state, rolling=True, rolls=state["rolls"] + 1)
        if not state["rolls"]:
            raise Illegal("you have to roll at least once")
        state["points"][seat] += state["brought"]
        return next_turn(state)

    def draw(self, state, outcome):
        state["rolling"] = False
        if outcome == 0:
            return next_turn(state)
        return dict(state, brought=state["brought"] + outcome + 1)

    def retire(self, state, seat):
        leaving = seat == mover(state)
        state["retired"] = sorted(state["retired"] + [seat])
        return next_turn(state) if leaving else state

    def position(self, state):
        return dict(state, to_move=mover(state))

    def view(self, state):
        lines = ["%s %d" % (side, points) for side, points in zip(SIDES, state["points"])]
        lines[mover(state)] += " + %d" % state["brought"]
        view = text("\n".join(lines))
        # As parts of the target they are planes for agents that learn, too.
        of_target = lambda points: "%d/%d" % (points, state["target"])
        for side, points in zip(SIDES, state["points"]):
            view.figure("points", of_target(points), side)
        return view.figure("this turn", of_target(state["brought"]))

    def estimate(self, state):
        points = list(state["points"])
        points[mover(state)] += state["brought"]
        return [2 * own - max(points[:seat] + points[seat + 1:])
                for seat, own in enumerate(points)]


def mover(state):
    """The seat whose turn it is: turns go round, and those of retired seats are skipped."""
    return state["turns"] % len(state["points"])


def next_turn(state):
    """The state after the turn, and after those of retired seats."""
    turns = state["turns"] + 1
    while turns < state["limit"] and turns % len(state["points"]) in state["retired"]:
        turns += 1
    return dict(state, brought=0, rolls=0, rolling=False, turns=turns)


def ranked(points, why):
    """The end: a seat's place is one more than the number of seats with more points."""
    return over([1 + sum(other > own for other in points) for own in points], why, points)


if __name__ == "__main__":
    Pig.main()
