"""Plays the games on stdin with the Python kit and compares: positions, legal actions, endings.

A line is one of
    {"game": .., "setup": {..}, "seed": n}           a game begins
    {"state": {"position", "actions", "outcome"}}    what the game must be like now
    {"tried": action, "state": {..}}                 the same of a copy in which this was played
    {"played": action}, {"retired": seat}            what happens next
The first difference ends it with status 1. Else the last line tells how much was compared.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python" / "starter"))
import referee_kit  # noqa: E402  (it lies elsewhere)


def lists(game):
    return [game.pieces_of(seat) for seat in range(len(game.seats))]


def position(game):
    """The position as the protocol writes it, from what the kit tells its user."""
    name = next(name for name, kind in referee_kit.GAMES.items() if isinstance(game, kind))
    if name == "checker-puzzle":
        told = {"size": game.setup["size"], "depth": game.setup["depth"], "moves": game.turn}
        return dict(told, pieces=game.pieces_of(0))
    if name == "peg-solitaire":
        told = {"shape": game.setup["shape"], "size": game.setup["size"], "moves": game.turn}
        return dict(told, pegs=game.pieces_of(0), open=game.open)
    told = {"to_move": game.to_move, "turn": game.turn}
    if name == "hex":
        colours = [game.colour(seat) for seat in (0, 1)]
        stones = [lists(game)[colours.index(colour)] for colour in ("black", "red")]
        return dict(told, size=game.size, stones=stones, colours=colours)
    if name == "chexers":
        return dict(told, pieces=lists(game), exits=game.exits, retired=sorted(game.retired))
    if name == "freckers":
        return dict(told, frogs=lists(game), pads=sorted(game.pads))
    told.update({"retired": sorted(game.retired)} if len(game.seats) > 2 else {})
    return dict(told, marbles=lists(game), passes=game.passes)


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
    """How the game ended, as the protocol writes it."""
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


def check(game, state, where):
    """Ends the program where the game isn't as the state says."""
    own = {"position": position(game), "actions": game.actions(), "outcome": outcome(game)}
    for key, value in own.items():
        # Through JSON, as the referee would see it: there a tuple is a list.
        told, wanted = json.loads(json.dumps(value)), state[key]
        if told != wanted:
            sys.exit("%s: %s\n  kit:     %s\n  referee: %s" % (where, key, told, wanted))


def main():
    game, where, games, states = None, "", 0, 0
    for line in sys.stdin:
        event = json.loads(line)
        if "setup" in event:
            where = "%(game)s %(setup)s seed %(seed)s" % event
            game = referee_kit.GAMES[event["game"]](event["setup"])
            games += 1
        at = "%s turn %d" % (where, game.turn)
        if "state" in event:
            tried = game.after(event["tried"]) if "tried" in event else game
            check(tried, event["state"], "%s tried %s" % (at, event.get("tried")))
            states += 1
        if "played" in event:
            game.play(event["played"])
        if "retired" in event:
            game.retire(event["retired"])
    print("compared %d states of %d games" % (states, games))


main()
