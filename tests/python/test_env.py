"""The environments pass the tests that PettingZoo and Gymnasium have for environments, for every game and variant.

Run by tests/wheel, with a Python that has the wheel, gymnasium and pettingzoo.
"""
import copy
import pickle
import random
import subprocess
import sys
import unittest
import warnings
from unittest import mock

import numpy
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from referee_kit import env, games
from test_games import PROGRAMS, Nim, starts

#: Games of the most actions get fewer steps, since masks are long.
MANY = 100_000


def every():
    """Every game and variant with the fields of its setup, and game programs."""
    for start in starts():
        yield start.name, start.setup, start
    for name in ["connect-four", "pig"]:
        yield PROGRAMS / name, {}, games.start(PROGRAMS / name)
    yield Nim, {}, games.start(Nim)


class Standard(unittest.TestCase):
    def setUp(self):
        # Such as that spaces could be smaller, or that a game may end at once.
        warnings.simplefilter("ignore")

    def test_pettingzoo_accepts_every_game(self):
        for name, setup, start in every():
            with self.subTest(game=start.name, setup=setup):
                if start.is_over():
                    continue
                api_test(env.aec(name, setup), num_cycles=8 if start.numbers > MANY else 30)
                seed_test(lambda: env.aec(name, setup), num_cycles=10)

    def test_gymnasium_accepts_every_game(self):
        for name, setup, start in every():
            with self.subTest(game=start.name, setup=setup):
                if not start.is_over():
                    check_env(env.solo(name, setup, opponent="random"), skip_render_check=True)


class Play(unittest.TestCase):
    def test_episodes_may_begin_in_any_position(self):
        begun = games.start("hex", size=3)
        begun.play("b2")
        aec, solo = env.aec(begun), env.solo(begun, opponent="random", seat=1)
        aec.reset(seed=1)
        first, _ = solo.reset(seed=1)
        vector = env.Vector(begun, 2)
        for seen in [aec.observe("seat_1")["observation"], first["observation"], vector.observe()[0][0]]:
            self.assertEqual(seen.tolist(), begun.planes(1).tolist())
        self.assertEqual(aec.agent_selection, "seat_1")
        with self.assertRaises(ValueError):
            env.aec(begun, size=4)

    def test_nothing_is_played_before_reset(self):
        for made in [env.aec("hex", size=3), env.solo("hex", size=3, opponent="random")]:
            with self.assertRaisesRegex(RuntimeError, "call reset"):
                made.step(0)

    def test_rewards_follow_the_places(self):
        aec = env.aec("hex", size=3)
        aec.reset(seed=1)
        for action in [0, 3, 1, 4, 2]:
            observation, reward, terminated, truncated, _ = aec.last()
            self.assertEqual((reward, terminated, truncated), (0, False, False))
            self.assertEqual(observation["action_mask"][action], 1)
            aec.step(action)
        self.assertEqual(aec.rewards, {"seat_0": 1, "seat_1": -1})
        self.assertTrue(all(aec.terminations.values()))

    def test_an_illegal_action_is_last(self):
        aec = env.aec("chexers")
        aec.reset()
        aec.step(aec.action_space("seat_0").n - 1)
        self.assertEqual(aec.rewards, {"seat_0": -1, "seat_1": 0.5, "seat_2": 0.5})
        self.assertIn("a pass is legal only", aec.infos["seat_0"]["illegal"])
        solo = env.solo("peg-solitaire")
        solo.reset()
        self.assertEqual(solo.step(0)[1:4], (-1, True, False))

    def test_a_long_game_is_cut_off(self):
        aec = env.aec("chexers", plies_max=4)
        aec.reset()
        for _ in range(4):
            aec.step(games.start("chexers").legal()[0] if aec.episode.plies == 0 else aec.episode.game.legal()[0])
        self.assertEqual((set(aec.truncations.values()), set(aec.terminations.values())), ({True}, {False}))

    def test_an_opponent_plays_the_other_seats(self):
        asked = []

        def first(game):
            asked.append(game.to_move)
            return game.legal()[0]

        solo = env.solo("hex", size=4, opponent=first, seat=1)
        observation, _ = solo.reset(seed=1)
        self.assertEqual((asked, observation["action_mask"].sum()), ([0], 15))
        over = False
        while not over:
            legal = numpy.flatnonzero(observation["action_mask"])
            observation, reward, over, _, info = solo.step(int(legal[-1]))
        self.assertIn(reward, (1, -1))
        self.assertEqual(info["outcome"]["reason"], "connected")
        self.assertRaises(ValueError, env.solo, "hex")

    def test_a_wrong_opponent_pays_nothing(self):
        for wrong in (None, "a1", 99999):
            solo = env.solo("hex", size=4, opponent=lambda game: wrong, seat=1)
            with self.assertRaisesRegex(ValueError, "the opponent's action is wrong"):
                solo.reset(seed=1)

    def test_seeds_determine_draws(self):
        def play(seed):
            aec, chooser = env.aec(PROGRAMS / "pig"), random.Random(1)
            seen = []
            for begin in seed, None:
                aec.reset(seed=begin)
                seen.append([])
                for _ in range(30):
                    aec.step(chooser.choice(aec.episode.game.legal()))
                    seen[-1].append(str(aec.episode.game))
            return seen

        first, second = play(1)
        self.assertEqual([first, second], play(1))
        self.assertNotEqual(first, play(2)[0])
        self.assertNotEqual(first, second, "the next episode has other draws")

    def test_negative_and_huge_seeds_are_refused(self):
        start = games.start("hex", size=3)
        for seed in [-1, 1 << 64]:
            for use in [lambda: env.Vector(start, 2, seed=seed), lambda: games.playouts(start, 2, seed),
                        lambda: env.aec(start).reset(seed=seed)]:
                with self.assertRaisesRegex(ValueError, "a seed is a whole number from 0 to"):
                    use()

    def test_a_missing_package_is_named(self):
        for name, make in [("pettingzoo", lambda: env.aec("hex")), ("gymnasium", lambda: env.solo("peg-solitaire"))]:
            with mock.patch.dict(sys.modules, {name: None}), self.assertRaisesRegex(ImportError, "pip install " + name):
                make()

    def test_the_page_of_the_module_works(self):
        code = "import referee_kit\nenv = referee_kit.env.aec('hex', size=5)\nprint(env.possible_agents)"
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
        self.assertEqual(child.stdout, "['seat_0', 'seat_1']\n")

    def test_unknown_modes_are_refused(self):
        for make in [env.aec, env.solo]:
            with self.assertRaisesRegex(ValueError, "render_mode is 'ansi' or None, not 'human'"):
                make("peg-solitaire", render_mode="human")
            self.assertEqual(make("peg-solitaire", render_mode="ansi").render_mode, "ansi")

    def test_pickled_and_copied_environments_go_on_in_the_same_way(self):
        for make in [lambda: env.aec(PROGRAMS / "pig"), lambda: env.solo(PROGRAMS / "pig", opponent="random"),
                     lambda: env.solo("hex", size=3, opponent="random", plies_max=4)]:
            for again in [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]:
                one = again(make())
                one.reset(seed=3)
                other = again(one)
                for _ in range(12):
                    legal = one.episode.game.legal()
                    if not legal:
                        break
                    seen = [it.step(legal[-1]) or it.last() for it in (one, other)]
                    self.assertEqual(str(seen[0]), str(seen[1]))
                self.assertEqual(one.episode.game.position(), other.episode.game.position())
        for again in [copy.copy, copy.deepcopy, pickle.dumps]:
            with self.assertRaisesRegex(TypeError, "a Vector can't be copied or pickled"):
                again(env.Vector("hex", 2, size=3))


class Vectors(unittest.TestCase):
    def test_a_vector_plays_as_its_games(self):
        for name, setup, start in every():
            if start.numbers > MANY or start.is_over():
                continue
            vector, chooser = env.Vector(name, 5, setup, seed=3, plies_max=10), numpy.random.default_rng(1)
            for _ in range(15):
                planes, masks, to_move = vector.observe()
                actions, own = [], []
                for number in range(5):
                    game = vector.game(number)
                    self.assertEqual(game.to_move, to_move[number])
                    self.assertTrue((game.planes() == planes[number]).all() and (game.mask() == masks[number]).all())
                    actions.append(int(chooser.choice(numpy.flatnonzero(masks[number]))))
                    game.play_number(actions[-1])
                    own.append(game)
                rewards, over, cut, illegal = vector.step(numpy.array(actions))
                self.assertFalse(illegal.any())
                for number, game in enumerate(own):
                    if game.chance is None:
                        self.assertEqual(game.is_over(), over[number])
                        self.assertEqual(numpy.float32(game.rewards()).tolist(), rewards[number].tolist())
                    if over[number] or cut[number]:
                        self.assertEqual(vector.game(number).turn, start.turn)

    def test_a_thousand_games_end_and_begin_anew(self):
        vector, wins = env.Vector("hex", 1000, size=4), 0
        chooser = numpy.random.default_rng(1)
        for _ in range(20):
            _, masks, _ = vector.observe()
            actions = (masks * chooser.random(masks.shape)).argmax(axis=1)
            rewards, over, cut, illegal = vector.step(actions)
            self.assertEqual(rewards[over].sum(), 0)
            self.assertFalse((cut | illegal).any() or rewards[~over].any())
            wins += int(over.sum())
        self.assertGreater(wins, 900)

    def test_more_than_the_memory_is_refused(self):
        code = "import resource\nfrom referee_kit import env\n" \
               "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n" \
               "resource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20),) * 2)\n" \
               "%s\n"
        begin = "env.Vector('hex', 1 << 20, size=5)"
        observe = "env.Vector('hex', 150_000, size=11).observe()"
        for made in [begin, observe]:
            child = subprocess.run([sys.executable, "-c", code % made], capture_output=True, encoding="utf-8")
            self.assertEqual((child.returncode, "MemoryError" in child.stderr), (1, True), child.stderr[-500:])

    def test_wrong_actions_are_refused(self):
        vector = env.Vector("hex", 2, size=3)
        for wrong in [[0], [0, 1, 2], [0.5, 1.5], [[0, 1]], ["a", "b"]]:
            self.assertRaises(ValueError, vector.step, wrong)
        rewards, over, _, illegal = vector.step([-1, 1 << 40])
        self.assertEqual((rewards.tolist(), over.tolist(), illegal.tolist()), ([[-1, 1]] * 2, [True] * 2, [True] * 2))
        for wrong in [0, -5]:
            with self.assertRaisesRegex(ValueError, "a batch has 1 to"):
                env.Vector("hex", wrong)
        with self.assertRaisesRegex(ValueError, "plies_max is a whole number .*, not -1"):
            env.Vector("hex", 2, plies_max=-1)
        for wrong in [2, -1]:
            with self.assertRaisesRegex(IndexError, "there is no game %d: they are 0 to 1" % wrong):
                vector.game(wrong)
        self.assertRaises(ValueError, env.Vector, "checker-puzzle", 1 << 20, size=26)


if __name__ == "__main__":
    unittest.main()
