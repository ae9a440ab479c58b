"""An agent for a game program: `run(choose)` plays matches.

`choose` gets a Position when it is the agent's turn, and returns an action. If the game's rules are
in Python and a copy of them is in the agent's folder, the agent can look ahead with them:
`run(choose, rules="game/rules.py")`. `referee new mybot --game ./game` makes such an agent. Needs
Python 3.8, and beside it only `referee_kit.game`.
"""
import json
import os
import random
import sys
from types import ModuleType
from typing import Any, Callable, List, Optional, Type

from .game import (Action, Choice, Game, Illegal, Json, RulesError, State, after_json,
                   own_streams)

# Modules of rules: the functions in them need their names as long as they live.
_loaded: List[ModuleType] = []


class Position:
    """A position in a match, or one that `after` leads to.

    seat, seats     your seat, from 0; everyone's: [{"seat": 0, "name": .., "colour": ..}, ..]
    setup           every field of the setup
    turn, left_ms   the number of the turn, and your milliseconds left, or None
    told            what the referee tells of the position, as the rules' `position` returns it
    heard           what it has told of moves, in a game with hidden information, as it came
    message         the referee's message `turn`; empty in positions that `after` leads to
    rules, state    the game's own rules and their state, or None without rules in Python
    """

    def __init__(self, hello: Json, rules: Optional[Game]) -> None:
        self.seat: int = hello["seat"]
        self.seats: List[Json] = hello["seats"]
        self.setup = {key: value for key, value in hello["setup"].items() if key != "position"}
        self.message: Json = {}
        self.rules, self.state, self.turn = rules, None, 0
        self.left_ms: Optional[int] = None
        self.told: Any = None
        self.heard: List[Json] = []
        if rules is not None:
            begun = hello["setup"].get("position")
            self.state = after_json(rules.start(self.setup) if begun is None else begun)

    def actions(self) -> List[Action]:
        """Every legal action; none if the seat to move isn't asked, such as after the end, or if
        the game lists none and its rules are not in the agent's folder."""
        if self.message.get("actions") is not None:
            return list(self.message["actions"])
        if self.rules is None and self.message:
            return []
        choice = self._own()
        mover = self._mover(choice)
        if mover is None or not choice.game.can_list():
            return []
        return list(after_json(list(choice.actions(mover) or ())))

    def after(self, action: Action) -> "Position":
        """The position after an action of the seat to move. Raises Illegal if a rule forbids it. Of seats that
        choose at once you are to move first, then the others in their order."""
        return self._played(self._mover(self._own()) or 0, action)

    def drawn(self, outcome: int) -> "Position":
        """The position after a draw."""
        choice = self._own()
        return self._with(choice.game.draw(choice.state, outcome))

    def to_move(self) -> Optional[int]:
        """The seat to move; None after the end, and before a draw."""
        return self._mover(self._own())

    def places(self) -> Optional[List[int]]:
        """The place of each seat, from 1, once the game is over."""
        over: Optional[Json] = self._own().turn.get("over")
        return list(over["places"]) if over else None

    def won_by(self, seat: int) -> bool:
        """Whether the game is over, and this seat alone has the first place."""
        places = self.places()
        return places is not None and places[seat] == 1 and places.count(1) == 1

    def estimate(self, seat: int) -> float:
        """How good the position is for a seat, if the rules estimate it."""
        choice = self._own()
        worth: float = choice.game.estimate(choice.state)[seat]
        return worth

    def _mover(self, choice: Choice) -> Optional[int]:
        seats: List[int] = choice.turn.get("of", [])
        return self.seat if self.seat in seats else seats[0] if seats else None

    def _played(self, seat: int, action: Action) -> "Position":
        choice = self._own()
        return self._with(choice.play(seat, choice.game.complete(choice.state, action)))

    def _retired(self, seat: int) -> "Position":
        return self._with(self._own().retire(seat))

    def _own(self) -> Choice:
        if self.rules is None:
            raise RulesError("the rules of this game are not in the agent's folder: "
                             "only `actions()` of the present turn is known")
        # A method may change the state that it gets.
        return Choice(self.rules, after_json(self.state))

    def _with(self, state: State) -> "Position":
        new: Position = object.__new__(type(self))
        new.__dict__.update(self.__dict__, state=after_json(state), message={}, told=None)
        return new


def load(path: str) -> Optional[Game]:
    """The rules in a file, which need not be written for that: `main` doesn't begin to serve. None
    if the file doesn't import the kit: then it would read the agent's stdin."""
    found: List[Type[Game]] = []
    path = os.path.abspath(path)
    with open(path, "rb") as file:
        source = file.read()
    if not any(line.lstrip().startswith((b"import referee_kit", b"from referee_kit"))
               for line in source.splitlines()):
        return None
    sys.path.insert(0, os.path.dirname(path))
    module = ModuleType("__main__")
    module.__file__ = path
    _loaded.append(module)
    serving = Game.__dict__["main"]
    setattr(Game, "main", classmethod(found.append))
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    finally:
        setattr(Game, "main", serving)
    if not found:
        raise RulesError("%s calls `main` of no game" % path)
    return found[-1]()


def run(choose: "Callable[[Position], Optional[Action]]", name: str = "bot",
        rules: Optional[str] = None) -> None:
    """Plays a match. `choose` returns an action, or None to resign. `rules` is a file, relative to
    the folder of the program; without it, the referee lists the actions."""
    lines, out = own_streams()

    def say(**message: Any) -> None:
        out.write(json.dumps(message, allow_nan=False).encode() + b"\n")
        out.flush()

    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    game = load(os.path.join(folder, rules)) if rules else None
    if game is not None and type(game).seen is not Game.seen:
        game = None  # Its state is hidden.
    position: Optional[Position] = None
    for line in lines:
        message = json.loads(line.decode("utf-8")) if line.strip() else {}
        kind = message.get("type")
        if kind == "hello":
            random.seed(message.get("seed"))
            position = Position(message, game)
            say(type="ready", name=name, want=["position", "actions"])
        elif kind == "over":
            break
        elif position is None:
            continue
        elif kind == "turn":
            position.turn, position.left_ms = message["turn"], message.get("left_ms")
            position.told, position.message = message.get("position"), message
            action = choose(position)
            if action is None:
                say(type="resign", turn=message["turn"])
            else:
                say(type="action", action=action, turn=message["turn"])
        elif kind == "told":
            position.heard.append(message)
        elif game is not None and kind == "played":
            position = position._played(message["seat"], message["action"])
        elif game is not None and kind == "drawn":
            position = position.drawn(message["outcome"])
        elif game is not None and kind == "retired" and len(position.seats) > 2:
            position = position._retired(message["seat"])


__all__ = ["run", "load", "Position", "Illegal", "Action"]
