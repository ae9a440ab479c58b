"""Plays the games on stdin with the Python kit and compares: positions, legal actions, endings.

Each line is one of
    {"game": .., "setup": {..}, "seed": n}           a game begins
    {"state": {"position", "actions", "outcome"}}    the expected state
    {"tried": action, "state": {..}}                 the expected state of a copy after this action
    {"played": action}, {"retired": seat}            the next event
It exits with 1 at the first difference, and otherwise prints how much it compared.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python" / "starter"))
import referee_kit  # noqa: E402  (it is in another folder)


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


def check(game, state, where):
    """Exits if the game differs from the state."""
    own = {"position": position(game), "actions": game.actions(), "outcome": outcome(game)}
    for key, value in own.items():
        # Converted to JSON and back, which turns tuples into lists.
        found, wanted = json.loads(json.dumps(value)), state[key]
        if found != wanted:
            sys.exit("%s: %s\n  kit:     %s\n  referee: %s" % (where, key, found, wanted))


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
