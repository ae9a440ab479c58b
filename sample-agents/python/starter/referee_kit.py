"""What a bot for Referee needs: the protocol, here, and the rules of the six games, in rules.py.

`run(choose)` plays a match; `choose` gets a Game, which keeps its own board and needs nothing from
the referee. A cell is a tuple, (row, column) or in Chexers (q, r), but in Chinese Checkers a number.
An action is a dictionary, as in the protocol. Needs only Python 3.8. Change what you like.
"""
import json
import os
import random
import sys
import traceback
from typing import Any, BinaryIO, Callable, Iterable, Mapping, Optional

from rules import (GAMES, Action, CheckerPuzzle, Chexers, ChineseCheckers, Freckers, Game, Hex,
                   Json, PegSolitaire)

__all__ = ["run", "log", "info", "Action", "Game", "GAMES", "Hex", "Chexers", "Freckers",
           "ChineseCheckers", "CheckerPuzzle", "PegSolitaire"]

_KIT = (__name__, Game.__module__)
_say: Optional[Callable[[Json], None]] = None  # Sends a message; None if it isn't this bot's turn.


def run(choose: "Callable[[Game[Any]], Optional[Action]]", name: str = "bot",
        want: Iterable[str] = (), again: bool = False) -> None:
    """Plays a match. `want`: which of "position" and "actions" to include in `game.message`.
    `again`: this process may play further matches, if the contest keeps processes between games."""
    # The referee's lines get their own streams. All other output, also of C code and child
    # processes, goes to stderr, and nothing else can read what the referee sends.
    lines, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.flush()  # What was printed before.
    sys.stdout = sys.stderr

    def say(message: Json) -> None:
        out.write(json.dumps(message, allow_nan=False).encode() + b"\n")
        out.flush()

    ready: Json = {"type": "ready", "name": name, "want": list(want)}
    if again:
        ready["again"] = True
    try:
        _converse(choose, lines, say, ready)
    except Exception as error:
        # The traceback begins where your own code does.
        trace = error.__traceback__
        while trace and trace.tb_frame.f_globals["__name__"] in _KIT:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace or error.__traceback__)
        sys.exit(1)


def log(*values: object) -> None:
    """Prints to stderr, which the transcript keeps with the turn."""
    print(*values, file=sys.stderr, flush=True)


def info(score: Optional[float] = None, depth: Optional[int] = None, text: Optional[str] = None,
         cells: Optional[Mapping[Any, object]] = None, **more: Any) -> None:
    """Shows viewers what you think; call it in `choose`. `cells` are marks: {(0, 1): "good"}."""
    marks = cells and [{"at": at, "label": str(label)} for at, label in cells.items()]
    message: Json = dict(more, type="info", score=score, depth=depth, text=text, cells=marks)
    if score is not None and not abs(score) < float("inf"):
        message["score"] = str(score)  # JSON has no infinity.
    if _say:
        _say({key: value for key, value in message.items() if value is not None})


def _converse(choose: "Callable[[Game[Any]], Optional[Action]]", lines: BinaryIO,
              say: Callable[[Json], None], ready: Json) -> None:
    global _say
    game: Game[Any]
    for line in lines:
        message = json.loads(line.decode("utf-8")) if line.strip() else {}
        kind = message.get("type")
        if kind == "hello":
            random.seed(message.get("seed"))
            if message["game"] not in GAMES:
                raise ValueError("this kit doesn't know the game %(game)s" % message)
            game = GAMES[message["game"]](message["setup"], message["seat"], message["seats"])
            game.clock = message.get("clock", {})
            say(ready)
        elif kind == "turn":
            asked, _say = game.copy(), say
            asked.message, asked.left_ms = message, message.get("left_ms")
            action = choose(asked)
            _say = None
            if not isinstance(action, (dict, type(None))):
                raise TypeError("choose returned %r: neither an action nor None" % (action,))
            answer = {"type": "resign"} if action is None else {"type": "action", "action": action}
            say(dict(answer, turn=message["turn"]))
        elif kind == "played":
            game.play(message["action"])
        elif kind == "retired" and len(game.seats) > 2:
            game.retire(message["seat"])
        elif kind == "over" and not ready.get("again"):
            break
