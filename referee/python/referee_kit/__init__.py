"""The Python kit of Referee, and its records.

`run(choose)` plays a match as a bot: see `referee_kit.kit`. `records(path)` reads transcripts,
`standings(folder)` the report of a contest: see `referee_kit.reading`.
"""
import sys

from . import rules
from .reading import Match, Matches, records, standings

# The kit of a bot's folder imports `rules` from beside it; this is the same file.
_own = sys.modules.get("rules")
sys.modules["rules"] = rules
try:
    from .kit import *  # noqa: F403
    from .kit import __all__ as _kit
finally:
    del sys.modules["rules"]
    if _own is not None:
        sys.modules["rules"] = _own

__all__ = [*_kit, "Match", "Matches", "records", "standings", "rules"]
