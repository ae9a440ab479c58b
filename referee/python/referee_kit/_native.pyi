"""The native module. `referee_kit.games` and `referee_kit.env` document it."""
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union, final

from typing_extensions import TypeAlias, disjoint_base

from .games import View

__all__ = ["IllegalAction", "BadSetup", "RulesFailed", "Rules", "Game", "Batch", "rewards", "playouts"]

_Action: TypeAlias = Union[Dict[str, Any], str]

class IllegalAction(ValueError):
    """An action was refused. The text is the rule that it breaks; the game is unchanged."""

class BadSetup(ValueError):
    """There is no such game, or the setup was refused."""

class RulesFailed(RuntimeError):
    """The rules of a game program failed: the game can't go on."""

@final
class Rules:
    """A game that can be started."""

    @staticmethod
    def names() -> List[str]: ...
    @staticmethod
    def built_in(name: str) -> Rules: ...
    @staticmethod
    def of_program(answers: Callable[[bytes], bytes], name: str, revision: int) -> Rules: ...
    @property
    def name(self) -> str: ...
    def about(self) -> Dict[str, Any]: ...
    def start(self, setup: Dict[str, Any]) -> Game: ...
    def _began(self, game: Game) -> bool: ...

@disjoint_base
class Game:
    """A game in progress."""

    @property
    def name(self) -> str:
        """The name of the game."""
    @property
    def setup(self) -> Dict[str, Any]:
        """The setup with all its fields."""
    @property
    def seats(self) -> int:
        """The number of seats."""
    @property
    def colours(self) -> List[str]:
        """The colour of each seat now."""
    @property
    def turn(self) -> int:
        """The number of the turn, from 0."""
    @property
    def to_move(self) -> Optional[int]:
        """The seat to move, from 0; None when the game is over or a draw is next."""
    @property
    def chance(self) -> Optional[Dict[str, Any]]:
        """The draw that is next, as {"weights": [..], "labels": [..]}; else None."""
    def is_over(self) -> bool:
        """Whether the game has ended."""
    def winner(self) -> Optional[int]:
        """The seat that alone has place 1; None before the end and after a draw."""
    def outcome(self) -> Optional[Dict[str, Any]]:
        """The end: {"places": [..], "scores": [..] or None, "reason": str, "text": str}; None before it."""
    def rewards(self) -> List[float]:
        """The reward of each seat, -1 to 1; zeros before the end."""
    def actions(self) -> List[Dict[str, Any]]:
        """Every legal action as a dictionary, in the order of the rules; none when the game is over."""
    def play(self, action: _Action) -> Dict[str, Any]:
        """Plays an action: a dictionary, or its text. Returns the action as it is recorded."""
    def after(self, action: _Action) -> Game:
        """Returns a copy of the game in which the action was played."""
    def copy(self) -> Game:
        """Returns an independent copy."""
    def __copy__(self) -> Game: ...
    def __deepcopy__(self, _memo: Any) -> Game: ...
    def draw(self, outcome: int) -> None:
        """Plays the outcome of a draw, by its number in `chance`."""
    def retire(self, seat: int) -> None:
        """Takes a seat out of a game of three or more seats: its turns are passed over."""
    def position(self) -> Dict[str, Any]:
        """The position as in the message `turn`, and as `setup["position"]` takes it."""
    def notes(self) -> List[str]:
        """Remarks for people, such as that a puzzle can't be solved."""
    def estimate(self, seat: int) -> Optional[int]:
        """How good the position is for a seat, in units of the game: larger is better. None if the rules don't say."""
    def perft(self, depth: int) -> int:
        """The number of sequences of `depth` legal actions from here."""
    def text(self, coordinates: bool = True, legend: bool = False) -> str:
        """The board as text."""
    def view(self) -> View:
        """What the picture of the board shows: see `View`."""
    def svg(self) -> str:
        """The board as a picture, in SVG."""
    def format(self, action: _Action) -> str:
        """An action's text, such as c4."""
    def parse(self, text: str) -> Dict[str, Any]:
        """The action with this text, legal or not."""
    def legal(self) -> List[int]:
        """The numbers of the legal actions, in the order of `actions()`."""
    def play_number(self, number: int) -> None:
        """Plays the action with this number."""
    def action(self, number: int) -> Dict[str, Any]:
        """The action with this number, legal or not. It may lack what the rules complete."""
    def number(self, action: _Action) -> int:
        """The number of an action: a dictionary, or its text."""
    @property
    def numbers(self) -> int:
        """How many numbers of actions there are."""
    def mask(self) -> Any:
        """A numpy array of `numbers` bytes (int8): 1 for each legal action, else 0."""
    def plane_names(self) -> List[str]:
        """The names of the planes."""
    @property
    def plane_shape(self) -> Tuple[int, int, int]:
        """The number of planes, of their rows and of their columns."""
    def planes(self, seat: Optional[int] = None) -> Any:
        """The position as a seat sees it, by default the seat to move: a numpy array (float32) of the shape
        `plane_shape`, of numbers from 0 to 1."""
    @property
    def cells(self) -> List[Tuple[int, int]]:
        """The cells of the board in their order."""
    def action_kinds(self) -> List[Tuple[str, int, List[Tuple[str, int]]]]:
        """How actions are numbered: for each kind its type, the number of its first action, and the names of the fields
        with the number of values of each. The last field counts fastest."""
    def _past(self) -> Tuple[Dict[str, Any], List[Tuple[str, Any]]]: ...
    def _places(self) -> List[int]: ...
    def _symmetries(self) -> List[Dict[str, List[int]]]: ...
    def _repr_svg_(self) -> str: ...

@final
class Batch:
    def __new__(cls, game: Game, n: int, seed: int, plies_max: int) -> Batch: ...
    def step(self, actions: bytes) -> Tuple[bytearray, bytearray]: ...
    def observe(self) -> Tuple[bytearray, bytearray, bytearray]: ...
    def game(self, number: int) -> Game: ...

def rewards(places: Sequence[int]) -> List[float]:
    """The rewards for these places, as `Game.rewards` has them at the end of a game."""

def playouts(game: Game, n: int, seed: int, plies_max: int, threads: int) -> Dict[str, Any]: ...
