"""Plays the events on stdin with the Python kit and prints the states; see agents/kits.rs."""
import json
import sys

import referee_kit


def lists(game):
    return [game.pieces_of(seat) for seat in range(len(game.seats))]


def position(game):
    """Returns the position in the protocol's form, made from the kit's public attributes."""
    name = next(name for name, kind in referee_kit.GAMES.items() if isinstance(game, kind))
    if name == "checker-puzzle":
        common = {"size": game.setup["size"], "depth": game.setup["depth"], "moves": game.turn}
        return dict(common, pieces=game.pieces_of(0))
    if name == "peg-solitaire":
        common = {"shape": game.setup["shape"], "size": game.setup["size"], "moves": game.turn}
        return dict(common, pegs=game.pieces_of(0), open=game.open)
    common = {"to_move": game.to_move, "turn": game.turn}
    if name == "hex":
        colours = [game.colour(seat) for seat in (0, 1)]
        stones = [lists(game)[colours.index(colour)] for colour in ("black", "red")]
        return dict(common, size=game.size, stones=stones, colours=colours)
    if name == "chexers":
        return dict(common, pieces=lists(game), exits=game.exits, retired=sorted(game.retired))
    if name == "freckers":
        return dict(common, frogs=lists(game), pads=sorted(game.pads))
    common.update({"retired": sorted(game.retired)} if len(game.seats) > 2 else {})
    return dict(common, marbles=lists(game), passes=game.passes)


def scores(game):
    if isinstance(game, referee_kit.Chexers):
        return game.exits
    if isinstance(game, referee_kit.Freckers):
        return [game.across(0), game.across(1)]
    if isinstance(game, referee_kit.CheckerPuzzle):
        return [game.turn]
    if isinstance(game, referee_kit.PegSolitaire):
        return [len(game.pieces)]
    return None


def outcome(game):
    """Returns how the game ended, in the protocol's form."""
    if not game.is_over():
        return None
    winner, reason = game.ending()
    if len(game.seats) == 1:
        places = [2 if winner is None else 1]
    else:
        places = [1 if winner in (None, seat) else 2 for seat in range(len(game.seats))]
    assert game.winner() == winner
    counted = scores(game)
    return dict({} if counted is None else {"scores": counted}, places=places, reason=reason)


def main():
    game = None
    for line in sys.stdin:
        event = json.loads(line)
        shown = game
        if "game" in event:
            game = referee_kit.GAMES[event["game"]](event["setup"])
        elif "played" in event:
            game.play(event["played"])
        elif "retired" in event:
            game.retire(event["retired"])
        elif "tried" in event:
            shown = game.after(event["tried"])
        if "state" in event or "tried" in event:
            actions, ended = shown.actions(), outcome(shown)
            print(json.dumps({"position": position(shown), "actions": actions, "outcome": ended}))


main()
