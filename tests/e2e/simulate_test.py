"""`baton simulate`: one seed is one story, what is asked for in a wrong way is told, and a story that does not hold fails."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

BATON = ""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT = 300


def simulate(*arguments):
    done = subprocess.run([BATON, "simulate", *arguments], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    return done.returncode, done.stdout, done.stderr


class StoryTest(unittest.TestCase):
    def test_one_seed_is_one_story_and_ends_with_its_counts(self):
        for arguments in (["--seed", "3"], ["--seed", "4", "--kinds"], ["--seed", "5", "--drains"], ["--seed", "7", "--upgrades"], ["--seed", "8", "--wishes"], ["--seed", "6", "--weeks"], ["--pair", "forward:hub-dies-kept-20"]):
            with self.subTest(arguments):
                code, told, _ = simulate(*arguments, "--trace")
                self.assertEqual(code, 0, told[-2000:])
                self.assertEqual(simulate(*arguments, "--trace"), (0, told, ""))
                self.assertGreater(told.count("\n"), 200)

    def test_a_pair_tells_what_happens_to_the_hub(self):
        _, told, _ = simulate("--pair", "forward:hub-dies-lost-20")
        self.assertIn("dies; the controllers go on", told)
        self.assertIn("is back with what its disk has", told)
        _, told, _ = simulate("--pair", "abort:hub-restored-12")
        self.assertIn("puts a backup back on the hub's disk", told)

    def test_a_week_moves_one_job_from_where_the_move_before_has_left_it(self):
        code, told, _ = simulate("--weeks", "--seed", "8")
        self.assertEqual(code, 0, told[-2000:])
        moves = re.findall(r"asks for move move-(\d) from (\w+) to (\w+)", told)
        self.assertEqual([int(nth) for nth, _, _ in moves], list(range(1, 8)))
        for (nth, _, to), (_, source, _) in zip(moves, moves[1:]):
            if re.search(rf"move-{nth}: Succeeded", told):
                self.assertEqual(source, to)
        self.assertIn("Succeeded", told)

    def test_days_of_other_kinds_are_of_each_kind_in_turn(self):
        kinds = {simulate("--kinds", "--seed", str(seed))[1].splitlines()[-1].split(": ")[1].split(",")[0] for seed in range(9)}
        self.assertEqual(len(kinds), 9, kinds)

    def test_a_seed_of_a_row_is_the_same_alone(self):
        # Each in a fork of one beginning, and one of them with a beginning of its own.
        for mode in ([], ["--weeks"], ["--kinds"], ["--drains"], ["--upgrades"], ["--wishes"]):
            with self.subTest(mode):
                _, one, _ = simulate(*mode, "--seeds", "1", "--seed", "7", "-j", "1")
                _, many, _ = simulate(*mode, "--seeds", "8", "--seed", "0", "-j", "1")
                _, before, _ = simulate(*mode, "--seeds", "7", "--seed", "0", "-j", "1")
                calls = [int(re.search(r"(\d+) calls", text).group(1)) for text in (one, many, before)]
                self.assertGreater(calls[0], 0)
                self.assertEqual(calls[1] - calls[2], calls[0])

    def test_many_print_counters_and_end_well(self):
        code, told, _ = simulate("--seeds", "20", "-j", "2")
        self.assertEqual(code, 0, told)
        for word in ("20 seeds, 0 failed", "moves ended:", "whole moves:", "the longest that a workload ran nowhere", "faults:", "deaths of the hub", "probes hit:"):
            self.assertIn(word, told)

    def test_a_story_that_does_not_hold_says_where_and_exits_with_1(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wrong.yaml")
            with open(os.path.join(ROOT, "tests/scenarios/moves/hub_dies_at_the_grant.yaml"), encoding="utf-8") as story:
                text = story.read()
            with open(path, "w", encoding="utf-8") as wrong:
                wrong.write(text.replace("writers: 3", "writers: 4"))
            code, told, _ = simulate("--scenario", path)
            self.assertEqual(code, 1)
            self.assertIn("line 22, column 9", told)


class WrongWordsTest(unittest.TestCase):
    def test_what_does_not_go_together_is_told(self):
        for arguments, words in (
                (["--kinds", "--matrix"], "--matrix does not go with --kinds"),
                (["--kinds", "--drains"], "--drains does not go with --kinds"),
                (["--drains", "--probes"], "--probes does not go with --drains"),
                (["--upgrades", "--weeks"], "--weeks does not go with --upgrades"),
                (["--kinds", "--trace"], "--trace is for a single seed"),
                (["--singles", "--seeds", "5"], "--seeds is for random days"),
                (["--pair", "forward:nothing-3"], "hub-restored-N"),
                (["--pair", "sideways:before-3"], "is no pair"),
                (["--seeds", "none"], "--seeds is a number"),
                (["--scenario", "x.yaml", "--kinds"], "--scenario plays one file"),
        ):
            with self.subTest(arguments):
                code, _, said = simulate(*arguments)
                self.assertEqual(code, 2, said)
                self.assertIn(words, said)

    def test_a_write_that_a_move_does_not_have_is_told(self):
        code, told, _ = simulate("--pair", "forward:before-100000")
        self.assertEqual(code, 1)
        self.assertIn("the move has no such write", told)


if __name__ == "__main__":
    BATON = sys.argv.pop(1)
    unittest.main()
