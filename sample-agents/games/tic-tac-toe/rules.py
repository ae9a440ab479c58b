"""Tic-tac-toe: two sides place marks in turn, and three in a row win."""
from referee_kit.game import Game, Illegal, cell, form, grid, over, piece, reason, won_by

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe(Game):
    """A state is {"board": the nine cells as a string, "to_move": the seat}."""
    name, title = "tic-tac-toe", "Tic-tac-toe"
    summary = "Two sides place marks in turn on nine cells; three in a row win."
    seats = ["cross", "nought"]
    pieces = [piece("cross", "red", "X"), piece("nought", "blue", "O")]
    forms = [form("place", "{at}", cell("at"), example={"at": [1, 1]},
                  meaning="places a mark on an empty cell")]
    reasons = [reason("three_in_a_row", "it has three in a row"),
               reason("full", "the board is full", "all cells are taken and nobody has a row")]
    plies_max = 9

    def start(self, setup):
        return {"board": ".........", "to_move": 0}

    def turn(self, state):
        board = state["board"]
        if line(board):
            return won_by(1 - state["to_move"], 2, "three_in_a_row")
        if "." not in board:
            return over([1, 1], "full")
        return state["to_move"]

    def actions(self, state):
        return [{"type": "place", "at": [at // 3, at % 3]}
                for at, mark in enumerate(state["board"]) if mark == "."]

    def play(self, state, action):
        row, column = action["at"]
        if not (0 <= row < 3 and 0 <= column < 3):
            raise Illegal("the cell is off the board")
        board, at = state["board"], 3 * row + column
        if board[at] != ".":
            raise Illegal("the cell is occupied")
        mark = "XO"[state["to_move"]]
        return {"board": board[:at] + mark + board[at + 1:], "to_move": 1 - state["to_move"],
                "last": [row, column]}

    def view(self, state):
        view = grid(3, 3)
        for at, mark in enumerate(state["board"]):
            if mark != ".":
                view.piece([at // 3, at % 3], "cross" if mark == "X" else "nought")
        if "last" in state:
            view.last(state["last"])
        return view.chain(*([at // 3, at % 3] for at in line(state["board"])))

    def estimate(self, state):
        """Lines that only one side has marks in, by the square of how many."""
        rows = ["".join(state["board"][at] for at in cells) for cells in LINES]
        value = sum(row.count("X") ** 2 - row.count("O") ** 2
                    for row in rows if not ("X" in row and "O" in row))
        return [value, -value]


def line(board):
    """The cells of a line of three equal marks, or nothing."""
    for a, b, c in LINES:
        if board[a] != "." and board[a] == board[b] == board[c]:
            return a, b, c
    return ()


if __name__ == "__main__":
    TicTacToe.main()
