"""Rules that exist already, as a class whose objects change with every move.

`ClassGame` makes a `referee_kit.game.Game` of them. It needs Python 3.8 and no packages.
"""
import sys
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from .fields import ActionClasses, is_cell, is_enum, member_of
from .game import (Action, Game, Illegal, Json, RulesError, State, Turn, _to_json, boolean, cell,
                   cells, choice, form, integer, string, text)


class ClassGame(Game):
    """Rules that exist as a class whose objects change, and actions that are dataclasses.

    Override `board`, `to_move` and `ending`; the rest has a default for the classes of COMP30024:
    `apply_action`, `turn_count` and `render`. The state is the setup and the list of actions: a
    board is made by playing them again, and recent boards are kept. Any exception of a move is a
    refusal if the turn count is unchanged, else the rules have failed.

    In JSON, an action is an object with the fields of its dataclass: see `ActionClasses`.
    """
    #: The dataclasses of actions; `forms` are made from their fields.
    action_classes: Sequence[type] = ()
    #: Groups of fields whose order doesn't matter, such as [("c1", "c2", "c3", "c4")]: sorted.
    unordered: Sequence[Sequence[str]] = ()
    #: How many recent boards are kept.
    boards_kept = 16

    def __init__(self) -> None:
        self._classes = ActionClasses(self.action_classes)
        if not self.forms:
            self.forms = [_class_form(name, *parts) for name, parts in self._classes.parts.items()]
        self._kept: Dict[str, Tuple[Any, Turn]] = {}
        self._prepared: Optional[Json] = None

    def board(self, setup: Json) -> Any:
        """A new board. May raise Illegal."""
        raise NotImplementedError

    def prepare(self, setup: Json) -> None:
        """Called before a board with another setup is used: sets constants, see `set_constant`."""

    def apply(self, board: Any, action: Any) -> None:
        """Plays an action on the board, or raises an exception."""
        board.apply_action(action)

    def copied(self, board: Any) -> Any:
        """A copy of a board, where that is faster than to play all its moves again; None is no copy."""
        return None

    def turn_count(self, board: Any) -> Any:
        """How many turns were played; whatever changes with every move will do."""
        return board.turn_count

    def to_move(self, board: Any) -> Any:
        """The seat to move, or `chance(..)`."""
        raise NotImplementedError

    def ending(self, board: Any) -> Optional[Json]:
        """`over(..)`, or None while the game goes on. Called once a turn."""
        raise NotImplementedError

    def legal(self, board: Any) -> Optional[Iterable[Any]]:
        """Every legal action, in any order. Leave it out if there are too many to list."""
        return None

    def picture(self, board: Any) -> Json:
        """The picture of a board: by default the text of its `render`."""
        return text(board.render())

    def board_of(self, state: State) -> Any:
        """The board of a state, for methods such as `estimate` and `position`; it must not be changed."""
        return self._look(state)[0]

    def can_list(self) -> bool:
        return (type(self).legal is not ClassGame.legal
                or type(self).choices is not Game.choices)

    def start(self, setup: Json) -> State:
        state = {"setup": setup, "moves": []}
        self._look(state)
        return state

    def turn(self, state: State) -> Turn:
        return self._look(state)[1]

    def actions(self, state: State) -> Optional[Iterable[Action]]:
        legal = self.legal(self.board_of(state))
        if legal is None:
            return None
        listed = {}
        for action in legal:
            in_json = self._sorted(self.to_json(action))
            listed[_to_json(in_json)] = in_json
        return [listed[written] for written in sorted(listed)]

    def complete(self, state: State, action: Action) -> Action:
        return self._sorted(action)

    def play(self, state: State, action: Action) -> State:
        # The board leaves the kept ones first: whatever a refused move did to it is gone with it.
        board = self._take(state)
        before = self.turn_count(board)
        try:
            self.apply(board, self.from_json(action))
        except Exception as error:
            if self.turn_count(board) != before:
                raise
            words = " ".join(str(error).split()).rstrip(".")
            raise Illegal(words or type(error).__name__) from error
        state = {"setup": state["setup"], "moves": state["moves"] + [action]}
        self._keep(state, board)
        return state

    def view(self, state: State) -> Json:
        return self.picture(self.board_of(state))

    def to_json(self, action: Any) -> Action:
        """An action object as JSON."""
        return self._classes.to_json(action)

    def from_json(self, action: Action) -> Any:
        """The action object for JSON."""
        return self._classes.from_json(action)

    def _sorted(self, action: Action) -> Action:
        for group in self.unordered:
            names = [name for name in group if name in action]
            values = sorted(action[name] for name in names)
            action = dict(action, **dict(zip(names, values)))
        return action

    def _set(self, setup: Json) -> None:
        if setup != self._prepared:
            self.prepare(setup)
            self._prepared = setup

    def _take(self, state: State) -> Any:
        """The board of a state, which the caller may change."""
        self._set(state["setup"])
        kept = self._kept.pop(_to_json(state), None)
        if kept:
            copied = self.copied(kept[0])
            if copied is None:
                return kept[0]
            self._kept[_to_json(state)] = kept
            return copied
        board = self.board(state["setup"])
        for action in state["moves"]:
            self.apply(board, self.from_json(action))
        return board

    def _look(self, state: State) -> Tuple[Any, Turn]:
        """The board of a state, to look at."""
        self._set(state["setup"])
        return self._kept.get(_to_json(state)) or self._keep(state, self._take(state))

    def _keep(self, state: State, board: Any) -> Tuple[Any, Turn]:
        ending = self.ending(board)
        kept = board, self.to_move(board) if ending is None else ending
        while len(self._kept) >= self.boards_kept:
            del self._kept[next(iter(self._kept))]
        self._kept[_to_json(state)] = kept
        return kept


def set_constant(package: str, name: str, value: Any) -> None:
    """Sets a constant in every loaded module of a package that has it, imported by name or not."""
    for path, module in list(sys.modules.items()):
        if (path == package or path.startswith(package + ".")) and hasattr(module, name):
            setattr(module, name, value)


def _class_form(name: str, kind: type, parts: List[Tuple[str, str, Any]]) -> Json:
    declared = [_declare(field, hint) for field, _, hint in parts]
    example = {field["name"]: value for field, value in declared}
    text = " ".join([name] + ["{%s}" % field for field in example])
    written = not (kind.__doc__ or "").startswith(kind.__name__ + "(")  # By dataclasses.
    meaning = kind.__doc__.strip().split("\n")[0] if written and kind.__doc__ else name
    return form(name, text, *(field for field, _ in declared), example=example, meaning=meaning)


def _declare(name: str, hint: Any) -> Tuple[Json, Any]:
    """The field of an action for a type of the class, with an example."""
    member = member_of(hint)
    if is_cell(hint):
        return cell(name), [0, 0]
    if is_cell(member):
        return cells(name), [[0, 0]]
    if is_enum(hint):
        names = [value.name for value in hint]
        return choice(name, names), names[0]
    if is_enum(member):
        return string(name, 1000), next(iter(member)).name
    plain = {bool: (boolean(name), False), int: (integer(name, -1000000, 1000000), 0),
             str: (string(name, 1000), "")}
    if hint not in plain:
        raise RulesError("no field of an action is for `%s: %s`: write `forms`, `to_json` and "
                         "`from_json` yourself" % (name, hint))
    return plain[hint]
