"""Learns Hex by playing against itself, and plays it: needs the wheel and numpy.

    python train_hex.py train 4 60      # on a board of 4 rows, for a minute; writes hex4.npz
    referee play hex "python train_hex.py play hex4.npz" @random --setup size=4 --games 20

A network with one hidden layer chooses the action. After each batch of moves, those of winners become likelier and
those of losers less likely (REINFORCE). Each batch sees the board turned or mirrored in another way.
"""
import sys
import time

import numpy

import referee_kit
from referee_kit import env, games

GAMES, STEPS, HIDDEN, RATE, OPEN = 128, 32, 128, 0.003, 0.03


def forward(net, planes, masks):
    """The hidden layer, and the probability of each legal action."""
    hidden = numpy.maximum(planes.reshape(len(planes), -1) @ net["w1"] + net["b1"], 0)
    logits = numpy.where(masks > 0, hidden @ net["w2"] + net["b2"], -1e9)
    odds = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return hidden, odds / odds.sum(axis=1, keepdims=True)


def create(planes, numbers, random):
    return {"w1": random.normal(0, planes ** -0.5, (planes, HIDDEN)), "b1": numpy.zeros(HIDDEN),
            "w2": random.normal(0, 0.01, (HIDDEN, numbers)), "b2": numpy.zeros(numbers)}


def experience(net, vector, turn, random):
    """What was seen and done in STEPS moves of all games, and the reward of each; only of games that ended."""
    seen = []
    # In every fourth game seat 0 plays at random, in the next one seat 1: other positions than against itself.
    guests = numpy.arange(vector.n) % 4
    for _ in range(STEPS):
        planes, masks, seats = vector.observe()
        planes, masks = turn.planes(planes), turn.policy(masks)
        odds = forward(net, planes, masks)[1]
        guest = guests == seats
        odds[guest] = masks[guest] / masks[guest].sum(axis=1, keepdims=True)
        actions = (odds.cumsum(axis=1) > random.random((len(odds), 1))).argmax(axis=1)
        rewards, over, _, _ = vector.step(turn.actions.argsort()[actions])
        seen.append((planes, masks, actions, seats, rewards, over))
    outcome, ended = numpy.zeros((vector.n, vector.seats)), numpy.zeros(vector.n, bool)
    parts = []
    for planes, masks, actions, seats, rewards, over in reversed(seen):
        outcome[over], ended = rewards[over], ended | over
        reward, own = outcome[numpy.arange(vector.n), seats], ended & (guests != seats)
        parts.append((planes[own], masks[own], actions[own], reward[own]))
    return [numpy.concatenate(part) for part in zip(*parts)]


def learn(net, moments, step, planes, masks, actions, rewards):
    hidden, odds = forward(net, planes, masks)
    slope = -odds
    slope[numpy.arange(len(actions)), actions] += 1
    # And a little towards what is still open, so that it goes on trying.
    surprise = -numpy.log(odds + 1e-9)
    opening = odds * (surprise - (odds * surprise).sum(axis=1, keepdims=True))
    slope = (slope * (rewards - rewards.mean())[:, None] + OPEN * opening) / len(actions)
    back = (slope @ net["w2"].T) * (hidden > 0)
    gradient = {"w2": hidden.T @ slope, "b2": slope.sum(axis=0),
                "w1": planes.reshape(len(planes), -1).T @ back, "b1": back.sum(axis=0)}
    for name, by in gradient.items():  # Adam.
        mean, square = moments[name]
        mean += 0.1 * (by - mean)
        square += 0.001 * (by * by - square)
        net[name] += RATE * (mean / (1 - 0.9 ** step)) / (numpy.sqrt(square / (1 - 0.999 ** step)) + 1e-8)


def train(size, enough, seed=1):
    """Returns the network after training while `enough(step)` is false."""
    vector, random = env.Vector("hex", GAMES, size=size), numpy.random.default_rng(seed)
    turns = games.symmetries(vector.game(0))
    net = create(int(numpy.prod(vector.plane_shape)), vector.numbers, random)
    moments = {name: (numpy.zeros_like(part), numpy.zeros_like(part)) for name, part in net.items()}
    step = 0
    while not enough(step):
        step += 1
        learn(net, moments, step, *experience(net, vector, turns[step % len(turns)], random))
    return net


def choose(net, game):
    """The likeliest action."""
    return int(forward(net, game.planes()[None], game.mask()[None])[1].argmax())


if __name__ == "__main__":
    if sys.argv[1] == "train":
        size, end = int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
        numpy.savez("hex%d.npz" % size, **train(size, lambda step: time.monotonic() > end))
    else:
        trained = dict(numpy.load(sys.argv[2]))
        referee_kit.serve(lambda game: choose(trained, game), "trained")
