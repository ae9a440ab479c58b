"""A small game and variants of it, each with one defect that `referee game check` has to find.

    broken.py VARIANT
"""
import random
import sys
import time

from referee_kit import game as kit
from referee_kit.game import (Game, Illegal, boolean, cell, chance, choice, form, grid, integer, optional,
                              over, piece, points, reason, string, won_by)


class Good(Game):
    name, title = "broken", "Take the last stone"
    summary = "Two sides take 1 to 3 stones in turn; who takes the last one wins."
    seats = ["red", "blue"]
    pieces = [piece("red", "red"), piece("blue", "blue"), piece("green", "green")]
    setup = [integer("stones", 4, 12, 9)]
    forms = [form("take", "{count}", integer("count", 1, 3), example={"count": 2})]
    reasons = [reason("last_stone", "it took the last stone")]
    plies_max = 12

    def start(self, setup):
        return {"left": setup["stones"], "to_move": 0}

    def turn(self, state):
        if state["left"] == 0:
            return won_by(1 - state["to_move"], 2, "last_stone")
        return state["to_move"]

    def actions(self, state):
        return [{"type": "take", "count": count} for count in range(1, min(3, state["left"]) + 1)]

    def play(self, state, action):
        if action["count"] > state["left"]:
            raise Illegal("there are only %d stones" % state["left"])
        return dict(state, left=state["left"] - action["count"],
                    to_move=(state["to_move"] + 1) % len(self.seats))

    def view(self, state):
        view = grid(3, 4)
        for number in range(state["left"]):
            view.piece([number // 4, number % 4], "red")
        return view


class OtherDescription(Good):
    summary = "Stones %d" % hash("stones")


class Crash(Good):
    def play(self, state, action):
        return {}["left"] if state["left"] == 2 else super().play(state, action)


class NoReturn(Good):
    def play(self, state, action):
        state["left"] -= action["count"]


class Rare(Good):
    """Few of many actions fail."""
    forms = [form("take", "{count}", integer("count", 1, 100), example={"count": 2})]

    def actions(self, state):
        return [{"type": "take", "count": count} for count in range(1, 101)]

    def play(self, state, action):
        if action["count"] % 4 == 2:
            raise ValueError("two are too many")
        return super().play(dict(state), {"type": "take", "count": 1})


class Slow(Good):
    """Each move is in time, and a walk of a whole game isn't."""

    def actions(self, state):
        return super().actions(state)[:1]

    def play(self, state, action):
        time.sleep(0.3)
        return super().play(state, action)


class Stuck(Good):
    def actions(self, state):
        return super().actions(state) if state["left"] > 2 else []


class ThreeSides(Good):
    def sides(self, setup):
        return ["red", "blue", "green"]


class NoRule(Good):
    """One of its endings never comes."""
    reasons = Good.reasons + [reason("bored", "nobody wants to go on")]


class ListPosition(Good):
    def position(self, state):
        return [state["left"]]


class NumberNotes(Good):
    """No answer with notes can be read."""

    def notes(self, state):
        return [state["left"]]


class UnknownReason(Good):
    def turn(self, state):
        return state["to_move"] if state["left"] else over([1, 2], "bored")


class NoRanking(Good):
    def turn(self, state):
        return state["to_move"] if state["left"] else over([1, 3], "last_stone")


class ThreePlaces(Good):
    def turn(self, state):
        return state["to_move"] if state["left"] else over([1, 2, 2], "last_stone")


class NoScores(Good):
    score = {"unit": "stones", "fewer_is_better": False}


class Longer(Good):
    plies_max = 2


class Hashed(Good):
    def actions(self, state):
        return sorted(super().actions(state), key=lambda action: hash("x%d" % action["count"]))


class Random(Good):
    def position(self, state):
        return {"luck": random.random()}


class Remembers(Good):
    asked = frozenset()

    def position(self, state):
        self.asked |= {state["left"]}
        return {"asked": sorted(self.asked)}


class StartCache(Good):
    """The key of what it keeps lacks a field of the setup."""
    setup = Good.setup + [boolean("bonus", False)]
    starts = {}

    def start(self, setup):
        return dict(self.starts.setdefault(setup["bonus"], super().start(setup)))


class Unlisted(Good):
    def actions(self, state):
        return super().actions(state)[:2]


class Refused(Good):
    def play(self, state, action):
        if action["count"] == 3:
            raise Illegal("three are too many")
        return super().play(state, action)


class AnySeat(Good):
    """Nothing is listed, and whose move it is isn't looked at."""
    actions = Game.actions

    @classmethod
    def main(cls):
        after = kit._Answers.after

        def careless(self, choice, move):
            if "of" in choice.turn and "action" in move:
                move = dict(move, seat=choice.turn["of"][0])
            return after(self, choice, move)

        kit._Answers.after = careless
        super().main()


class Reads(Good):
    """It sorts the letters that it gets, and records them as they came."""
    forms = [form("take", "take {stones}", string("stones", 3), example={"stones": "ab"})]

    def actions(self, state):
        return [{"type": "take", "stones": "abc"[:count]} for count in range(1, min(3, state["left"]) + 1)]

    def play(self, state, action):
        stones = "".join(sorted(action["stones"]))
        if dict(action, stones=stones) not in self.actions(state):
            raise Illegal("there are no such stones")
        return super().play(state, {"type": "take", "count": len(stones)})


class PlaysOn(Good):
    """What was legal in the last turn is so after the end, too. No other turn has the same actions."""
    setup, plies_max = [], 50
    forms = [form("say", "{number}", integer("number", 0, 99999), example={"number": 99999})]

    @classmethod
    def main(cls):
        after = kit._Answers.after

        def careless(self, choice, move):
            if "over" in choice.turn:
                choice.turn = {"of": [move["seat"]]}
            return after(self, choice, move)

        kit._Answers.after = careless
        super().main()

    def start(self, setup):
        return {"left": 0, "to_move": 0, "turns": 0}

    def turn(self, state):
        over = state["turns"] == 50
        return won_by(1 - state["to_move"], 2, "last_stone") if over else state["to_move"]

    def actions(self, state):
        return [{"type": "say", "number": 2 * state["turns"] + more} for more in (0, 1)]

    def play(self, state, action):
        if action["number"] // 2 != min(state["turns"], 49):
            raise Illegal("it is not one of the two numbers")
        return dict(state, turns=min(state["turns"] + 1, 50), to_move=1 - state["to_move"])


class Wraps(Good):
    """A cell is only checked by its index on the board."""
    setup = []
    forms = [form("mark", "{at} {seal}", cell("at"), integer("seal", 0, 999),
                  example={"at": [0, 0], "seal": 999})]

    def start(self, setup):
        return {"left": 0, "to_move": 0, "marked": []}

    def turn(self, state):
        full = len(state["marked"]) == 12
        return won_by(1 - state["to_move"], 2, "last_stone") if full else state["to_move"]

    def actions(self, state):
        return [{"type": "mark", "at": [place // 4, place % 4], "seal": 37 * place}
                for place in range(12) if place not in state["marked"]]

    def play(self, state, action):
        place = 4 * action["at"][0] + action["at"][1]
        if action["seal"] != 37 * place or place not in range(12) or place in state["marked"]:
            raise Illegal("there is no such cell")
        return dict(state, marked=state["marked"] + [place], to_move=1 - state["to_move"])


class SameText(Good):
    forms = Good.forms + [form("say", "{word}", string("word", 9), example={"word": "hello"})]


class NotFinal(Good):
    def complete(self, state, action):
        return dict(action, count=max(1, action["count"] - 1))


class LosesField(Good):
    forms = [form("take", "{count}", integer("count", 1, 3), optional(boolean("fast")),
                  example={"count": 2})]

    def actions(self, state):
        return [dict(action, fast=True) for action in super().actions(state)]


class Resign(Good):
    forms = Good.forms + [form("pass", "resign")]

    def actions(self, state):
        return super().actions(state) + [{"type": "pass"}]

    def play(self, state, action):
        if action["type"] == "pass":
            return dict(state, left=0)
        return super().play(state, action)


class Counts(Good):
    """What it shows is not in the state."""
    played = 0

    def play(self, state, action):
        self.played += 1
        return super().play(state, action)

    def view(self, state):
        return super().view(state).figure("played", self.played)


class Looks(Good):
    def view(self, state):
        view = super().view(state)
        state["left"] = 0
        return view


class Resets(Counts):
    def start(self, setup):
        self.played = 0
        return super().start(setup)


class RecordsLate(Good):
    """What it records depends on how many moves a request has."""
    asked = 0

    @classmethod
    def main(cls):
        walk, after = kit._Answers.walk, kit._Answers.after

        def counted(self, request):
            self.game.asked = len(request.get("moves", ()))
            return walk(self, request)

        def late(self, choice, move):
            method, state, action = after(self, choice, move)
            late = self.game.asked > 2 and action
            return method, state, dict(action, count=action["count"] % 3 + 1) if late else action

        kit._Answers.walk, kit._Answers.after = counted, late
        super().main()


class Bids(Good):
    """In each of three rounds both get a card that the other doesn't see, and bid at once."""
    plies_max = 9

    def start(self, setup):
        return {"bids": [], "cards": [], "points": [0, 0]}

    def turn(self, state):
        if len(state["bids"]) == 3:
            one, other = state["points"]
            return over([1 + (one < other), 1 + (other < one)], "last_stone")
        return [0, 1] if state["cards"] else chance([1, 1, 1, 1])

    def draw(self, state, outcome):
        return dict(state, cards=[outcome // 2, outcome % 2])

    def choices(self, state, seat):
        return [{"type": "take", "count": count} for count in (1, 2, 3)]

    def resolve(self, state, actions):
        bids = [actions[seat]["count"] if seat in actions else 0 for seat in (0, 1)]
        points = [was + bid + card for was, bid, card
                  in zip(state["points"], bids, state["cards"])]
        return {"bids": state["bids"] + [bids], "cards": [], "points": points}

    def seen(self, state):
        cards = state["cards"] or [None, None]
        return [{"bids": state["bids"], "card": card} for card in cards]

    def told(self, state, move):
        return [move["draw"] // 2, move["draw"] % 2] if "draw" in move else None

    def view(self, state):
        return grid(3, 4)


class ShowsCards(Bids):
    def seen(self, state):
        return [dict(seen, sum=sum(state["cards"])) for seen in super().seen(state)]


class CardInActions(Bids):
    def choices(self, state, seat):
        return super().choices(state, seat)[:2 + state["cards"][1 - seat]]


class FirstCounts(Bids):
    @classmethod
    def main(cls):
        def play(self, seat, action):
            self.chosen = self.chosen + [[seat, action]]
            return self._after(seat)

        kit.Choice.play = play
        super().main()

    def resolve(self, state, actions):
        return dict(super().resolve(state, actions), points=[list(actions)[0], 0])


class TellsChoice(Bids):
    @classmethod
    def main(cls):
        actions = kit.Choice.actions
        kit.Choice.actions = lambda self, seat: [
            action for action in actions(self, seat)
            if action not in [chosen for _, chosen in self.chosen]]
        super().main()


class TurnsEarly(Bids):
    @classmethod
    def main(cls):
        kit.Choice._after = lambda self, seat: self.game.resolve(self.state, dict(self.chosen))
        super().main()


class Chance(Good):
    def turn(self, state):
        return chance([1, 1, 0, 2]) if state.get("rolling") else super().turn(state)

    def play(self, state, action):
        return dict(super().play(state, action), rolling=True)

    def draw(self, state, outcome):
        if outcome == 3:
            raise Illegal("three is no side of the coin")
        return dict(state, rolling=False)


class SameNames(Chance):
    """It can't be said which of two outcomes is meant."""

    def turn(self, state):
        return chance([1, 1], ["heads", "heads"]) if state.get("rolling") else super().turn(state)


class Three(Good):
    seats = ["red", "blue", "green"]

    def turn(self, state):
        return state["to_move"] if state["left"] else won_by(0, 3, "last_stone")

    def retire(self, state, seat):
        return state


class NoRetire(Good):
    seats = ["red", "blue", "green"]

    def turn(self, state):
        return state["to_move"] if state["left"] else won_by(0, 3, "last_stone")


class LastSeat(Good):
    """The places are right unless seats have left."""
    seats = ["red", "blue", "green"]

    def start(self, setup):
        return {"left": setup["stones"], "to_move": 0, "out": []}

    def turn(self, state):
        if state["left"] and len(state["out"]) < 2:
            return state["to_move"]
        return over([1, 3, 3] if state["out"] else [1, 2, 2], "last_stone")

    def retire(self, state, seat):
        state["out"] = state["out"] + [seat]
        return self.skip(state) if state["to_move"] == seat else state

    def play(self, state, action):
        return self.skip(super().play(state, action))

    @staticmethod
    def skip(state):
        while state["to_move"] in state["out"]:
            state["to_move"] = (state["to_move"] + 1) % 3
        return state


class OffBoard(Good):
    def view(self, state):
        return super().view(state).last([3, 4])


class Large(Good):
    """Only one value of the setup shows it, and only in the middle of a game."""
    setup = [choice("size", ["small", "usual", "large"], "usual")]

    def start(self, setup):
        return {"left": 12, "to_move": 0, "size": setup["size"]}

    def view(self, state):
        lost = state["size"] == "large" and 4 <= state["left"] < 8
        return super().view(state).last([9, 9] if lost else [0, 0])


class Far(Good):
    """Nothing is listed, and little is legal on a large board."""
    forms = [form("mark", "{at}", cell("at"), example={"at": [0, 0]})]
    actions = Game.actions

    def play(self, state, action):
        if action["at"][0] < 20 or max(action["at"]) > 25:
            raise Illegal("it is not on the last rows")
        return dict(state, left=state["left"] - 1, to_move=1 - state["to_move"])

    def view(self, state):
        return grid(26, 26)


class BadView(Good):
    def view(self, state):
        return super().view(state).figure("left")


class ShortCell(Good):
    """The view is malformed, and nothing else."""

    def view(self, state):
        return super().view(state).last([3])


class OtherNames(Good):
    labels = ["a1", "b1", "c1", "d1"]

    def view(self, state):
        return points([[0, 0], [4, 0], [8, 0]], names=["a1", "b1", "d1"])


class TwoPieces(Good):
    def view(self, state):
        return super().view(state).piece([0, 0], "blue")


class Index(Good):
    forms = Good.forms + [form("mark", "mark {at}", cell("at"), example={"at": [0, 0]})]

    def play(self, state, action):
        if action["type"] == "mark":
            if ([[0] * 4] * 3)[action["at"][0]][action["at"][1]]:
                return state
            raise Illegal("nothing is marked")
        return super().play(state, action)


class Winner(Good):
    def turn(self, state):
        return state["to_move"] if state["left"] else won_by(state["to_move"], 2, "last_stone")


if __name__ == "__main__":
    globals()[sys.argv[1]].main()
