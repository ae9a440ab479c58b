"""Learns Hex by playing against itself, and plays it: needs the wheel, jax and optax.

    python train_hex.py train 4 60      # on a board of 4 rows, for a minute; writes hex4.npz
    referee play hex "python train_hex.py play hex4.npz" @random --setup size=4 --games 20

Proximal policy optimization, adapted from ppo.py of CleanRL (https://github.com/vwxyzjn/cleanrl): illegal actions have
no probability, and one network plays both seats, so the value of the next position is negated for the seat before.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy
import optax

import referee_kit
from referee_kit import env

GAMES, STEPS, PASSES, PARTS, HIDDEN, CLIP, GAE, ENTROPY, VALUE = 64, 32, 4, 4, 128, 0.2, 0.95, 0.05, 0.5
LEARNER = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.003, eps=1e-5))


@jax.jit
def forward(net, planes, masks):
    """The logarithm of each action's probability, and the value of the position for the seat to move."""
    hidden = jnp.tanh(planes.reshape(len(planes), -1) @ net["in"] + net["bias"])
    return jax.nn.log_softmax(jnp.where(masks > 0, hidden @ net["policy"], -1e9)), hidden @ net["value"]


@jax.jit
def learn(net, state, planes, masks, actions, odds, advantages, returns):
    def loss(net):
        now, values = forward(net, planes, masks)
        ratio = jnp.exp(now[jnp.arange(len(actions)), actions] - odds)
        gain = jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantages).mean()
        order = (jnp.exp(now) * now).sum(axis=1).mean()  # The less, the more it tries.
        return -gain + ENTROPY * order + VALUE * ((values - returns) ** 2).mean()

    changes, state = LEARNER.update(jax.grad(loss)(net), state)
    return optax.apply_updates(net, changes), state


def experience(net, vector, random):
    """STEPS moves of all games: planes, masks, actions, the logarithms of their probabilities, advantages and returns."""
    seen, every = [], numpy.arange(vector.n)
    for _ in range(STEPS):
        planes, masks, seats = vector.observe()
        odds, values = map(numpy.asarray, forward(net, planes, masks))
        actions = (odds + random.gumbel(size=odds.shape)).argmax(axis=1)
        rewards, over, cut, _ = vector.step(actions)
        seen.append((planes, masks, actions, odds[every, actions], values, rewards[every, seats], seats, over | cut))
    *last, after = vector.observe()
    ahead, parts, advantages = numpy.asarray(forward(net, *last)[1]), [], 0.0
    for *moves, values, rewards, seats, over in reversed(seen):
        sign = numpy.where(over, 0, numpy.where(seats == after, 1, -1))
        advantages = rewards + sign * ahead - values + GAE * sign * advantages
        parts.append((*moves, advantages, advantages + values))
        ahead, after = values, seats
    return [numpy.concatenate(part) for part in zip(*parts)]


def train(size, enough, seed=1):
    """Returns the network after training while `enough(step)` is false."""
    vector, random, step = env.Vector("hex", GAMES, size=size, seed=seed), numpy.random.default_rng(seed), 0
    shapes = {"in": (int(numpy.prod(vector.plane_shape)), HIDDEN), "bias": (HIDDEN,),
              "policy": (HIDDEN, vector.numbers), "value": (HIDDEN,)}
    net = {name: random.normal(0, 0.05, shape).astype("f") for name, shape in shapes.items()}
    state = LEARNER.init(net)
    while not enough(step := step + 1):
        batch = experience(net, vector, random)
        order = numpy.concatenate([random.permutation(GAMES * STEPS) for _ in range(PASSES)])
        for part in numpy.array_split(order, PASSES * PARTS):
            net, state = learn(net, state, *(column[part] for column in batch))
    return net


def choose(net, game):
    """The likeliest action, without the time that JAX takes to compile."""
    hidden = numpy.tanh(game.planes().ravel() @ net["in"] + net["bias"])
    return int(numpy.where(game.mask() > 0, hidden @ net["policy"], -1e9).argmax())


if __name__ == "__main__":
    if sys.argv[1] == "train":
        size, end = int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
        numpy.savez("hex%d.npz" % size, **train(size, lambda step: time.monotonic() > end))
    else:
        referee_kit.serve(lambda game, net=dict(numpy.load(sys.argv[2])): choose(net, game), "trained")
