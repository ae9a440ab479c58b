"""The Python kit of Referee, and its records.

`run(choose)` plays a match as a bot, and `Agent` is the same as a class. `records(path)` reads
transcripts, `standings(folder)` the report of a contest: see `referee_kit.reading`.

For agents that learn or search, `referee_kit.games` has the referee's own rules at native speed, `referee_kit.env`
environments, `referee_kit.replays` matches as arrays, and `serve(policy)` plays with these rules.
"""
import importlib
import sys
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

from . import rules
from .reading import Match, Matches, iter_records, records, standings
from .rules import (GAMES, Action, CheckerPuzzle, Chexers, ChineseCheckers, Freckers, Game, Hex,
                    PegSolitaire)

if TYPE_CHECKING:
    from . import env as env, games as games, replays as replays

# The kit of a bot's folder imports `rules` from beside it; this is the same file.
_own = sys.modules.get("rules")
sys.modules["rules"] = rules
try:
    from .kit import info, log, run
finally:
    del sys.modules["rules"]
    if _own is not None:
        sys.modules["rules"] = _own


class Agent:
    """A bot as a class: override `choose`, and call `run` at the end of the program."""

    #: The name that transcripts show.
    name: str = "bot"
    #: Which of "position" and "actions" to include in `game.message`.
    want: Sequence[str] = ()

    def choose(self, game: "Game[Any]") -> Optional[Action]:
        """Returns an action of `game.actions()`, or None to resign."""
        raise NotImplementedError

    def run(self) -> None:
        """Plays a match."""
        run(self.choose, self.name, self.want)


def serve(policy: Callable[[Any], Any], name: str = "bot", rules: Any = None, again: bool = False) -> None:
    """Plays a match with the native rules: see `referee_kit.serving.serve`."""
    from . import serving  # Only here: other bots don't need the native module.

    serving.serve(policy, name, rules, again)


if not TYPE_CHECKING:  # Which sees them above, and no other names.
    def __getattr__(name: str) -> Any:
        # Imported when they are first used: they need the native module, `env` numpy too.
        if name in ("env", "games", "replays"):
            return importlib.import_module("." + name, __name__)
        raise AttributeError("module %r has no attribute %r" % (__name__, name))


__all__ = ["serve", "run", "log", "info", "Agent", "Action", "Game", "GAMES", "Hex", "Chexers", "Freckers",
           "ChineseCheckers", "CheckerPuzzle", "PegSolitaire", "Match", "Matches", "iter_records", "records",
           "standings", "rules"]
