"""Othello (Reversi): discs between a new one and another of its colour are turned over."""
from referee_kit.game import Game, Illegal, cell, form, integer, over, piece, reason, square

SIDES = ["black", "white"]
AROUND = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]


class Othello(Game):
    """A state has `board`: the cells row by row, "." for an empty one, "0" and "1" for discs."""
    name, title = "othello", "Othello"
    summary = "Two sides place discs and turn over those in between; most discs at the end win."
    seats = SIDES
    setup = [integer("size", 4, 16, 8, "the rows and columns; an even number")]
    pieces = [piece("black", "black"), piece("white", "white")]
    forms = [form("place", "{at}", cell("at"), example={"at": [2, 3]},
                  meaning="places a disc that turns over at least one of the other side"),
             form("pass", "pass", meaning="legal only if no disc can be placed")]
    reasons = [reason("most_discs", "it has more discs", "nobody can move: most discs win"),
               reason("equal_discs", "both sides have the same number of discs", "nobody can move")]
    score = {"unit": "discs", "fewer_is_better": False}
    # Every disc, and at most one pass after each.
    plies_max = 2 * 16 * 16

    def start(self, setup):
        size = setup["size"]
        if size % 2:
            raise Illegal("`size` must be even, not %d" % size)
        board, middle = ["."] * (size * size), size // 2
        for row in (middle - 1, middle):
            for column in (middle - 1, middle):
                board[row * size + column] = "1" if row == column else "0"
        return {"board": "".join(board), "size": size, "to_move": 0, "last": [], "over": False}

    def turn(self, state):
        if not state["over"]:
            return state["to_move"]
        black, white = counts = [state["board"].count(disc) for disc in "01"]
        if black == white:
            return over([1, 1], "equal_discs", counts)
        return over([1, 2] if black > white else [2, 1], "most_discs", counts)

    def actions(self, state):
        found = places(state["board"], state["size"], state["to_move"])
        return [{"type": "place", "at": at} for at in found] or [{"type": "pass"}]

    def play(self, state, action):
        board, size, mover = state["board"], state["size"], state["to_move"]
        if action["type"] == "pass":
            if places(board, size, mover):
                raise Illegal("you can place a disc, so you can't pass")
            return dict(state, to_move=1 - mover, last=[])
        row, column = action["at"]
        if not (0 <= row < size and 0 <= column < size):
            raise Illegal("the cell is off the board")
        if board[row * size + column] != ".":
            raise Illegal("the cell is occupied")
        turned = between(board, size, row, column, mover)
        if not turned:
            raise Illegal("it turns over no disc")
        cells = list(board)
        for at in turned + [row * size + column]:
            cells[at] = str(mover)
        board = "".join(cells)
        end = not any(places(board, size, seat) for seat in (0, 1))
        return dict(state, board=board, to_move=1 - mover, last=[row, column], over=end)

    def view(self, state):
        size = state["size"]
        view = square(size)
        for at, disc in enumerate(state["board"]):
            if disc != ".":
                view.piece([at // size, at % size], SIDES[int(disc)])
        for seat, side in enumerate(SIDES):
            view.figure("discs", state["board"].count(str(seat)), side)
        return view.last(state["last"]) if state["last"] else view

    def estimate(self, state):
        board, size = state["board"], state["size"]
        if state["over"]:
            value = 1000 * (board.count("0") - board.count("1"))
        else:
            corners = [board[at] for at in (0, size - 1, size * (size - 1), size * size - 1)]
            mobility = len(places(board, size, 0)) - len(places(board, size, 1))
            value = 25 * (corners.count("0") - corners.count("1")) + 2 * mobility
        return [value, -value]


def between(board, size, row, column, seat):
    """The discs that a disc of this seat on an empty cell turns over."""
    own, found = str(seat), []
    for dr, dc in AROUND:
        run, r, c = [], row + dr, column + dc
        while 0 <= r < size and 0 <= c < size and board[r * size + c] not in (".", own):
            run.append(r * size + c)
            r, c = r + dr, c + dc
        if run and 0 <= r < size and 0 <= c < size and board[r * size + c] == own:
            found += run
    return found


def places(board, size, seat):
    """Every cell where this seat can place a disc."""
    return [[at // size, at % size] for at, disc in enumerate(board)
            if disc == "." and between(board, size, at // size, at % size, seat)]


if __name__ == "__main__":
    Othello.main()
