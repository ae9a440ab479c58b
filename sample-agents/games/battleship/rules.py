"""Battleship: ships that the other side doesn't see are placed at once, and shot at in turn."""
from referee_kit.game import (Game, Illegal, cell, choice, form, grid, integer, piece, reason,
                              won_by)

LENGTHS = [3, 2, 2]


class Battleship(Game):
    """A state has for each seat its `ships`, lists of cells, and the cells that it has shot at."""
    name, title = "battleship", "Battleship"
    summary = "Two sides place ships that the other doesn't see, and then shoot in turn."
    seats = ["red", "blue"]
    setup = [integer("size", 5, 10, 6, "rows and columns of each sea")]
    pieces = [piece("red", "red"), piece("blue", "blue"),
              piece("hit", "black", "x"), piece("miss", "white", "-")]
    forms = [form("place", "place {at} {to}", cell("at"), choice("to", ["right", "down"]),
                  example={"at": [0, 0], "to": "down"}, meaning="places the next ship"),
             form("shoot", "shoot {at}", cell("at"), example={"at": [0, 0]},
                  meaning="shoots at a cell of the other's sea")]
    reasons = [reason("sunk", "it has sunk all ships")]
    plies_max = 6 + 200

    def start(self, setup):
        return {"size": setup["size"], "ships": [[], []], "shots": [[], []]}

    def turn(self, state):
        if len(state["ships"][0]) < len(LENGTHS):
            return [0, 1]
        for seat in (0, 1):
            if all(hit in state["shots"][seat] for hit in afloat(state, 1 - seat)):
                return won_by(seat, 2, "sunk")
        return shooter(state)

    def choices(self, state, seat):
        places = [{"type": "place", "at": [row, column], "to": to} for row in range(state["size"])
                  for column in range(state["size"]) for to in ("right", "down")]
        taken = afloat(state, seat)
        return [it for it in places if fits(state["size"], ship(state, seat, it), taken)]

    def resolve(self, state, actions):
        for seat, action in actions.items():
            state["ships"][seat].append(ship(state, seat, action))
        return state

    def actions(self, state):
        cells = [[row, column] for row in range(state["size"]) for column in range(state["size"])]
        shots = state["shots"][shooter(state)]
        return [{"type": "shoot", "at": at} for at in cells if at not in shots]

    def play(self, state, action):
        if action not in self.actions(state):
            raise Illegal("shoot at a cell of the board that you haven't shot at")
        state["shots"][shooter(state)].append(action["at"])
        return state

    def seen(self, state):
        return [{"ships": state["ships"][seat], "shots": shots(state, seat),
                 "shots_at_me": shots(state, 1 - seat)} for seat in (0, 1)]

    def told(self, state, move):
        action = move["action"]
        if action["type"] == "place":
            return [action if seat == move["seat"] else None for seat in (0, 1)]
        hit = action["at"] in afloat(state, 1 - move["seat"])
        return [{"shoot": action["at"], "hit": hit}] * 2

    def view(self, state):
        return sea(state, {0, 1})

    def views(self, state):
        return [sea(state, {seat}) for seat in (0, 1)]


def shooter(state):
    return int(len(state["shots"][0]) > len(state["shots"][1]))


def afloat(state, seat):
    """All cells of a seat's ships."""
    return [at for ship in state["ships"][seat] for at in ship]


def ship(state, seat, action):
    """The cells of the ship that an action places."""
    (row, column), down = action["at"], action["to"] == "down"
    length = LENGTHS[min(len(state["ships"][seat]), len(LENGTHS) - 1)]
    return [[row + step * down, column + step * (not down)] for step in range(length)]


def fits(size, cells, taken):
    return all(row < size and column < size and [row, column] not in taken
               for row, column in cells)


def shots(state, seat):
    """The shots of a seat, with what they hit."""
    targets = afloat(state, 1 - seat)
    return [{"at": at, "hit": at in targets} for at in state["shots"][seat]]


def sea(state, eyes):
    """The seas of red and blue side by side, with the ships of these seats."""
    size = state["size"]
    view = grid(size, 2 * size + 1)
    for seat in (0, 1):
        shift = seat * (size + 1)
        shot_at = state["shots"][1 - seat]
        for row, column in afloat(state, seat):
            if seat in eyes and [row, column] not in shot_at:
                view.piece([row, column + shift], Battleship.seats[seat])
        for shot in shots(state, 1 - seat):
            row, column = shot["at"]
            view.piece([row, column + shift], "hit" if shot["hit"] else "miss")
    return view


if __name__ == "__main__":
    Battleship.main()
