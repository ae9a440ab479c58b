"""Hex, the built-in game once more: the same rules, setups, texts and counts (docs/games.md)."""
from referee_kit.game import Game, Illegal, cell, choice, diamond, form, integer, piece, reason, won_by

STEPS = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)]
OTHER = {"black": "red", "red": "black"}


class Hex(Game):
    """A state has `board`: the cells row by row, "b", "r" or "." for none; `colours` by seat."""
    name, title = "hex", "Hex"
    summary = ("Two sides place stones on a diamond; the first to connect its two borders with a "
               "chain of its stones wins. There is no draw.")
    seats = ["black", "red"]
    setup = [
        integer("size", 3, 26, 11, "the rows and columns of the diamond"),
        choice("first", ["black", "red"], "black",
               "the colour of seat 0, which moves first; black connects the north-west and the "
               "south-east, red the north-east and the south-west"),
        choice("swap", ["none", "pieces", "sides"], "none",
               "whether the second player may answer the first stone by taking it over, "
               "mirrored, or by exchanging colours")]
    pieces = [piece("black", "black"), piece("red", "red")]
    forms = [form("place", "{at}", cell("at"), example={"at": [3, 2]},
                  meaning="places a stone on an empty cell, here on row 3 and column 2"),
             form("swap", "swap",
                  meaning="only on the second player's first turn, if the setup allows it")]
    reasons = [reason("connected", "it connected its two sides",
                      "a chain of the winner's stones connects its two borders")]
    plies_max = 26 * 26 + 1

    def start(self, setup):
        size, first = setup["size"], setup["first"]
        return {"size": size, "board": "." * (size * size), "colours": [first, OTHER[first]],
                "swap": setup["swap"], "turn": 0, "winner": None, "last": None}

    def sides(self, setup):
        return [setup["first"], OTHER[setup["first"]]]

    def turn(self, state):
        if state["winner"] is not None:
            return won_by(state["winner"], 2, "connected")
        return state["turn"] % 2

    def actions(self, state):
        size = state["size"]
        empty = [{"type": "place", "at": [at // size, at % size]}
                 for at, stone in enumerate(state["board"]) if stone == "."]
        may_swap = state["turn"] == 1 and state["swap"] != "none"
        return empty + [{"type": "swap"}] * may_swap

    def play(self, state, action):
        if action["type"] == "swap":
            swap(state)
        else:
            place(state, *action["at"])
        state["turn"] += 1
        return state

    def position(self, state):
        size = state["size"]
        stones = [[[at // size, at % size] for at, stone in enumerate(state["board"])
                   if stone == side] for side in "br"]
        return {"to_move": state["turn"] % 2, "size": size, "stones": stones,
                "colours": state["colours"], "turn": state["turn"]}

    def view(self, state):
        size = state["size"]
        view, along, end = diamond(size), range(size), size - 1
        view.edge("black", [[n, 0] for n in along], [-1, -1])
        view.edge("black", [[n, end] for n in along], [1, 1])
        view.edge("red", [[0, n] for n in along], [1, -1])
        view.edge("red", [[end, n] for n in along], [-1, 1])
        for at, stone in enumerate(state["board"]):
            if stone != ".":
                view.piece([at // size, at % size], "black" if stone == "b" else "red")
        if state["last"] is not None:
            view.last(state["last"])
        if state["winner"] is not None:
            view.chain(*chain(state, state["colours"][state["winner"]]))
        return view


def swap(state):
    """Plays the swap, which the setup decides."""
    if state["swap"] == "none":
        raise Illegal("this setup has no swap")
    if state["turn"] != 1:
        raise Illegal("only the second player may swap, and only on its first turn")
    if state["swap"] == "sides":
        state["colours"].reverse()
        return
    row, column = state["last"]
    state["board"] = "." * len(state["board"])
    put(state, column, row)


def place(state, row, column):
    """Places a stone of the seat to move."""
    size = state["size"]
    if not (0 <= row < size and 0 <= column < size):
        raise Illegal(name_of(row, column) + " is off the board")
    if state["board"][row * size + column] != ".":
        raise Illegal(name_of(row, column) + " is occupied")
    put(state, row, column)
    side = state["colours"][state["turn"] % 2]
    if chain(state, side):
        state["winner"] = state["turn"] % 2


def put(state, row, column):
    """A stone of the mover's colour on a cell."""
    at, board = row * state["size"] + column, state["board"]
    stone = state["colours"][state["turn"] % 2][0]
    state.update(board=board[:at] + stone + board[at + 1:], last=[row, column])


def chain(state, side):
    """A shortest chain that connects a side's borders, the first in the order of cells, or []."""
    size, board, own = state["size"], state["board"], side[0]
    across = 1 if side == "black" else 0  # Black goes from column 0 to the last, red by rows.
    border = [(n, 0) if side == "black" else (0, n) for n in range(size)]
    queue = [(r, c) for r, c in border if board[r * size + c] == own]
    before = {at: at for at in queue}
    for at in queue:  # It grows while it is read.
        if at[across] == size - 1:
            path = [at]
            while before[at] != at:
                at = before[at]
                path.append(at)
            return path[::-1]
        for dr, dc in STEPS:
            r, c = beside = at[0] + dr, at[1] + dc
            if 0 <= r < size and 0 <= c < size and board[r * size + c] == own:
                if beside not in before:
                    before[beside] = at
                    queue.append(beside)
    return []


def name_of(row, column):
    """A cell's name: c4, or 3,40 if it is off every board."""
    lettered = 0 <= column < 26 and row >= 0
    return "%s%d" % ("abcdefghijklmnopqrstuvwxyz"[column], row + 1) if lettered else "%d,%d" % (
        row, column)


if __name__ == "__main__":
    Hex.main()
