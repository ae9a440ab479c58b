"""How the dataclasses of a course look in JSON, for its rules and for its agents.

It needs Python 3.8 and no packages, and is part of the adapter for agents, too.
"""
import collections.abc
import enum
import functools
import operator
import typing
from typing import Any, Dict, Iterable, List, Tuple


class ActionClasses:
    """The dataclasses of a game's actions.

    In JSON, an action is an object with the fields of its dataclass; PlaceAction has the type
    "place". A dataclass of two integers is a cell, a member of an Enum its name, several such
    members a string of names with spaces between.
    """

    def __init__(self, kinds: Iterable[type]) -> None:
        self.parts = {type_name(kind): (kind, fields_of(kind)) for kind in kinds}

    def to_json(self, action: Any) -> Dict[str, Any]:
        """An action object as JSON."""
        name = type_name(type(action))
        return dict({field: to_field(hint, getattr(action, attribute))
                     for field, attribute, hint in self.parts[name][1]}, type=name)

    def from_json(self, action: Dict[str, Any]) -> Any:
        """The action object for JSON."""
        kind, parts = self.parts[action["type"]]
        return kind(*(from_field(hint, action[field]) for field, _, hint in parts))


def whole(value: Any) -> int:
    """An integer, also as 1.0 and as one of numpy's. Raises ValueError for anything else."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(value)
    return operator.index(value)


def type_name(kind: type) -> str:
    """PlaceAction is "place", SwapSides "swap_sides"."""
    name = kind.__name__
    name = name[:-len("Action")] if name.endswith("Action") and name != "Action" else name
    return "".join("_" + c.lower() if c.isupper() and n else c.lower() for n, c in enumerate(name))


@functools.lru_cache(maxsize=None)
def fields_of(kind: Any) -> List[Tuple[str, str, Any]]:
    """The fields of a dataclass: their names in JSON and in the class, and their types."""
    import dataclasses  # Takes longer than all other imports, and most games don't need it.
    if not dataclasses.is_dataclass(kind):
        raise TypeError("%s is no dataclass: write `forms`, `to_json` and `from_json` yourself"
                        % getattr(kind, "__name__", kind))
    hints = typing.get_type_hints(kind)
    return [(field.name.lstrip("_"), field.name, hints[field.name])
            for field in dataclasses.fields(kind)]


def is_cell(hint: Any) -> bool:
    return hasattr(hint, "__dataclass_fields__") and [
        kind for _, _, kind in fields_of(hint)] == [int, int]


def member_of(hint: Any) -> Any:
    """What a list, tuple or set of one kind of value holds, or None. It may also stand alone."""
    inside = [kind for kind in getattr(hint, "__args__", ()) if kind is not Ellipsis]
    for kind in inside:
        if member_of(kind) in inside:  # Union[Way, Tuple[Way, ...]]
            return member_of(kind)
    several = getattr(hint, "__origin__", None) in _SEVERAL and len(set(inside)) == 1
    return inside[0] if several else None


_SEVERAL = (list, tuple, set, frozenset, collections.abc.Sequence)


def is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def to_field(hint: Any, value: Any) -> Any:
    member = member_of(hint)
    if isinstance(value, enum.Enum):
        return value.name
    if member is not None:
        parts = [to_field(member, part) for part in value]
        parts = sorted(parts) if isinstance(value, (set, frozenset)) else parts
        return " ".join(parts) if is_enum(member) else parts
    if is_cell(hint):
        return [whole(getattr(value, attribute)) for _, attribute, _ in fields_of(hint)]
    return value


def from_field(hint: Any, value: Any) -> Any:
    member = member_of(hint)
    if is_enum(hint):
        return hint[value]
    if member is not None:
        parts = value.split() if isinstance(value, str) else value
        several = [from_field(member, part) for part in parts]
        kept = getattr(hint, "__origin__", None)
        return kept(several) if kept in (list, set, frozenset) else tuple(several)
    return hint(*value) if is_cell(hint) else value
