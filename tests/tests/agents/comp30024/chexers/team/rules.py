"""The rules as a player of 2019 wrote them down."""

STEPS = [(-1, 0), (0, -1), (1, -1), (1, 0), (0, 1), (-1, 1)]
HEXES = {(q, r) for q in range(-3, 4) for r in range(-3, 4) if abs(q + r) <= 3}


def distance(colour, at):
    """How far a hex is from the exits of a colour."""
    q, r = at
    return {"red": 3 - q, "green": 3 - r, "blue": 3 + q + r}[colour]


def start():
    """Whose piece is where."""
    return {at: colour for colour in ("red", "green", "blue") for at in HEXES
            if distance(colour, at) == 6}


def actions(board, colour):
    """All that a colour can play, as the course wrote it."""
    found = []
    for (q, r), owner in board.items():
        if owner != colour:
            continue
        if distance(colour, (q, r)) == 0:
            found.append(("EXIT", (q, r)))
        for step_q, step_r in STEPS:
            near, far = (q + step_q, r + step_r), (q + 2 * step_q, r + 2 * step_r)
            if near in HEXES and near not in board:
                found.append(("MOVE", ((q, r), near)))
            elif far in HEXES and near in board and far not in board:
                found.append(("JUMP", ((q, r), far)))
    return found or [("PASS", None)]


def play(board, colour, action):
    """Changes the board."""
    name, where = action
    if name == "EXIT":
        del board[where]
    elif name != "PASS":
        (from_q, from_r), (to_q, to_r) = where
        board[to_q, to_r] = board.pop((from_q, from_r))
        if name == "JUMP":
            board[(from_q + to_q) // 2, (from_r + to_r) // 2] = colour
