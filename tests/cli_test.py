"""The program's front: version, help, and clear errors. Run by ctest with the program's path."""
import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class CliTest(unittest.TestCase):
    def test_version_says_which_build_this_is(self):
        code, out, err = run("version")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^baton \d+\.\d+\.\d+ \(.+\)\n$")

    def test_help_lists_every_command(self):
        for spelling in ("--help", "-h", "help"):
            code, out, err = run(spelling)
            self.assertEqual((code, err), (0, ""), spelling)
            self.assertTrue(out.startswith("Baton moves running stateful workloads"), out)
            self.assertTrue(re.search(r"^  version ", out, re.MULTILINE), out)

    def test_no_command_shows_the_help_and_fails(self):
        code, out, err = run()
        self.assertEqual((code, out), (2, ""))
        self.assertIn("Usage:", err)

    def test_an_unknown_command_is_named_and_the_next_command_given(self):
        code, out, err = run("migarte")
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "baton: unknown command 'migarte'. `baton --help` lists the commands.\n")

    def test_an_argument_that_is_not_understood_is_an_error(self):
        code, out, err = run("version", "--loud")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("'--loud'", err)

    def test_crds_prints_one_definition_after_the_other(self):
        code, out, err = run("crds")
        self.assertEqual((code, err), (0, ""))
        documents = out.split("\n---\n")
        names = [re.search(r"^metadata:\n  name: (.+)$", document, re.MULTILINE).group(1) for document in documents]
        self.assertEqual(len(names), len(set(names)))
        for name in ("propagationpolicies.policy.karmada.io", "resourcebindings.work.karmada.io", "works.work.karmada.io", "clusters.cluster.karmada.io",
                     "flinkdeployments.flink.apache.org", "writers.rollout.karmada.io", "statefulmigrations.rollout.karmada.io"):
            self.assertIn(name, names)
        for document in documents:
            self.assertIn("kind: CustomResourceDefinition", document)

    def test_crds_of_one_group(self):
        code, out, err = run("crds", "--group", "rollout.karmada.io")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(re.findall(r"^  group: (.+)$", out, re.MULTILINE), ["rollout.karmada.io"] * 3)
        code, out, err = run("crds", "--group=example.com")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("'example.com'", err)


unittest.main()
