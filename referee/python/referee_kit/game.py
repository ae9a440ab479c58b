"""The rules of a game for Referee, written in Python.

Write a class that is a `Game`, call its `main()` at the end of `rules.py`, and put `game.toml`
beside it. The referee gives this package to every game program; it needs Python 3.8 and nothing
else. It reads and writes the messages of docs/game-programs.md; your class sees only states and
actions.

A *state* is any value that JSON can hold. It goes through JSON after every move, so tuples become
lists, keys become strings, and nothing else is remembered between two calls.
"""
import json
import os
import sys
import traceback
from typing import Any, BinaryIO, Collection, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from .fields import whole

State = Any
Action = Dict[str, Any]
Json = Dict[str, Any]
Turn = Union[int, Sequence[int], Json]
Cell = Sequence[int]


class Illegal(Exception):
    """Raise it in `play`, `complete` or `start` with the rule: Illegal("the cell is occupied")."""


class RulesError(Exception):
    """The rules returned a value that is not allowed."""


# The values of a turn, other than the number of a seat.

def over(places: Sequence[int], reason: str, scores: Optional[Sequence[float]] = None) -> Json:
    """The game is over. `places` has the place of each seat, from 1; equal places are a draw."""
    return {"over": _given(places=places, reason=reason, scores=scores)}


def won_by(seat: int, seats: int, reason: str, scores: Optional[Sequence[float]] = None) -> Json:
    """The game is over: `seat` has place 1, the other seats share place 2."""
    return over([1 if other == seat else 2 for other in range(seats)], reason, scores)


def chance(weights: Sequence[int], labels: Optional[Sequence[str]] = None) -> Json:
    """The referee draws one of the outcomes, with these weights, and calls `draw`."""
    return {"chance": _given(weights=weights, labels=labels)}


# What a game is: fields of its setup and of its actions, forms of actions, pieces, reasons.

def _given(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def integer(name: str, low: int, high: int, default: Optional[int] = None,
            meaning: str = "") -> Json:
    """An integer from low to high. A field of the setup has a default, one of an action none."""
    return _given(type="integer", name=name, min=low, max=high, default=default, meaning=meaning)


def choice(name: str, values: Sequence[str], default: Optional[str] = None,
           meaning: str = "") -> Json:
    """One of these strings. A field of the setup has a default, one of an action none."""
    return _given(type="choice", name=name, values=values, default=default, meaning=meaning)


def boolean(name: str, default: Optional[bool] = None, meaning: str = "") -> Json:
    """True or false. A field of the setup has a default, one of an action none."""
    return _given(type="boolean", name=name, default=default, meaning=meaning)


def string(name: str, longest: int) -> Json:
    """A field of an action: a string of at most `longest` characters."""
    return {"type": "string", "name": name, "max": longest}


def cell(name: str) -> Json:
    """A field of an action: a cell, [row, column]."""
    return {"type": "cell", "name": name}


def cells(name: str) -> Json:
    """A field of an action: a list of cells."""
    return {"type": "cells", "name": name}


def optional(field: Json) -> Json:
    """A field that an action may lack: optional(cell("to"))."""
    return dict(field, optional=True)


def form(kind: str, text: str, *fields: Json, example: Optional[Json] = None,
         meaning: str = "") -> Json:
    """A form of actions, {"type": kind, ..}. `text` is how people write it: "{from}-{to}"."""
    whole = dict(example or {}, type=kind)
    return {"type": kind, "text": text, "fields": list(fields), "example": whole,
            "meaning": meaning}


def piece(name: str, colour: str, text: Optional[str] = None) -> Json:
    """A kind of piece: its name, its colour ("red" or "#rrggbb"), and a letter to show on it."""
    return _given(name=name, colour=colour, text=text)


def reason(name: str, text: str, meaning: str = "") -> Json:
    """A reason for the end. `text` completes "NAME wins: .." or "draw: .."."""
    return {"name": name, "text": text, "meaning": meaning or text}


class View(Json):
    """A picture of the board: `grid(3, 3).piece([0, 1], "cross").last([0, 1])`."""

    def _add(self, key: str, entry: Json) -> "View":
        self.setdefault(key, []).append(entry)
        return self

    def piece(self, at: Cell, name: str, text: Optional[str] = None) -> "View":
        """A piece on a cell, with a text of its own, such as a height."""
        return self._add("pieces", _given(at=at, piece=name, text=text))

    def ground(self, at: Cell, colour: str) -> "View":
        """A mark on the cell itself."""
        return self._add("ground", {"at": at, "colour": colour})

    def edge(self, colour: str, cells: Sequence[Cell], outward: Sequence[int]) -> "View":
        """A border in a colour: its cells, and the step from each to its mark outside the board, in
        half-cells to the right and rows downwards."""
        return self._add("edges", {"colour": colour, "cells": list(cells), "outward": outward})

    def last(self, *path: Cell) -> "View":
        """The cells that the last action's piece went through."""
        self["last"] = list(path)
        return self

    def chain(self, *path: Cell) -> "View":
        """The cells that decided the game, such as a winning line."""
        self["chain"] = list(path)
        return self

    def figure(self, name: str, value: object, piece: Optional[str] = None) -> "View":
        """A number beside the board, such as captured stones, of the owner of a piece."""
        return self._add("figures", _given(name=name, value=str(value), piece=piece))

    def row(self, name: str, items: Sequence[str], piece: Optional[str] = None) -> "View":
        """Items beside the board, such as a hand."""
        return self._add("rows", _given(name=name, items=items, piece=piece))

    def text(self, text: str) -> "View":
        """The board as plain text, where no picture can be shown."""
        self["text"] = text
        return self


def grid(rows: int, columns: int) -> View:
    """A rectangle of cells [row, column]."""
    return View(shape={"grid": [rows, columns]})


def square(size: int) -> View:
    """A square of cells [row, column]."""
    return View(shape={"square": size})


def diamond(size: int) -> View:
    """A diamond of hexagons [row, column], with [0, 0] at the top."""
    return View(shape={"diamond": size})


def triangle(size: int) -> View:
    """Rows of 1, 2, .. hexagons [row, column]."""
    return View(shape={"triangle": size})


def hexagon(radius: int) -> View:
    """A hexagon of hexagons in axial coordinates [q, r], with [0, 0] in the middle."""
    return View(shape={"hexagon": radius})


def star(size: int) -> View:
    """A star with six points of `size` rows each, in axial coordinates [q, r]."""
    return View(shape={"star": size})


def points(places: Sequence[Sequence[int]], lines: Sequence[Sequence[int]] = (),
           names: Sequence[str] = ()) -> View:
    """Points at these places, in half-cells to the right and downwards, and lines between them by
    number. The cell of a point is [number, 0]."""
    return View(shape={"points": {"places": places, "lines": lines, "names": names}})


def text(text: str) -> View:
    """A board as plain text alone."""
    return View(text=text)


class Game:
    """The rules of a game. Set the attributes, override the methods, and call `main()`.

    Every method is a function of its arguments alone: it draws no random numbers, reads no clock
    and keeps nothing. Equal calls return equal values, in every process. Only `play`, `retire` and
    `draw` may change the state that they get; they return the next one.
    """
    #: Lowercase letters, digits and hyphens.
    name: str = ""
    title: str = ""
    summary: str = ""
    #: What each seat plays, in order: names of `pieces`.
    seats: Sequence[str] = ()
    #: The possible numbers of seats; by default only the length of `seats`.
    seat_counts: Sequence[int] = ()
    #: The fields of the setup: `integer(..)`, `choice(..)`, `boolean(..)`, each with a default.
    setup: Sequence[Json] = ()
    #: The forms of actions: `form(..)`.
    forms: Sequence[Json] = ()
    #: `piece(..)` and `reason(..)`.
    pieces: Sequence[Json] = ()
    reasons: Sequence[Json] = ()
    #: {"unit": "stones", "fewer_is_better": False}, if `over` has scores.
    score: Optional[Json] = None
    #: How people name cells: "letter_number" (b4) or "pair" (3,1).
    labels: Union[str, Sequence[str]] = "letter_number"
    #: No game has more moves than this, draws included.
    plies_max: int = 1000

    def start(self, setup: Json) -> State:
        """The state at the start. `setup` has every field. May raise Illegal."""
        raise NotImplementedError

    def sides(self, setup: Json) -> Sequence[str]:
        """What each seat plays in a game with this setup: names of `pieces`."""
        return self.seats

    def turn(self, state: State) -> Turn:
        """The seat to move, or `over(..)`, or `chance(..)`, or a list of seats that choose at once."""
        raise NotImplementedError

    def actions(self, state: State) -> Optional[Iterable[Action]]:
        """Every legal action, in a fixed order. Leave it out if there are too many to list."""
        return None

    def complete(self, state: State, action: Action) -> Action:
        """The action as it is recorded, if it can be written in several ways. May raise Illegal."""
        return action

    def play(self, state: State, action: Action) -> State:
        """The state after an action of the seat to move. Raises Illegal if a rule forbids it."""
        raise NotImplementedError

    def choices(self, state: State, seat: int) -> Optional[Iterable[Action]]:
        """Where `turn` returns a list: every legal action of one of its seats, in a fixed order. Leave it out if there are
        too many to list."""
        return None

    def check(self, state: State, seat: int, action: Action) -> None:
        """Where `turn` returns a list: raises Illegal if a rule forbids a seat this action. By default, all but `choices`
        are forbidden."""
        if action not in (after_json(list(self.choices(state, seat) or ()))):
            raise Illegal("seat %d can't choose this" % seat)

    def resolve(self, state: State, actions: Dict[int, Action]) -> State:
        """Where `turn` returns a list: the state after its seats have chosen these actions. One that has left in the
        meantime has none."""
        raise NotImplementedError

    def retire(self, state: State, seat: int) -> State:
        """The state after a seat has left a game of three or more seats."""
        raise NotImplementedError

    def draw(self, state: State, outcome: int) -> State:
        """The state after the referee has drawn the outcome with this number, from 0."""
        raise NotImplementedError

    def position(self, state: State) -> Json:
        """What agents are told of the state: by default all of it."""
        return state if isinstance(state, dict) else {"state": state}

    def seen(self, state: State) -> Sequence[Json]:
        """What each seat may know of the state, in the order of the seats: write it if seats know different things. The
        rest is hidden from agents; `position` and `view` are for people who may see all."""
        raise NotImplementedError

    def told(self, state: State, move: Json) -> Optional[Sequence[Any]]:
        """What each seat is told of a move in this state, None for nothing, where `seen` is written. A move is {"seat":
        seat, "action": action} or {"draw": outcome}. By default, all are told the actions, and nothing of draws."""
        return None

    def views(self, state: State) -> Sequence[Json]:
        """The picture that each seat may see, where `seen` is written."""
        return [text(json.dumps(seen, sort_keys=True, indent=1)) for seen in self.seen(state)]

    def view(self, state: State) -> Json:
        """The picture: `grid(..)` or another shape, or `text(..)`."""
        return text(json.dumps(self.position(state), sort_keys=True, indent=1))

    def notes(self, state: State) -> Iterable[str]:
        """Remarks for people, such as that a start can't be solved."""
        return ()

    def estimate(self, state: State) -> Sequence[float]:
        """How good the state is for each seat, for agents that ask for it."""
        raise NotImplementedError

    @classmethod
    def main(cls) -> None:
        """Answers the referee until it closes the pipe."""
        serve(cls())

    def can_list(self) -> bool:
        """Whether the actions are listed: by default, whether the class has `actions` or `choices`."""
        return (type(self).actions is not Game.actions
                or type(self).choices is not Game.choices)

    def describe(self) -> Json:
        """What `describe` answers, made from the attributes and from which methods there are."""
        names = [piece["name"] for piece in self.pieces]
        if not self.seats or not set(self.seats) <= set(names):
            raise RulesError("`seats` is %s, but `pieces` has %s" % (list(self.seats), names))
        described: Json = {key: getattr(self, key) for key in (
            "name", "summary", "setup", "pieces", "reasons", "score", "labels", "plies_max")}
        described.update(
            title=self.title or self.name, actions=self.forms, lists=self.can_list(),
            seats=self.seat_counts or [len(self.seats)],
            estimates=type(self).estimate is not Game.estimate,
            chance=type(self).draw is not Game.draw)
        if type(self).resolve is not Game.resolve:
            described["simultaneous"] = True
        if type(self).seen is not Game.seen:
            described["hidden"] = True
        return described


def own_streams() -> Tuple[BinaryIO, BinaryIO]:
    """The lines of the referee, and where to answer. All other output goes to stderr from now on."""
    lines, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.flush()  # What was printed before.
    sys.stdout = sys.stderr
    return lines, out


def after_json(value: State) -> State:
    """The value as it is after it went through JSON."""
    return json.loads(_encode(value, "the state"))


def serve(game: Game) -> None:
    """Answers the referee's requests on stdin until its end. All other output goes to stderr."""
    lines, out = own_streams()
    answers = _Answers(game)
    for line in lines:
        if line.strip():
            out.write(answers.to(line))
            out.flush()


class Choice:
    """A state in which seats choose at once, as far as they have chosen. It is written as the state of the rules itself until
    the first of them has."""
    KEY = "referee_choice"

    def __init__(self, game: Game, state: State) -> None:
        self.game = game
        kept = state.get(self.KEY) if isinstance(state, dict) and len(state) == 1 else None
        #: The rules' own state, who chooses, who has chosen what, and who has left.
        self.state = kept["state"] if kept else state
        turn = game.turn(self.state)
        #: Whether several seats choose, or could have.
        self.is_open = isinstance(turn, (list, tuple))
        self.turn: Json = {"of": sorted(turn)} if isinstance(turn, (list, tuple)) else _turn(turn)
        self.chosen: List[Any] = kept["chosen"] if kept else []
        self.left: List[int] = kept["left"] if kept else []
        done = [seat for seat, _ in self.chosen] + self.left
        if done:
            self.turn = {"of": [seat for seat in self.turn["of"] if seat not in done]}

    def actions(self, seat: int) -> Optional[Iterable[Action]]:
        """Every legal action of a seat that is to move."""
        return self.game.choices(self.state, seat) if self.is_open else self.game.actions(self.state)

    def play(self, seat: int, action: Action) -> State:
        """The state after an action of a seat that is to move."""
        if not self.is_open:
            return self.game.play(self.state, action)
        self.game.check(self.state, seat, action)
        self.chosen = sorted(self.chosen + [[seat, action]], key=lambda one: int(one[0]))
        return self._after(seat)

    def retire(self, seat: int) -> State:
        """The state after a seat has left."""
        if not self.is_open:
            return self.game.retire(self.state, seat)
        self.left = sorted(self.left + [seat])
        return self._after(seat)

    def _after(self, seat: int) -> State:
        if [other for other in self.turn["of"] if other != seat]:
            kept = {"state": self.state, "chosen": self.chosen, "left": self.left}
            return {self.KEY: kept}
        state = self.state
        for leaving in self.left:
            state = after_json(self.game.retire(state, leaving))
        turn = self.game.turn(state)
        if not (isinstance(turn, dict) and "over" in turn):
            chosen = {seat: action for seat, action in self.chosen if seat not in self.left}
            state = self.game.resolve(state, chosen)
        return state


class _Malformed(Exception):
    """An action is not as its form declares it."""


class _Answers:
    """Answers requests for a game, one line to one line. Keeps nothing between them."""

    def __init__(self, game: Game) -> None:
        self.game, self.lists = game, game.can_list()
        self.is_simultaneous = type(game).resolve is not Game.resolve
        self.is_hidden = type(game).seen is not Game.seen
        self.forms = {form["type"]: {field["name"]: field for field in form["fields"]}
                      for form in game.forms}

    def to(self, line: bytes) -> bytes:
        number = None
        try:
            request = json.loads(line.decode("utf-8"))
            number = request["id"]
            if request["type"] == "walk":
                return self.walk(request).encode() + b"\n"
            if request["type"] != "describe" or request["protocol"] != 1:
                raise RulesError("this request is not part of protocol 1")
            answer = dict(self.game.describe(), id=number, type="described")
            return _encode(answer, "the description").encode() + b"\n"
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            answer = {"id": number, "type": "failed", "text": _explain(error, self.game)}
            return _encode(answer, "the failure").encode() + b"\n"

    def walk(self, request: Json) -> str:
        want, every = request.get("want", ()), request.get("at") == "all"
        moves = request.get("moves", ())
        plies: List[str] = []
        recorded: List[Optional[Action]] = []
        seats = ""
        if "setup" in request:
            try:
                state = self.game.start(request["setup"])
            except Illegal as refusal:
                return _refusal(request, 0, "setup", refusal)
            seats = ',"seats":' + _encode(self.game.sides(request["setup"]), "`sides`")
            state, written = _through_json(state, "start")
        else:
            # Its text is only for a ply of its own.
            state = request["state"]
            written = _encode(state, "the state") if every or not moves else ""
        choice = Choice(self.game, state)
        before: Optional[Tuple[State, Json]] = None
        for number, move in enumerate(moves):
            if every:
                plies.append(self.ply(choice, state, written, want, before))
            try:
                if "told" in want:
                    before = after_json(choice.state), move
                method, state, action = self.after(choice, move)
                if before and action is not None:
                    before = before[0], dict(move, action=action)
            except Illegal as refusal:
                return _refusal(request, number, "illegal", refusal)
            except _Malformed as refusal:
                return _refusal(request, number, "malformed", refusal)
            recorded.append(action)
            state, written = _through_json(state, method)
            choice = Choice(self.game, state)
        plies.append(self.ply(choice, state, written, want, before))
        return '{"id":%s,"plies":[%s],"recorded":%s%s,"type":"walked"}' % (
            _encode(request["id"], "id"), ",".join(plies), _encode(recorded, "`complete`"), seats)

    def after(self, choice: Choice, move: Json) -> Tuple[str, State, Optional[Action]]:
        """The method that made the next state, that state, and the action as recorded."""
        turn = choice.turn
        if "over" in turn:
            raise Illegal("the game is over")
        if "retire" in move:
            return "retire", choice.retire(move["retire"]), None
        if "draw" in move:
            weights = turn.get("chance", {}).get("weights", ())
            if not 0 <= move["draw"] < len(weights):
                raise Illegal("%s is none of %d outcomes to draw" % (move["draw"], len(weights)))
            return "draw", self.game.draw(choice.state, move["draw"]), None
        if move["seat"] not in turn.get("of", ()):
            raise Illegal("seat %s is not to move" % move["seat"])
        action = self.game.complete(choice.state, self.checked(move["action"]))
        method = "resolve" if choice.is_open else "play"
        return method, choice.play(move["seat"], action), action

    def checked(self, action: Any) -> Action:
        """The action with its fields as declared: 1.0 is 1. Refuses what no form has."""
        kind = action.get("type") if isinstance(action, dict) else None
        fields = self.forms.get(kind) if isinstance(kind, str) else None
        if fields is None:
            raise _Malformed("`type` must be one of: %s" % ", ".join(self.forms))
        try:
            return _as_declared(fields, action)
        except ValueError as error:
            raise _Malformed(str(error)) from None

    def ply(self, choice: Choice, whole: State, written: str, want: Collection[str],
            before: Optional[Tuple[State, Json]]) -> str:
        """One entry of `plies`, its keys sorted. `before`: the state and the move that led to it."""
        game, state, parts = self.game, choice.state, []
        if "actions" in want:
            parts.append('"actions":' + _encode(self.every_action(choice), "`actions`"))
        if "estimate" in want and type(game).estimate is not Game.estimate:
            estimate = [int(round(value)) for value in game.estimate(state)]
            parts.append('"estimate":' + _encode(estimate, "`estimate`"))
        if "notes" in want:
            parts.append('"notes":' + _encode(list(game.notes(state)), "`notes`"))
        if "position" in want:
            parts.append('"position":' + _encode(game.position(state), "`position`"))
        if "seen" in want and self.is_hidden:
            parts.append('"seen":' + _encode(list(game.seen(state)), "`seen`"))
        parts.append('"state":' + written)
        if "told" in want and self.is_hidden:
            parts.append('"told":' + _encode(self.told(state, before), "`told`"))
        parts.append('"turn":' + _encode(choice.turn, "`turn`"))
        if "view" in want:
            parts.append('"view":' + _encode(game.view(state), "`view`"))
        if "views" in want and self.is_hidden:
            parts.append('"views":' + _encode(list(game.views(state)), "`views`"))
        if _encode(whole, "the state") != written:
            raise RulesError("a method changed the state that it should only read")
        return "{" + ",".join(parts) + "}"

    def told(self, state: State, before: Optional[Tuple[State, Json]]) -> List[Any]:
        """What each seat is told of the move before; None for nothing."""
        told = self.game.told(*before) if before else None
        if told is not None:
            return list(told)
        action = before[1].get("action") if before else None
        return [action] * len(self.game.seen(state))

    def every_action(self, choice: Choice) -> Optional[List[Any]]:
        """The legal actions; None if they can't be listed. In a game with simultaneous moves a list for each seat to move."""
        lists = [self.listed(choice, seat) for seat in choice.turn.get("of", ())]
        if not self.is_simultaneous:
            return lists[0] if lists else []
        return None if None in lists else lists

    def listed(self, choice: Choice, seat: int) -> Optional[List[Action]]:
        """The legal actions of a seat; None if they can't be listed."""
        found = choice.actions(seat) if self.lists else None
        if found is None:
            return None
        if isinstance(found, (set, frozenset)):
            raise RulesError("what `actions` returned " + _NO_ORDER)
        listed = []
        for action in found:
            try:
                listed.append(self.checked(action))
            except _Malformed as refusal:
                raise RulesError("`actions` has %r: %s" % (action, refusal)) from None
        return listed


def _refusal(request: Json, move: int, kind: str, rule: Exception) -> str:
    return _encode({"id": request["id"], "type": "refused", "move": move, "kind": kind,
                    "rule": str(rule)}, "the refusal")


def _default(value: Any) -> Any:
    if hasattr(value, "tolist"):  # Numpy's numbers and arrays.
        return value.tolist()
    raise TypeError("%s is no type of JSON" % type(value).__name__)


_to_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False,
                            default=_default).encode


def _encode(value: Any, what: str) -> str:
    try:
        return _to_json(value)
    except (TypeError, ValueError) as error:
        # The innermost part that can't be written says best what is wrong.
        parts: Iterable[Tuple[Any, Any]] = ()
        if isinstance(value, dict):
            parts = value.items()
        elif isinstance(value, (list, tuple)):
            parts = enumerate(value)
        for key, part in parts:
            _encode(part, "%s[%r]" % (what, key))
        if isinstance(value, (set, frozenset)):
            raise RulesError("%s %s" % (what, _NO_ORDER)) from None
        raise RulesError("%s can't be written as JSON: %s" % (what, error)) from None


_NO_ORDER = "is a set, which has no order: make it a list, such as sorted(..)"


def _through_json(state: State, method: str) -> Tuple[State, str]:
    """The state as the next request will have it, and its text."""
    if state is None:
        raise RulesError("`%s` returned None: it has to return the state" % method)
    written = _encode(state, "the state that `%s` returned" % method)
    return json.loads(written), written


def _turn(turn: Turn) -> Json:
    if not isinstance(turn, dict):
        try:
            return {"of": [whole(turn)]}
        except ValueError:
            raise RulesError("`turn` returned %r: return a seat, over(..) or chance(..)"
                             % (turn,)) from None
    return turn


def _as_declared(form: Json, action: Action) -> Action:
    """The action with its fields as the form declares them. Raises ValueError if they aren't."""
    for name in action:
        if name != "type" and name not in form:
            raise ValueError("%s has no field `%s`" % (action["type"], name))
    checked = action
    for name, field in form.items():
        if name not in action:
            if field.get("optional"):
                continue
            raise ValueError("%s needs the field `%s`" % (action["type"], name))
        value = action[name]
        try:
            new = _field_as_declared(field, value)
        except ValueError:
            raise ValueError("`%s` must be %s" % (name, _EXPECTED[field["type"]] % field)) from None
        if new is not value:
            checked = dict(checked, **{name: new})
    return checked


_EXPECTED = {
    "cell": "a cell, two integers such as [0, 1]",
    "cells": "a list of cells such as [[0, 1], [0, 2]]",
    "integer": "an integer from %(min)s to %(max)s",
    "choice": "one of %(values)s",
    "string": "a string of at most %(max)s characters",
    "boolean": "true or false",
}


def _field_as_declared(field: Json, value: Any) -> Any:
    kind = field["type"]
    if kind == "cell":
        return _as_cell(value)
    if kind == "cells" and isinstance(value, (list, tuple)):
        return [_as_cell(part) for part in value]
    if kind == "integer" and field["min"] <= whole(value) <= field["max"]:
        return whole(value)
    right = (kind == "boolean" and isinstance(value, bool)
             or kind == "choice" and isinstance(value, str) and value in field["values"]
             or kind == "string" and isinstance(value, str) and len(value) <= field["max"])
    if not right:
        raise ValueError(value)
    return value


def _as_cell(value: Any) -> Any:
    if (type(value) is not list and type(value) is not tuple) or len(value) != 2:
        raise ValueError(value)
    if type(value[0]) is int and type(value[1]) is int:  # The usual case, for every listed action.
        return value
    return [whole(value[0]), whole(value[1])]


def _explain(error: BaseException, game: Game) -> str:
    """Type, message, and the file and line of the rules where it happened."""
    if isinstance(error, NotImplementedError) and error.__traceback__:
        last = traceback.extract_tb(error.__traceback__)[-1]
        if os.path.dirname(last.filename) == os.path.dirname(__file__):
            return "the game needs the method `%s`" % last.name
    said = str(error) if isinstance(error, RulesError) else "%s: %s" % (type(error).__name__, error)
    rules = getattr(sys.modules.get(type(game).__module__), "__file__", None) or __file__
    folder = os.path.dirname(os.path.abspath(rules)) + os.sep
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = os.path.abspath(frame.filename)
        if path.startswith(folder) and path != os.path.abspath(__file__):
            return "%s in %s:%d" % (said, path[len(folder):], frame.lineno or 0)
    return said
