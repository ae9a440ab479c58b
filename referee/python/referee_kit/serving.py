"""An agent that plays with the native rules."""
import json
import random
from typing import Any, Callable, Dict, Optional, Union

from . import games
from .game import _default, own_streams

__all__ = ["serve"]

#: What a policy returns: an action as a dictionary, its text or its number, or None to resign.
Chosen = Union[Dict[str, Any], str, int, None]


def serve(policy: Callable[[games.Game], Chosen], name: str = "bot", rules: Optional[games.Named] = None,
          again: bool = False) -> None:
    """Plays a match as an agent: `policy` gets a copy of the game when it is the agent's turn.

    `game.to_move` is the agent's seat. `rules` names the rules if they are a game program in Python. `again`: this process
    may play further matches, if the contest keeps processes between games.
    """
    lines, out = own_streams()

    def say(**message: Any) -> None:
        out.write(json.dumps(message, allow_nan=False, default=_default).encode() + b"\n")
        out.flush()

    for line in lines:
        message = json.loads(line.decode("utf-8")) if line.strip() else {}
        kind = message.get("type")
        if kind == "hello":
            random.seed(message.get("seed"))
            game = games._recorded(message, rules)
            say(type="ready", name=name, **({"again": True} if again else {}))
        elif kind == "turn":
            chosen = policy(game.copy())
            if chosen is None:
                say(type="resign", turn=message["turn"])
                continue
            if isinstance(chosen, str):
                chosen = game.parse(chosen)
            elif not isinstance(chosen, dict):
                chosen = game.action(chosen)
            say(type="action", action=chosen, turn=message["turn"])
        elif kind == "played":
            game.play(message["action"])
        elif kind == "drawn":
            game.draw(message["outcome"])
        elif kind == "retired" and game.seats > 2:
            game.retire(message["seat"])
        elif kind == "over" and not again:
            break
