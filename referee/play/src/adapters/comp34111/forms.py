"""Hex as agents of the course COMP34111 see it."""

ADAPTER = "comp34111"


class Hex(Form):
    """Agents that are asked for a move with the board and the opponent's last move."""

    methods = ["make_move"]
    expected = "Move(x, y), or Move(-1, -1) to swap on turn 2"
    # The course set no limit, so that of all agents holds, which the system counts.
    memory_counts = False

    def __init__(self, strict, setup):
        self.strict = strict
        if not os.path.isfile("src/AgentBase.py"):
            exec(compile(COURSE, OWN_FILE, "exec"), globals())
            install_src()
        parts = {name: importlib.import_module(f"src.{name}") for name in ("Board", "Colour", "Move")}
        self.Colour, self.Move = parts["Colour"].Colour, parts["Move"].Move
        self.board = parts["Board"].Board(setup["size"])
        self.colours = [self.Colour.RED, self.Colour.BLUE]
        self.swap_mirrors = setup["swap"] == "pieces"
        # The course's first player, red, connects the rows. Here black connects the columns.
        self.mirrored = setup["first"] == "black"
        self.turns, self.last = 0, None

    def find(self, spec):
        """The class `MODULE:CLASS`, else the only one of the module, or the one that is called as the module."""
        package, _, name = spec.partition(":")
        if not name:
            module = importlib.import_module(package)
            own = [found for found in own_classes([module], self.methods)
                   if getattr(module, found).__module__ == module.__name__]
            stem = package.rpartition(".")[2]
            name = own[0] if len(own) == 1 else stem if stem in own else ""
            if not name:
                found = f"; found {', '.join(own)}" if own else ""
                fail(f"{package} needs one class with make_move(); add :CLASS to the agent's name{found}")
        return find_class(f"{package}:{name}", [], self.methods)

    def colour(self, seat):
        """Returns a colour as agents get it: the first player is red."""
        return self.colours[seat["seat"]]

    def ask(self, seat):
        """Asks the agent for its move, on a board of its own."""
        import copy

        return seat.call("make_move", self.turns + 1, copy.deepcopy(self.board), self.last)

    def tell(self, seat, number, move):
        """Plays a move on the board. After a swap both agents have the other colour."""
        self.turns += 1
        self.last = move
        if (move.x, move.y) != (-1, -1):
            self.board.set_tile_colour(whole(move.x), whole(move.y), self.colours[number])
            return
        self.colours.reverse()
        self.mirrored ^= self.swap_mirrors
        guarded("colour", setattr, seat.agent, "colour", self.colours[seat.number])

    def action(self, wire):
        """Returns a move as agents get it."""
        if wire["type"] == "swap":
            return self.Move(-1, -1)
        return self.Move(*reversed(wire["at"])) if self.mirrored else self.Move(*wire["at"])

    def wire(self, move):
        """Returns a move as the referee gets it."""
        if self.strict and type(move) is not self.Move:
            raise NotAnAction
        at = [whole(move.x), whole(move.y)]
        if at == [-1, -1]:
            return {"type": "swap"}
        return {"type": "place", "at": at[::-1] if self.mirrored else at}


GAMES = {"hex": Hex}
# Any other game.
OTHERS = None
