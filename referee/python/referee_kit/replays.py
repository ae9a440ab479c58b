"""Recorded matches as games and arrays, for imitation and analysis.

    game = replays.position("match.jsonl", 12)                # the game after 12 actions
    for sample in replays.samples("contests/cup"):            # every action of every match
        print(sample.game.text(), sample.action, sample.reward)
    for batch in replays.batches("contests/cup", 1024):       # the same as numpy arrays
        train(batch.planes, batch.actions, batch.rewards)

All of them read one match after the other, so a contest need not fit into memory.
"""
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

from . import games
from .games import Game, Named
from .reading import events_of, transcripts

__all__ = ["Sample", "Batch", "position", "samples", "batches"]


class Sample(NamedTuple):
    """An action of a match."""

    #: The header of the transcript.
    match: Dict[str, Any]
    #: The game before the action. It changes when the next sample is read: keep a copy.
    game: Game
    seat: int
    #: The action, as it was recorded.
    action: Dict[str, Any]
    #: What the verdict brought its seat, -1 to 1 as `Game.rewards`; None if the match is void or not over.
    reward: Optional[float]


class Batch(NamedTuple):
    """Samples as numpy arrays: what the seat that moved saw, and what it did."""

    #: float32, (n, planes, rows, columns)
    planes: Any
    #: int8, (n, numbers)
    masks: Any
    #: The numbers of the actions: int64, (n,)
    actions: Any
    #: float32, (n,)
    rewards: Any


def samples(path: Union[str, Path], rules: Optional[Named] = None) -> Iterator[Sample]:
    """Reads every action of a transcript, or of all transcripts below a folder.

    `rules` names the rules if they are a game program in Python. A transcript that is cut off is read up to that point.
    """
    for file in transcripts(path):
        events = list(events_of(file))
        if not events or events[0].get("type") != "header":
            continue
        rewards = _rewards(events)
        game = _start(file, events[0], rules)
        for event in events:
            if event["type"] == "played":
                seat: int = event["seat"]
                yield Sample(events[0], game, seat, event["action"], rewards[seat] if rewards else None)
            _apply(file, game, event)


def position(path: Union[str, Path], ply: Optional[int] = None, rules: Optional[Named] = None) -> Game:
    """The game of a transcript after `ply` actions, by default after all."""
    events = list(events_of(Path(path)))
    if not events or events[0].get("type") != "header":
        raise ValueError("%s is not a transcript" % path)
    game, played = _start(path, events[0], rules), 0
    for event in events:
        if event["type"] == "played":
            if played == ply:
                break
            played += 1
        _apply(path, game, event)
    if ply is not None and played != ply:
        raise IndexError("%s has %d actions, not %d" % (path, played, ply))
    return game


def batches(path: Union[str, Path], size: int = 1024, rules: Optional[Named] = None) -> Iterator[Batch]:
    """Reads `samples` as arrays of at most `size` samples each; matches without a verdict are left out.

    All matches must be of one game with boards of one size. Needs numpy.
    """
    try:
        import numpy
    except ImportError:
        raise ImportError("batches need numpy: pip install numpy") from None
    if size < 1:
        raise ValueError("size is at least 1, not %r" % size)
    planes: List[Any] = []
    masks: List[Any] = []
    actions: List[int] = []
    rewards: List[float] = []

    def batch() -> Batch:
        made = Batch(numpy.stack(planes), numpy.stack(masks), numpy.array(actions, numpy.int64),
                     numpy.array(rewards, numpy.float32))
        for part in (planes, masks, actions, rewards):
            part.clear()
        return made

    for sample in samples(path, rules):
        if sample.reward is None:
            continue
        seen = sample.game.planes(sample.seat)
        if planes and planes[0].shape != seen.shape:
            raise ValueError("the match %s has planes of the shape %s, those before it %s: read matches of one game and "
                             "setup at a time" % (sample.match.get("match"), seen.shape, planes[0].shape))
        planes.append(seen)
        masks.append(sample.game.mask())
        actions.append(sample.game.number(sample.action))
        rewards.append(sample.reward)
        if len(actions) == size:
            yield batch()
    if actions:
        yield batch()


def _start(file: Union[str, Path], header: Dict[str, Any], rules: Optional[Named]) -> Game:
    try:
        return games._recorded(header, rules)
    except games.BadSetup as error:
        raise games.BadSetup("%s: %s" % (file, error)) from error


def _apply(file: Union[str, Path], game: Game, event: Dict[str, Any]) -> None:
    try:
        if event["type"] == "played":
            game.play(event["action"])
        elif event["type"] == "drawn":
            game.draw(event["outcome"])
        elif event["type"] == "retired" and game.seats > 2 and not game.is_over():
            game.retire(event["seat"])
    except (ValueError, games.RulesFailed) as error:
        raise type(error)("%s, turn %d: %s" % (file, game.turn, error)) from error


def _rewards(events: List[Dict[str, Any]]) -> Optional[List[float]]:
    places = next((event["verdict"].get("places") for event in events if event["type"] == "over"), None)
    return games.rewards(places) if places else None
