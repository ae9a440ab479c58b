"""Connect Four: discs fall down the columns, and four in a row win. On boards of any size."""
from referee_kit.game import Game, Illegal, form, grid, integer, over, piece, reason, won_by

SIDES = ["red", "yellow"]
STEPS = [(0, 1), (1, 0), (1, 1), (1, -1)]


class ConnectFour(Game):
    """A state has `rows`: strings from the top, "." for an empty cell, "0" and "1" for discs."""
    name, title = "connect-four", "Connect Four"
    summary = "Two sides drop discs into columns; four in a row, in any direction, win."
    seats = SIDES
    setup = [integer("rows", 4, 26, 6, "the rows of the board"),
             integer("columns", 4, 26, 7, "the columns of the board"),
             integer("line", 3, 6, 4, "how many in a row win")]
    pieces = [piece("red", "red"), piece("yellow", "yellow")]
    forms = [form("drop", "{column}", integer("column", 0, 25), example={"column": 3},
                  meaning="drops a disc into a column, counted from 0")]
    reasons = [reason("line", "it has enough discs in a row", "a row of `line` discs wins"),
               reason("full", "the board is full", "all cells are taken and nobody has a row")]
    plies_max = 26 * 26

    def start(self, setup):
        rows = ["." * setup["columns"]] * setup["rows"]
        return {"rows": rows, "line": setup["line"], "turn": 0, "won": [], "last": []}

    def turn(self, state):
        mover = state["turn"] % 2
        if state["won"]:
            return won_by(1 - mover, 2, "line")
        if "." not in state["rows"][0]:
            return over([1, 1], "full")
        return mover

    def actions(self, state):
        return [{"type": "drop", "column": column}
                for column, top in enumerate(state["rows"][0]) if top == "."]

    def play(self, state, action):
        rows, column = state["rows"], action["column"]
        if column >= len(rows[0]):
            raise Illegal("the board has only %d columns" % len(rows[0]))
        if rows[0][column] != ".":
            raise Illegal("column %d is full" % column)
        row = max(r for r in range(len(rows)) if rows[r][column] == ".")
        disc = str(state["turn"] % 2)
        rows[row] = rows[row][:column] + disc + rows[row][column + 1:]
        state.update(turn=state["turn"] + 1, last=[row, column])
        for step in STEPS:
            run = through(rows, row, column, step)
            if len(run) >= state["line"]:
                state["won"] = run
        return state

    def view(self, state):
        rows = state["rows"]
        view = grid(len(rows), len(rows[0])).chain(*state["won"])
        for r, row in enumerate(rows):
            for c, disc in enumerate(row):
                if disc != ".":
                    view.piece([r, c], SIDES[int(disc)])
        return view.last(state["last"]) if state["last"] else view

    def estimate(self, state):
        """Windows of a line's length that only one side has discs in, by the square of how many."""
        if state["won"]:
            winner = 1 - state["turn"] % 2
            return [10000 if seat == winner else -10000 for seat in (0, 1)]
        rows, length, value = state["rows"], state["line"], 0
        for r in range(len(rows)):
            for c in range(len(rows[0])):
                for dr, dc in STEPS:
                    window = "".join(disc(rows, r + dr * n, c + dc * n) for n in range(length))
                    if len(window) == length and ("0" in window) != ("1" in window):
                        value += window.count("0") ** 2 - window.count("1") ** 2
        return [value, -value]


def disc(rows, row, column):
    """What is on a cell; nothing at all off the board."""
    on_board = 0 <= row < len(rows) and 0 <= column < len(rows[0])
    return rows[row][column] if on_board else ""


def through(rows, row, column, step):
    """The cells of the longest row of equal discs through a cell in one direction and back."""
    own, run = rows[row][column], [[row, column]]
    for sign in (1, -1):
        dr, dc = sign * step[0], sign * step[1]
        r, c = row + dr, column + dc
        while disc(rows, r, c) == own:
            run.append([r, c])
            r, c = r + dr, c + dc
    return sorted(run)


if __name__ == "__main__":
    ConnectFour.main()
