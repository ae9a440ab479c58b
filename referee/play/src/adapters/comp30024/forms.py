"""The games of the course COMP30024, as agents see them: Freckers 2025, Chexers 2019, and those of other years."""

ADAPTER = "comp30024"
# What the address space may grow by before an agent's memory counts since 2023, in MB.
GAME_MB, NUMPY_MB = 64, 256


class Objects(Form):
    """The agents since 2023, which get objects of `referee.game`, and facts about time and memory."""

    classes = ["Agent", "Player", "ExamplePlayer"]
    imports_count = True
    has_facts = True
    # What `referee.game` must have, and what it is without that.
    needed = ["PlayerColor"]
    other = "it isn't that of this game's year"

    def __init__(self, strict, setup):
        self.strict = strict
        if any(os.path.isfile(f"referee/game{end}.py") for end in ("", "/__init__")):
            stand_for_referee()
        else:
            self.install()
        import_numpy()
        self.game = importlib.import_module("referee.game")
        missing = [name for name in self.needed if not hasattr(self.game, name)]
        if missing:
            fail(f"the folder's own referee.game has no {missing[0]}: {self.other}")

    def install(self):
        """Provides `referee.game` for agents that come without it."""
        fail("agents of this game need the course's folder `referee` of its year beside their package")

    @staticmethod
    def room_before_import():
        """What the folder's own `referee.game` may take, and its own numpy. Another is imported here."""
        if any(os.path.exists(os.path.join(FOLDER, f"numpy{end}")) for end in ("", ".py")):
            return GAME_MB + NUMPY_MB
        import_numpy()
        return GAME_MB

    def colour(self, seat):
        """Returns a colour as agents get it."""
        return self.game.PlayerColor[seat["colour"].upper()]

    def construct(self, make, colour, facts):
        """Makes the agent. The course named the argument, and some agents rely on it."""
        if self.strict:
            return make(color=colour, **facts)
        kinds = {one.name: one.kind for one in parameters(make)}
        facts = accepted(make, facts)
        if "color" in kinds or all(kind.name == "VAR_KEYWORD" for kind in kinds.values()):
            return make(color=colour, **facts)
        return make(colour, **facts)


class Freckers(Objects):
    """The agents of 2025."""

    needed = ["PlayerColor", "Coord", "Direction", "GrowAction", "MoveAction"]
    expected = "MoveAction(coord, directions) or GrowAction()"

    def __init__(self, strict, setup):
        super().__init__(strict, setup)
        self.ways = {way.name.replace("_", "").upper(): way for way in self.game.Direction}

    def install(self):
        """The adapter has what the course's package offered."""
        exec(compile(COURSE, OWN_FILE, "exec"), globals())
        install_referee()

    def action(self, wire):
        """Returns an action as agents get it."""
        if wire["type"] == "grow":
            return self.game.GrowAction()
        ways = tuple(self.ways[way.replace("_", "")] for way in wire["directions"])
        return self.game.MoveAction(self.game.Coord(*wire["from"]), ways)

    def refusal(self, action):
        """What the course's board said about an action of wrong types, or None."""
        game = self.game
        if isinstance(action, game.GrowAction):
            return None
        if not isinstance(action, game.MoveAction):
            return f"Unknown action {clipped(action, str)}"
        if type(action) is not game.MoveAction:
            return f"Action '{clipped(action, str)}' is not a MOVE action object."
        for name in ("coord", "directions"):
            if not hasattr(action, name):
                return f"Action '{clipped(action, str)}' is missing '{name}' attribute."
        if type(action.coord) is not game.Coord:
            return f"'{clipped(action.coord, str)}' is not a valid coordinate."
        if type(action.directions) not in (tuple, list):
            return f"Action '{clipped(action, str)}' has invalid directions object."
        wrong = [way for way in action.directions if type(way) is not game.Direction]
        return f"'{clipped(wrong[0], str)}' is not a valid direction." if wrong else None

    def wire(self, action):
        """Returns an action as the referee gets it."""
        if self.strict and self.refusal(action):
            raise NotAnAction
        kinds = {kind.__name__ for kind in type(action).__mro__}
        if "GrowAction" in kinds:
            return {"type": "grow"}
        if "MoveAction" not in kinds:
            raise NotAnAction
        coord, ways = action.coord, action.directions
        ways = ways if isinstance(ways, (tuple, list)) else [ways]
        names = [self.wire_way(way) for way in ways]
        return {"type": "move", "from": [whole(coord.r), whole(coord.c)], "directions": names}

    @staticmethod
    def wire_way(way):
        """Returns a direction as the referee gets it: `DownLeft` is `DOWN_LEFT`."""
        inner = "".join(f"_{letter}" if letter.isupper() else letter for letter in way.name[1:])
        return (way.name[0] + inner).upper()


class Year(Objects):
    """The agents of any year since 2023 whose game is a program with the course's actions."""

    other = ("it isn't that of 2023 or later. Until 2022 agents exchanged tuples, whose meaning differs from year to year: "
             "write a bot that imports the agent and translates them")

    def __init__(self, strict, setup):
        super().__init__(strict, setup)
        scope = {"__name__": "fields"}
        exec(compile(FIELDS, OWN_FILE, "exec"), scope)
        kinds = [kind for kind in vars(self.game).values()
                 if isinstance(kind, type) and kind.__name__.endswith("Action") and hasattr(kind, "__dataclass_fields__")]
        self.kinds = scope["ActionClasses"](kinds)
        self.expected = " or ".join(f"{kind.__name__}(..)" for kind in kinds)

    def tell(self, seat, number, action):
        """Tells the agent of an action; in 2023 the method was called `turn`."""
        name = "update" if hasattr(seat.agent, "update") else "turn"
        seat.call(name, seat.colours[number], action)

    def action(self, wire):
        """Returns an action as agents get it."""
        return self.kinds.from_json(wire)

    def wire(self, action):
        """Returns an action as the referee gets it."""
        try:
            return self.kinds.to_json(action)
        except KeyError:
            raise NotAnAction from None


class Chexers(Form):
    """The players of 2019: tuples, and no keyword arguments. The course accepted nothing that this doesn't."""

    classes = ["Player", "ExamplePlayer", "Agent"]
    expected = '("MOVE", ((q, r), (q, r))), ("JUMP", ..), ("EXIT", (q, r)) or ("PASS", None)'

    def colour(self, seat):
        """Returns a colour as players get it."""
        return seat["colour"]

    def action(self, wire):
        """Returns an action as players get it."""
        name = wire["type"].upper()
        if name == "PASS":
            return (name, None)
        if name == "EXIT":
            return (name, tuple(wire["from"]))
        return (name, (tuple(wire["from"]), tuple(wire["to"])))

    def wire(self, action):
        """Returns an action as the referee gets it; the course accepted only exactly these tuples."""
        name, where = action
        if name in ("MOVE", "JUMP"):
            (from_q, from_r), (to_q, to_r) = where
            start, end = [whole(from_q), whole(from_r)], [whole(to_q), whole(to_r)]
            wire = {"type": name.lower(), "from": start, "to": end}
        elif name == "EXIT":
            wire = {"type": "exit", "from": [whole(number) for number in where]}
        else:
            wire = {"type": "pass"}
        if self.action(wire) != action:
            raise NotAnAction
        return wire


def import_numpy():
    """As in the course, neither its time nor its memory is the agent's."""
    try:
        importlib.import_module("numpy")
    except Exception:  # A missing or broken one is the trouble of who needs it.
        pass


def stand_for_referee():
    """Lets the folder's own `referee.game` be imported without the rest of the course's program, whose
    `__init__` imports its server and what that needs."""
    import types

    package = types.ModuleType("referee")
    package.__path__ = [os.path.join(FOLDER, "referee")]
    package.__file__ = os.path.join(FOLDER, "referee", "__init__.py")
    sys.modules["referee"] = package


GAMES = {"freckers": Freckers, "chexers": Chexers}
# Any other game.
OTHERS = Year
