"""The example of docs/training.md learns. Run by tests/wheel, with a Python that has the wheel, jax and optax."""
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "examples"))

import train_hex  # noqa: E402

from referee_kit import games  # noqa: E402

STEPS = 100


class Training(unittest.TestCase):
    def test_it_beats_random_play(self):
        net, chooser, won = train_hex.train(4, lambda step: step == STEPS), random.Random(1), 0
        for number in range(200):
            game = games.start("hex", size=4)
            while not game.is_over():
                own = game.to_move == number % 2
                game.play_number(train_hex.choose(net, game) if own else chooser.choice(game.legal()))
            won += game.winner() == number % 2
        self.assertGreater(won, 150)


if __name__ == "__main__":
    unittest.main()
