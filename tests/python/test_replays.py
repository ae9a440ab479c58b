"""Recorded matches as games and arrays. Run by tests/wheel, with a Python that has the wheel and numpy."""
import json
import tempfile
import unittest
from pathlib import Path

import numpy

from referee_kit import games, records, replays

TRANSCRIPTS = Path(__file__).resolve().parents[1] / "tests" / "transcripts"


class Replays(unittest.TestCase):
    def test_every_recorded_match_can_be_read(self):
        for match in records(TRANSCRIPTS):
            file, plies = match["path"], match["plies"]
            samples = [(sample.game.to_move, sample.seat, sample.action) for sample in replays.samples(file)]
            self.assertEqual([(seat, action) for _, seat, action in samples],
                             [(ply["seat"], ply["action"]) for ply in plies])
            self.assertTrue(all(to_move == seat for to_move, seat, _ in samples), file)
            game = replays.position(file)
            if match["outcome"]:
                outcome = game.outcome()
                self.assertEqual((outcome["places"], outcome["reason"]),
                                 (match["outcome"]["places"], match["outcome"]["reason"]), file)

    def test_a_position_at_a_ply(self):
        file = TRANSCRIPTS / "hex-swap.jsonl"
        plies = records(file)[0]["plies"]
        self.assertEqual(replays.position(file, 0).turn, 0)
        self.assertEqual(replays.position(file, 2).turn, 2)
        self.assertRaises(IndexError, replays.position, file, len(plies) + 1)
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder, "other.jsonl")
            other.write_text("{}\n")
            self.assertRaises(ValueError, replays.position, other)

    def test_errors_name_the_file_and_the_turn(self):
        lines = (TRANSCRIPTS / "hex-swap.jsonl").read_text().splitlines()
        played = [number for number, line in enumerate(lines) if json.loads(line)["type"] == "played"]
        again = json.loads(lines[played[2]])
        again["action"] = {"type": "place", "at": [99, 0]}
        lines[played[2]] = json.dumps(again)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "wrong.jsonl")
            file.write_text("\n".join(lines))
            for read in [lambda: list(replays.samples(file)), lambda: replays.position(file)]:
                with self.assertRaisesRegex(games.IllegalAction, "wrong.jsonl, turn 2: "):
                    read()
            header = json.loads(lines[0])
            header["game"] = "nim"
            file.write_text(json.dumps(header) + "\n")
            with self.assertRaisesRegex(games.BadSetup, "wrong.jsonl: unknown game \"nim\".*pass rules="):
                replays.position(file)
        with self.assertRaisesRegex(ValueError, "one game and setup"):
            list(replays.batches(TRANSCRIPTS))

    def test_batches_have_the_samples_of_matches_with_a_verdict(self):
        file = TRANSCRIPTS / "freckers-all-across.jsonl"
        samples = list(replays.samples(file))
        batches = list(replays.batches(file, 50))
        self.assertEqual([len(batch.actions) for batch in batches[:-1]], [50] * (len(batches) - 1))
        self.assertEqual(sum(len(batch.actions) for batch in batches), len(samples))
        self.assertEqual(numpy.concatenate([batch.rewards for batch in batches]).tolist(),
                         [sample.reward for sample in samples])
        for batch in batches:
            rows = numpy.arange(len(batch.actions))
            self.assertTrue((batch.masks[rows, batch.actions] == 1).all())
            self.assertEqual(batch.planes.shape[1:], (9, 8, 8))
        self.assertEqual(list(replays.batches(TRANSCRIPTS / "hex-void.jsonl")), [])
        for wrong in [0, -1]:
            with self.assertRaisesRegex(ValueError, "size is at least 1, not"):
                list(replays.batches(file, wrong))


if __name__ == "__main__":
    unittest.main()
