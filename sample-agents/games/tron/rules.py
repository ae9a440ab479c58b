"""Tron: riders move at once and leave walls behind them; the last one wins."""
from referee_kit.game import Game, choice, form, grid, integer, over, piece, reason

SIDES = ["red", "blue", "green", "yellow"]
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class Tron(Game):
    """A state has the `rows` and `columns`, the `walls` of each rider, of which the last is the rider itself, and who is `out`:
    a list for each step in which riders left."""
    name, title = "tron", "Tron"
    summary = "Two to four riders move at once and leave walls behind them; the last one wins."
    seats = SIDES
    seat_counts = [2, 3, 4]
    setup = [integer("seats", 2, 4, 2, "how many ride"),
             integer("rows", 4, 20, 10), integer("columns", 4, 20, 10)]
    pieces = [piece(side, side) for side in SIDES]
    forms = [form("ride", "{to}", choice("to", list(STEPS)), example={"to": "up"},
                  meaning="rides to a cell beside")]
    reasons = [reason("last", "all others are out"), reason("crash", "all are out at once")]
    plies_max = 404

    def start(self, setup):
        rows, columns = setup["rows"], setup["columns"]
        places = [[1, 1], [rows - 2, columns - 2], [1, columns - 2], [rows - 2, 1]]
        return {"rows": rows, "columns": columns, "out": [],
                "walls": [[place] for place in places[:setup["seats"]]]}

    def sides(self, setup):
        return SIDES[:setup["seats"]]

    def turn(self, state):
        riders = riding(state)
        if len(riders) > 1:
            return riders
        level = [riders] * bool(riders) + state["out"][::-1]
        place = {seat: 1 + sum(map(len, level[:rank]))
                 for rank, seats in enumerate(level) for seat in seats}
        places = [place[seat] for seat in range(len(state["walls"]))]
        return over(places, "last" if riders else "crash")

    def choices(self, state, seat):
        return [{"type": "ride", "to": to} for to in STEPS]

    def resolve(self, state, actions):
        taken = [cell for wall in state["walls"] for cell in wall]
        to = {}
        for seat, action in actions.items():
            row, column = state["walls"][seat][-1]
            down, right = STEPS[action["to"]]
            to[seat] = [row + down, column + right]
        targets = list(to.values())
        crashed = []
        for seat, cell in to.items():
            inside = 0 <= cell[0] < state["rows"] and 0 <= cell[1] < state["columns"]
            if inside and cell not in taken and targets.count(cell) == 1:
                state["walls"][seat].append(cell)
            else:
                crashed.append(seat)
        state["out"] += [crashed] * bool(crashed)
        return state

    def retire(self, state, seat):
        if seat in riding(state):
            state["out"].append([seat])
        return state

    def estimate(self, state):
        riders, cells = riding(state), fields(state)
        worth = [cells[seat] if seat in riders else -100 for seat in range(len(cells))]
        return [2 * own - max(worth[:seat] + worth[seat + 1:]) for seat, own in enumerate(worth)]

    def view(self, state):
        view = grid(state["rows"], state["columns"])
        riders = riding(state)
        for seat, wall in enumerate(state["walls"]):
            for cell in wall:
                view.piece(cell, SIDES[seat], "O" if cell == wall[-1] and seat in riders else None)
        return view


def fields(state):
    """How many free cells each rider can reach before the others."""
    rows, columns, riders = state["rows"], state["columns"], riding(state)
    taken = {tuple(cell) for wall in state["walls"] for cell in wall}
    reached = [0] * len(state["walls"])
    front = {seat: [tuple(state["walls"][seat][-1])] for seat in riders}
    while any(front.values()):
        ways = {}
        for seat, cells in front.items():
            for row, column in cells:
                for down, right in STEPS.values():
                    cell = row + down, column + right
                    if 0 <= cell[0] < rows and 0 <= cell[1] < columns and cell not in taken:
                        ways.setdefault(cell, set()).add(seat)
        taken.update(ways)
        for seat in riders:
            front[seat] = [cell for cell, seats in ways.items() if seats == {seat}]
            reached[seat] += len(front[seat])
    return reached


def riding(state):
    """The seats that are still in."""
    out = [seat for step in state["out"] for seat in step]
    return [seat for seat in range(len(state["walls"])) if seat not in out]


if __name__ == "__main__":
    Tron.main()
