"""Rock paper scissors: two sides choose at once."""
from referee_kit.game import Game, choice, form, integer, over, piece, reason, text

HANDS = ["rock", "paper", "scissors"]


class RockPaperScissors(Game):
    """A state has the hands of all rounds: `shown`, a pair for each."""
    name, title = "rock-paper-scissors", "Rock paper scissors"
    summary = "Two sides show a hand at once, for a number of rounds; most rounds win."
    seats = ["red", "blue"]
    setup = [integer("rounds", 1, 1000, 10, "how many rounds are played")]
    pieces = [piece("red", "red"), piece("blue", "blue")]
    forms = [form("show", "{hand}", choice("hand", HANDS), example={"hand": "rock"},
                  meaning="shows a hand")]
    reasons = [reason("rounds", "all rounds were played", "the most rounds win")]
    score = {"unit": "rounds", "fewer_is_better": False}
    plies_max = 2000

    def start(self, setup):
        return {"rounds": setup["rounds"], "shown": []}

    def turn(self, state):
        if len(state["shown"]) < state["rounds"]:
            return [0, 1]
        won = points(state)
        return over([1 + (won[0] < won[1]), 1 + (won[1] < won[0])], "rounds", won)

    def choices(self, state, seat):
        return [{"type": "show", "hand": hand} for hand in HANDS]

    def resolve(self, state, actions):
        return dict(state, shown=state["shown"] + [[actions[0]["hand"], actions[1]["hand"]]])

    def view(self, state):
        view = text("\n".join(" - ".join(pair) for pair in state["shown"][-10:]) or "no round yet")
        for side, won in zip(self.seats, points(state)):
            view.figure("rounds", won, side)
        return view


def points(state):
    """How many rounds each side has won."""
    by = [(HANDS.index(one) - HANDS.index(other)) % 3 for one, other in state["shown"]]
    return [by.count(1), by.count(2)]


if __name__ == "__main__":
    RockPaperScissors.main()
