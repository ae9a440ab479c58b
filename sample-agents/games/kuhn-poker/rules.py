"""Kuhn poker: three cards, and each seat sees its own only."""
from referee_kit.game import Game, Illegal, chance, form, integer, over, piece, reason, text

CARDS = ["J", "Q", "K"]
# Who holds which card: the six deals.
DEALS = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
# After which actions of a hand it is over, and what the first seat then wins: None compares the cards.
ENDS = {"check check": (1, None), "bet call": (2, None), "check bet call": (2, None),
        "bet fold": (1, 1), "check bet fold": (1, -1)}


class KuhnPoker(Game):
    """A state has how many `hands` are played, the `chips` that each seat has won, and of the present hand the `cards` of its
    first and second seat, and the actions, `bets`. `shown` is the last hand as all may see it."""
    name, title = "kuhn-poker", "Kuhn poker"
    summary = "Poker with three cards: each of two seats sees its own; the most chips win."
    seats = ["red", "blue"]
    setup = [integer("hands", 1, 100, 10, "how many hands are played")]
    pieces = [piece("red", "red"), piece("blue", "blue")]
    forms = [form(kind, kind, meaning=meaning) for kind, meaning in [
        ("check", "bets nothing"), ("bet", "bets a chip"),
        ("call", "bets a chip, too"), ("fold", "gives up the pot")]]
    reasons = [reason("chips", "all hands were played", "the most chips win")]
    score = {"unit": "chips", "fewer_is_better": False}
    plies_max = 400

    def start(self, setup):
        return {"hands": setup["hands"], "played": 0, "chips": [0, 0], "cards": [], "bets": [],
                "shown": None}

    def turn(self, state):
        if state["played"] == state["hands"]:
            one, other = state["chips"]
            return over([1 + (one < other), 1 + (other < one)], "chips", state["chips"])
        if not state["cards"]:
            return chance([1] * 6, ["%s %s" % (CARDS[one], CARDS[other]) for one, other in DEALS])
        return seat_of(state, len(state["bets"]) % 2)

    def actions(self, state):
        kinds = ["call", "fold"] if state["bets"][-1:] == ["bet"] else ["check", "bet"]
        return [{"type": kind} for kind in kinds]

    def play(self, state, action):
        if action not in self.actions(state):
            raise Illegal("after a bet, call or fold; else check or bet")
        state["bets"].append(action["type"])
        end = ENDS.get(" ".join(state["bets"]))
        if end:
            chips, won = end
            first, second = state["cards"]
            won = won if won is not None else chips if first > second else -chips
            state["chips"][seat_of(state, 0)] += won
            state["chips"][seat_of(state, 1)] -= won
            shown = {"bets": state["bets"], "cards": cards_of(state) if end[1] is None else None}
            state.update(played=state["played"] + 1, cards=[], bets=[], shown=shown)
        return state

    def draw(self, state, outcome):
        return dict(state, cards=list(DEALS[outcome]))

    def seen(self, state):
        return [{"hand": state["played"], "chips": state["chips"], "bets": state["bets"],
                 "card": own_card(state, seat), "shown": state["shown"]} for seat in (0, 1)]

    def told(self, state, move):
        if "draw" in move:
            cards = DEALS[move["draw"]]
            return [{"card": CARDS[cards[(seat + state["played"]) % 2]]} for seat in (0, 1)]
        # After the last bet both cards are shown.
        end = ENDS.get(" ".join(state["bets"] + [move["action"]["type"]]), (0, 0))
        cards = cards_of(state) if end[1] is None else None
        return [dict(move["action"], cards=cards) if cards else move["action"]] * 2

    def view(self, state):
        lines = ["hand %d" % (state["played"] + 1)] + state["bets"]
        view = text("\n".join(lines))
        for seat, side in enumerate(self.seats):
            view.figure("chips", state["chips"][seat], side)
            view.figure("card", own_card(state, seat) or "-", side)
        return view

    def views(self, state):
        all_eyes = [self.view(state), self.view(state)]
        for seat, view in enumerate(all_eyes):
            view["figures"] = [it for it in view["figures"]
                               if it["name"] != "card" or it["piece"] == self.seats[seat]]
        return all_eyes


def seat_of(state, place):
    """The seat that has the first or second place in this hand."""
    return (place + state["played"]) % 2


def cards_of(state):
    """The card of each seat."""
    return [own_card(state, seat) for seat in (0, 1)]


def own_card(state, seat):
    return CARDS[state["cards"][(seat + state["played"]) % 2]] if state["cards"] else None


if __name__ == "__main__":
    KuhnPoker.main()
