"""The referee's own rules in Python, at native speed.

    from referee_kit import games

    game = games.start("hex", size=7)
    while not game.is_over():
        game.play_number(random.choice(game.legal()))
    print(game.outcome(), game)

`start` returns a `Game`, whose methods have the names of the kit's: `actions`, `play`, `after`, `copy`. An action is a
dictionary as in the protocol, a text such as "c4", or a number, which is quickest. Refused actions raise
`IllegalAction` with the broken rule. A notebook shows a game as its board.

Everything but `mask`, `planes` and `symmetries` works without numpy. A game is for one thread at a time; give other
threads copies. Games can be pickled, with all that they were through; those of `env.Vector` begin anew in their position.
"""
import copyreg
import inspect
import operator
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Type, Union

from . import game as _game
from .agent import load
from .game import Game as GameProgram

try:
    from ._native import (BadSetup, Game, IllegalAction, Rules, RulesFailed,
                          playouts as _playouts, rewards)
except ImportError as _error:
    raise ImportError(
        "referee_kit.games needs the native module, which works with CPython 3.10 or later and is only in a wheel that "
        "`pip wheel` has built: see docs/notebooks.md (%s)" % _error) from _error

__all__ = ["start", "rules", "names", "about", "playouts", "rewards", "symmetries", "Game", "Rules", "Playouts", "Symmetry",
           "View", "IllegalAction", "BadSetup", "RulesFailed"]

#: What names a game: a built-in game, the folder of a game program in Python, or its class.
Named = Union[str, "os.PathLike[str]", Type[GameProgram], GameProgram, Rules]

#: The rules that were loaded; each stays in memory until the process ends.
_loaded: Dict[Any, Rules] = {}


def names() -> List[str]:
    """The names of the built-in games."""
    return Rules.names()


def about(game: Named) -> Dict[str, Any]:
    """What `referee games GAME --json` prints: the setup's fields with their ranges, the actions, the reasons."""
    described: Dict[str, Any] = rules(game).about()
    return described


def start(game: Named, setup: Optional[Dict[str, Any]] = None, **fields: Any) -> Game:
    """Starts a game: `start("hex", size=7)`, `start("./connect-four")`, `start(MyGame, {"position": ..})`.

    `game` is a built-in game, the folder of a game program in Python, or its class. `setup` and `fields` are fields of
    the setup; missing ones take their defaults. Raises BadSetup.
    """
    return rules(game).start({**(setup or {}), **fields})


def _recorded(header: Dict[str, Any], named: Optional[Named]) -> Game:
    """The game of a transcript's header, or of a message with the same fields."""
    try:
        return start(header["game"] if named is None else named, header["setup"])
    except BadSetup as error:
        if named is not None:
            raise
        raise BadSetup("%s; for a game program, pass rules=\"./its-folder\"" % error) from error


def rules(game: Named) -> Rules:
    """The rules of a game. A program's rules are loaded once; to load changed ones, start Python again."""
    if isinstance(game, Rules):
        return game
    if inspect.isclass(game) and issubclass(game, GameProgram):
        key: Any = game
    elif isinstance(game, GameProgram):
        key = game
    elif isinstance(game, (str, os.PathLike)):
        key = game if isinstance(game, str) and os.sep not in game else Path(game).resolve()
    else:
        raise TypeError("a game is a name, a folder, or a class derived from referee_kit.game.Game, not %r" % (game,))
    if key in _loaded:
        return _loaded[key]
    if isinstance(key, str):
        _loaded[key] = Rules.built_in(key)
    else:
        made: Any = _read(key) if isinstance(key, Path) else key() if inspect.isclass(key) else key
        program: GameProgram = made
        _loaded[key] = Rules.of_program(_game._Answers(program).to, program.name, 1)
    return _loaded[key]


def _read(folder: Path) -> GameProgram:
    """The game of the file `rules.py` in a folder."""
    file = folder / "rules.py" if folder.is_dir() else folder
    if not file.is_file():
        raise BadSetup("there is no %s: only game programs in Python can be loaded" % file)
    game = load(str(file))
    if game is None:
        raise BadSetup("%s doesn't import the kit: only rules with the kit can be loaded" % file)
    return game


def _reduce(game: Game) -> Tuple[Callable[..., Game], Tuple[Any, ...]]:
    """A game as a program's place or class, the setup, and the moves: for pickle."""
    found = [key for key, loaded in list(_loaded.items()) if loaded._began(game)]
    return _again, (found[0] if found else game.name, *game._past())


def _again(named: Named, setup: Dict[str, Any], moves: List[Tuple[str, Any]]) -> Game:
    game = start(named, setup)
    for method, argument in moves:
        getattr(game, method)(argument)
    return game


copyreg.pickle(Game, _reduce)


class View(Dict[str, Any]):
    """What a picture of the board shows, with the fields that docs/game-programs.md has for boards, as far as there are
    any: `shape`, `pieces`, `ground`, `edges`, `last`, `chain`, `figures`, `rows`, `text`. A notebook shows it as the picture.
    """

    def __init__(self, fields: Dict[str, Any], svg: str) -> None:
        super().__init__(fields)
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


class Playouts(NamedTuple):
    """What random games led to."""

    #: How many were played.
    games: int
    #: Each seat's mean reward, -1 to 1 as in `Game.rewards`.
    rewards: Tuple[float, ...]
    #: For each seat the number of games that it alone won.
    wins: Tuple[int, ...]
    #: The games that `plies_max` ended; they count as rewards of 0.
    unfinished: int
    #: The mean number of actions of a game.
    plies: float


def playouts(game: Game, n: int, seed: int = 0, *, plies_max: int = 100_000, threads: int = 1) -> Playouts:
    """Plays `n` copies of the game to the end, at random, in native code; the game itself stays as it is.

    All legal actions are equally likely, as are draws by their weights. Equal arguments have equal results, whatever the
    number of threads. `seed` is 0 to 2**64 - 1. Other Python threads run during the call, and Ctrl-C ends it.
    """
    sums = _playouts(game, n, _seed(seed), plies_max, threads)
    points, most = sums["points"]
    of = max(n, 1)
    return Playouts(n, tuple(own / most / of for own in points), tuple(sums["wins"]), sums["unfinished"],
                    sums["plies"] / of)


def _seed(seed: int) -> int:
    """A seed as native code takes it."""
    number = operator.index(seed)
    if not 0 <= number < 1 << 64:
        raise ValueError("a seed is a whole number from 0 to 2**64 - 1, not %s" % number)
    return number


class Symmetry:
    """A way to turn or mirror the board that keeps the rules. `seats[s]` is the seat whose part seat s takes: what `s`
    sees of a game, turned, is what `seats[s]` sees of the turned game."""

    def __init__(self, numbers: Dict[str, List[int]], places: List[int]) -> None:
        try:
            import numpy
        except ImportError:
            raise ImportError("symmetries need numpy: pip install numpy") from None
        self.seats = tuple(numbers["seats"])
        #: The number of the cell that each cell becomes, in the order of `Game.cells`.
        self.cells = numpy.array(numbers["cells"], dtype=numpy.intp)
        #: The number of the action that each action becomes.
        self.actions = numpy.array(numbers["actions"], dtype=numpy.intp)
        self._from = numpy.array(places, dtype=numpy.intp)
        self._to = self._from[self.cells]

    def policy(self, numbers: Any) -> Any:
        """A mask or a policy, of the shape (.., numbers), after the turn."""
        import numpy

        turned = numpy.empty_like(numbers)
        turned[..., self.actions] = numbers
        return turned

    def planes(self, planes: Any) -> Any:
        """Planes, of the shape (.., rows, columns), after the turn."""
        flat = planes.reshape(planes.shape[:-2] + (-1,))
        turned = flat.copy()
        turned[..., self._to] = flat[..., self._from]
        return turned.reshape(planes.shape)


def symmetries(game: Game) -> List[Symmetry]:
    """The symmetries of the game's usual start, the identity first; only the identity for a game program."""
    if not isinstance(game, Game):
        raise TypeError("expected a game that has begun, such as start(%r), not %r" % (
            game if isinstance(game, str) else "hex", game))
    places = game._places()
    return [Symmetry(numbers, places) for numbers in game._symmetries()]
