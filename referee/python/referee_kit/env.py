"""The games as environments of PettingZoo and Gymnasium, and many at once.

    import referee_kit

    env = referee_kit.env.aec("hex", size=5)               # a pettingzoo.AECEnv, for any number of seats
    env = referee_kit.env.solo("peg-solitaire")            # a gymnasium.Env for puzzles,
    env = referee_kit.env.solo("hex", opponent="random")   # or against an opponent
    env = referee_kit.env.Vector("hex", 1000, size=5)      # numpy arrays for a thousand games

An observation is a dictionary: `observation` has the planes as the observing seat sees the game (float32, shape
`Game.plane_shape`, 0 to 1), `action_mask` has 1 for the number of each legal action (int8, shape (`Game.numbers`,)). An
action is its number.

The reward comes at the end, -1 to 1: the seats that a seat beat less those that beat it, by the number of others. It is
1 or -1 with two seats, 0 for a draw; alone it is 1 for a solved puzzle, else 0. An illegal action ends the game as in a
contest: its seat is last, and the reward -1.
"""
# The classes to derive from are in packages that need not be there.
# mypy: allow-subclassing-any, allow-any-generics
import functools
import importlib
import operator
import random
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from . import games
from .games import Game, IllegalAction, Named, _seed

try:
    import numpy
except ImportError:
    raise ImportError("environments need numpy: pip install numpy") from None

__all__ = ["aec", "solo", "Vector"]

#: Actions after which a game that isn't over is cut off.
PLIES_MAX = 10_000
#: What `render_mode` may be, besides None.
MODES = ["ansi"]
#: Chooses a legal action's number for the seat to move.
Opponent = Callable[[Game], int]
#: The games that `games.start` takes, or a game to begin from, such as one of `replays.position`.
Start = Union[Named, Game]


def _start(game: Start, setup: Optional[Dict[str, Any]], fields: Dict[str, Any]) -> Game:
    if not isinstance(game, Game):
        return games.start(game, setup, **fields)
    if setup or fields:
        raise ValueError("a game that has begun has its setup")
    return game.copy()


def _needed(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError("this environment needs %s: pip install %s" % (package, package)) from None


def _check_mode(mode: Optional[str]) -> None:
    if mode is not None and mode not in MODES:
        raise ValueError("render_mode is %s or None, not %r" % (" or ".join(map(repr, MODES)), mode))


class _NotBegun:
    """Stands for the episode before the first `reset`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError("no episode has begun: call reset() first")


class _Episode:
    """A game, whose draws come from a seed, and the rewards."""

    def __init__(self, start: Game, seed: Optional[int], plies_max: int) -> None:
        self.game, self.random, self.plies = start.copy(), random.Random(seed), 0
        self.plies_max, self.illegal = plies_max, None  # type: int, Optional[str]
        self._draw()

    def play(self, action: Any) -> None:
        try:
            self.game.play_number(operator.index(action))
        except IllegalAction as error:
            self.illegal = str(error)
        except TypeError:
            self.illegal = "the action %r is no number of an action" % (action,)
        self.plies += 1
        self._draw()

    def _draw(self) -> None:
        while self.game.chance is not None:
            weights = self.game.chance["weights"]
            self.game.draw(self.random.choices(range(len(weights)), weights)[0])

    @property
    def terminated(self) -> bool:
        return self.illegal is not None or self.game.is_over()

    @property
    def truncated(self) -> bool:
        return not self.terminated and self.plies >= self.plies_max

    def rewards(self) -> List[float]:
        if self.illegal is None:
            return self.game.rewards()
        others = max(self.game.seats - 1, 1)
        return [-1.0 if seat == self.game.to_move else 1.0 / others for seat in range(self.game.seats)]

    def observe(self, seat: int) -> Dict[str, Any]:
        to_move = not self.terminated and seat == self.game.to_move
        mask = self.game.mask() if to_move else numpy.zeros(self.game.numbers, numpy.int8)
        return {"observation": self.game.planes(seat), "action_mask": mask}


def _observation_space(start: Game) -> Any:
    spaces = _needed("gymnasium").spaces
    return spaces.Dict({"observation": spaces.Box(0.0, 1.0, start.plane_shape, numpy.float32),
                        "action_mask": spaces.Box(0, 1, (start.numbers,), numpy.int8)})


def aec(game: Start, setup: Optional[Dict[str, Any]] = None, *, plies_max: int = PLIES_MAX,
        render_mode: Optional[str] = None, **fields: Any) -> Any:
    """A pettingzoo.AECEnv; its agents are "seat_0", "seat_1", .. `setup` and `fields` are as in `games.start`; `game`
    may also be a `Game`, in whose position each episode begins.

    Needs the package pettingzoo. `render()` returns the board as text if `render_mode` is "ansi".
    """
    base: Any = _needed("pettingzoo").AECEnv
    spaces = _needed("gymnasium").spaces
    _check_mode(render_mode)
    start = _start(game, setup, fields)

    class Environment(base):
        metadata = {"name": "referee_%s_v1" % start.name.replace("-", "_"), "render_modes": MODES,
                    "is_parallelizable": False}

        def __init__(self) -> None:
            super().__init__()
            self.render_mode = render_mode
            self.possible_agents = ["seat_%d" % seat for seat in range(start.seats)]
            self.observation_spaces = {agent: _observation_space(start) for agent in self.possible_agents}
            self.action_spaces = {agent: spaces.Discrete(start.numbers) for agent in self.possible_agents}
            # Episodes differ in their draws until the next `reset` with a seed.
            self.seeds = random.Random()
            self.episode: Any = _NotBegun()

        def observation_space(self, agent: str) -> Any:
            return self.observation_spaces[agent]

        def action_space(self, agent: str) -> Any:
            return self.action_spaces[agent]

        def reset(self, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> None:
            if seed is not None:
                self.seeds.seed(_seed(seed))
            self.episode = _Episode(start, self.seeds.getrandbits(64), plies_max)
            self.agents = list(self.possible_agents)
            self.rewards: Dict[str, float] = dict.fromkeys(self.agents, 0.0)
            self._cumulative_rewards = dict(self.rewards)
            self.infos: Dict[str, Dict[str, Any]] = {agent: {} for agent in self.agents}
            self._settle()
            self.agent_selection = self._mover()

        def _mover(self) -> str:
            return "seat_%d" % (self.episode.game.to_move or 0)

        def _settle(self) -> None:
            """Sets what follows from the position."""
            over, cut = self.episode.terminated, self.episode.truncated
            self.terminations = dict.fromkeys(self.agents, over)
            self.truncations = dict.fromkeys(self.agents, cut)
            if over:
                self.rewards = dict(zip(self.agents, self.episode.rewards()))

        def observe(self, agent: str) -> Dict[str, Any]:
            seen: Dict[str, Any] = self.episode.observe(self.possible_agents.index(agent))
            return seen

        def step(self, action: Any) -> None:
            if self.episode.terminated or self.episode.truncated:
                self._was_dead_step(action)
                return
            agent = self.agent_selection
            self._cumulative_rewards[agent] = 0.0
            self._clear_rewards()
            self.episode.play(action)
            if self.episode.illegal is not None:
                self.infos[agent] = {"illegal": self.episode.illegal}
            self._settle()
            if self.terminations[agent] or self.truncations[agent]:
                self.agent_selection = self.agents[0]
            else:
                self.agent_selection = self._mover()
            self._accumulate_rewards()

        def render(self) -> Optional[str]:
            return self.episode.game.text() if self.render_mode == "ansi" else None

        def close(self) -> None:
            """Nothing is open."""

        def __reduce__(self) -> Tuple[Any, ...]:
            # The class has no name by which it could be pickled.
            return functools.partial(aec, start, plies_max=plies_max, render_mode=render_mode), (), vars(self)

    return Environment()


class _AtRandom:
    """An opponent."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, game: Game) -> int:
        return self.random.choice(game.legal())


def solo(game: Start, setup: Optional[Dict[str, Any]] = None, *, opponent: Union[Opponent, str, None] = None,
         seat: Optional[int] = None, plies_max: int = PLIES_MAX, render_mode: Optional[str] = None,
         **fields: Any) -> Any:
    """A gymnasium.Env for one seat. Other seats are played by `opponent`: a function that returns the number of a legal
    action of a `Game`, or "random". `seat` is by default another one in every episode.

    Needs the package gymnasium. `render()` returns the board as text if `render_mode` is "ansi".
    """
    gymnasium = _needed("gymnasium")
    base: Any = gymnasium.Env
    _check_mode(render_mode)
    start = _start(game, setup, fields)
    if start.seats > 1 and opponent is None:
        raise ValueError("%s has %d seats: name an opponent, such as \"random\"" % (start.name, start.seats))
    if seat is not None and not 0 <= seat < start.seats:
        raise ValueError("there is no seat %s" % seat)
    if isinstance(opponent, str) and opponent != "random":
        raise ValueError("an opponent is a function or \"random\", not %r" % opponent)

    class Environment(base):
        metadata = {"render_modes": MODES}

        def __init__(self) -> None:
            self.render_mode = render_mode
            self.observation_space = _observation_space(start)
            self.action_space = gymnasium.spaces.Discrete(start.numbers)
            self.episode: Any = _NotBegun()

        def reset(self, *, seed: Optional[int] = None,
                  options: Optional[Dict[str, Any]] = None) -> Tuple[Dict[str, Any], Dict[str, Any]]:
            super().reset(seed=seed)
            drawn = [int(number) for number in self.np_random.integers(1 << 31, size=3)]
            self.seat = drawn[0] % start.seats if seat is None else seat
            self.episode = _Episode(start, drawn[1], plies_max)
            self.opponent = _AtRandom(drawn[2]) if isinstance(opponent, str) else opponent
            self._answer()
            return self.episode.observe(self.seat), self._info()

        def _answer(self) -> None:
            """Plays the other seats until it is the own one's turn."""
            game = self.episode.game
            while not self.episode.terminated and not self.episode.truncated and game.to_move != self.seat:
                assert self.opponent is not None
                self.episode.play(self.opponent(game))
                if self.episode.illegal:
                    raise ValueError("the opponent's action is wrong: %s" % self.episode.illegal)

        def _info(self) -> Dict[str, Any]:
            illegal, outcome = self.episode.illegal, self.episode.game.outcome()
            return {"illegal": illegal} if illegal else {"outcome": outcome} if outcome else {}

        def step(self, action: Any) -> Tuple[Dict[str, Any], float, bool, bool, Dict[str, Any]]:
            if not self.episode.terminated and not self.episode.truncated:
                self.episode.play(action)
                self._answer()
            over = self.episode.terminated
            reward = self.episode.rewards()[self.seat] if over else 0.0
            return self.episode.observe(self.seat), reward, over, self.episode.truncated, self._info()

        def render(self) -> Optional[str]:
            return self.episode.game.text() if self.render_mode == "ansi" else None

        def __reduce__(self) -> Tuple[Any, ...]:
            again = functools.partial(solo, start, opponent=opponent, seat=seat, plies_max=plies_max,
                                      render_mode=render_mode)
            return again, (), vars(self)

    return Environment()


class Vector:
    """`n` games that are stepped together in native code, while other Python threads run.

    `observe()` and `step(actions)` are for the seat to move of each game. A game that has ended begins anew in the same
    step. `seed`, from which the draws come, is 0 to 2**64 - 1.
    """

    def __init__(self, game: Start, n: int, setup: Optional[Dict[str, Any]] = None, *, seed: int = 0,
                 plies_max: int = PLIES_MAX, **fields: Any) -> None:
        from ._native import Batch

        start = _start(game, setup, fields)
        self.n, self.seats, self.numbers, self.plane_shape = n, start.seats, start.numbers, start.plane_shape
        self._batch = Batch(start, n, _seed(seed), plies_max)

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError("a Vector can't be copied or pickled, but the games that game(number) returns can")

    def observe(self) -> Tuple[Any, Any, Any]:
        """What the seat to move sees: planes (float32, (n, planes, rows, columns)), masks (int8, (n, numbers)), and the
        seats (uint8, (n,))."""
        planes, masks, to_move = self._batch.observe()
        return (numpy.frombuffer(planes, numpy.float32).reshape((self.n, *self.plane_shape)),
                numpy.frombuffer(masks, numpy.int8).reshape((self.n, self.numbers)),
                numpy.frombuffer(to_move, numpy.uint8))

    def step(self, actions: Any) -> Tuple[Any, Any, Any, Any]:
        """Plays an action, by its number, in each game.

        Returns the rewards of all seats (float32, (n, seats)), and three arrays of bool: the games that have ended by the
        rules or by an illegal action, those that `plies_max` cut off, and those in which the action was illegal.
        """
        numbers = numpy.asarray(actions)
        if numbers.shape != (self.n,) or numbers.dtype.kind not in "iu":
            raise ValueError("expected %d whole numbers, not %s of %s" % (self.n, numbers.shape, numbers.dtype))
        # Negative and larger numbers become one that no action has.
        limit = numpy.iinfo(numpy.uint32).max
        in_range = (numbers >= 0) & (numbers < self.numbers)
        rewards, ended = self._batch.step(numpy.where(in_range, numbers, limit).astype(numpy.uint32).tobytes())
        code = numpy.frombuffer(ended, numpy.uint8)
        return (numpy.frombuffer(rewards, numpy.float32).reshape((self.n, self.seats)),
                (code == 1) | (code == 3), code == 2, code == 3)

    def game(self, number: int) -> Game:
        """A copy of one of the games."""
        found: Game = self._batch.game(number)
        return found
