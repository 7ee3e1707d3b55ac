"""The program's front: version, help, and clear errors. Run by ctest with the program's path."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import zsh_completion

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

    def test_in_a_pod_the_service_account_is_used_where_there_is_no_kubeconfig(self):
        with tempfile.TemporaryDirectory() as home:
            def error(*arguments, **more):
                return subprocess.run([PROGRAM, "get", "migrations", *arguments], capture_output=True, text=True, check=False,
                                      env={"HOME": home, "PATH": os.environ["PATH"], **more}).stderr
            pod = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}
            self.assertIn(f"kubeconfig {home}/.kube/config: ", error())
            self.assertNotIn(".kube/config", error(**pod))
            if not os.path.exists("/var/run/secrets/kubernetes.io"):
                self.assertIn("in a pod, and no kubeconfig: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt: ", error(**pod))
            # What is named is what is used.
            self.assertIn("/nowhere", error("--kubeconfig", "/nowhere", **pod))
            self.assertIn("/nowhere", error(KUBECONFIG="/nowhere", **pod))
            self.assertIn(f"{home}/.kube/config", error("--context", "east", **pod))

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
        self.assertEqual(re.findall(r"^  group: (.+)$", out, re.MULTILINE), ["rollout.karmada.io"] * 4)
        code, out, err = run("crds", "--group=example.com")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("'example.com'", err)

    def test_simulate_tells_the_same_story_of_one_seed_every_time(self):
        code, out, err = run("simulate", "--seed", "3")
        self.assertEqual((code, err), (0, ""), out[-2000:])
        self.assertRegex(out, r"person +asks for move move from \w+ to \w+")
        self.assertRegex(out, r"\nseed=3: \w+; \d+ events, \d+ calls\n$")
        self.assertEqual(run("simulate", "--seed=3")[1], out)
        traced = run("simulate", "--seed", "3", "--trace")[1]
        self.assertGreater(len(traced), 2 * len(out))
        self.assertEqual(run("simulate", "--seed", "3", "--trace")[1], traced)

    def test_simulate_plays_a_plot_of_which_what_must_come_is_known(self):
        names = run("simulate", "--plot", "list")[1].split()
        self.assertIn("stuck-target", names)
        self.assertEqual(len(names), len(set(names)))
        code, out, err = run("simulate", "--plot", "stuck-target", "--seed", "5")
        self.assertEqual((code, err), (0, ""), out[-2000:])
        self.assertRegex(out, r" plot +stuck-target\n")
        self.assertRegex(out, r"\nseed=5: RolledBack\n$")

    def test_simulate_counts_many_seeds(self):
        code, out, err = run("simulate", "--seeds", "4", "-j", "2")
        self.assertEqual((code, err), (0, ""), out)
        self.assertRegex(out, r"^4 seeds, 0 failed; \d+ events, \d+ calls; [\d.]+ seeds per second and core\nmoves ended:")
        self.assertRegex(out, r"\nprobes hit: \d+ of \d+\n$")

    def test_simulate_refuses_what_makes_no_sense(self):
        for arguments in (("migrate", "flinkdep/a", "--to", "b"), ("migrate", "flinkdep/a", "--from-hub"), ("migrate", "a", "--to", "b", "--from-hub"),
                          ("drain", "--from-hub"), ("drain", "a", "--to", "b", "--from-hub"), ("drain", "a", "--from-hub", "--from", "f"),
                          ("drain", "a", "--from-hub", "--seeds", "0"), ("drain", "a", "--from-hub", "--trace"),
                          ("--seeds", "0"), ("--seeds", "many"), ("--seed", "-1"), ("-j", "0"), ("--seeds", "3", "--trace"), ("now",),
                          ("--scenario", "a.yaml", "--seeds", "3"), ("--plot", "no-such"), ("--plot", "herd", "--matrix"),
                          ("--weeks", "--matrix"), ("--weeks", "--drains")):
            code, out, err = run("simulate", *arguments)
            self.assertEqual((code, out), (2, ""), arguments)
            self.assertTrue(err.startswith("baton simulate: "), err)

    def test_simulate_of_a_saved_copy_says_what_is_wrong_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for text, why in (("", ""), ("{}", "no copy of a fleet"), ('{"batonFleetCopy": 1}', "no cluster 'blue'"),
                              ('{"batonFleetCopy": 1, "clusters": [{}]}', "has no name")):
                path = os.path.join(folder, "fleet.json")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                code, out, err = run("simulate", "drain", "blue", "--from", path)
                self.assertEqual((code, out), (1, ""), text)
                self.assertIn(why, err)
        for command in ("migrate", "drain"):
            code, out, err = run("simulate", command, "-h")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(len(re.findall(r"(?m)^  baton simulate ", out)), 3)
            self.assertLessEqual(max(map(len, out.splitlines())), 120)


class ScenarioTest(unittest.TestCase):
    """`baton simulate --scenario`: one story from a file, told, and judged by its exit code."""

    FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenarios")

    def play(self, name, *more):
        return run("simulate", "--scenario", os.path.join(self.FILES, name), *more)

    def test_a_story_that_holds_is_told(self):
        code, out, err = self.play("moves/crash_at_the_grant.yaml")
        self.assertEqual((code, err), (0, ""), out[-2000:])
        self.assertRegex(out, r"line 11 +migrate FlinkDeployment/orders, to: green\n")
        self.assertIn("the leader dies at update writers orders-flinkdeployment", out)
        self.assertRegex(out, r"\nThe leader dies at the grant.*\n  holds\n$")
        traced = self.play("moves/crash_at_the_grant.yaml", "--trace")
        self.assertGreater(len(traced[1]), 2 * len(out))

    def test_a_story_of_the_federation_alone_is_played_too(self):
        code, out, err = self.play("39_suspended_in_one_cluster.yaml")
        self.assertEqual((code, err), (0, ""), out[-2000:])

    def test_a_story_that_does_not_hold_fails_and_says_where(self):
        code, out, err = self.play("not_holding/a_wrong_phase.yaml")
        self.assertEqual((code, err), (1, ""))
        self.assertRegex(out, r"\n  FAILED: .*a_wrong_phase.yaml: line 10, column 9: it should be RolledBack and is Succeeded")

    def test_a_file_that_is_not_there_or_no_story_is_told(self):
        code, out, err = self.play("none.yaml")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("none.yaml", err)
        code, out, err = self.play("README.md")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, r"README.md: .*line \d+")


class ProfileTest(unittest.TestCase):
    """`baton profile`: what comes with Baton, and a user's own tried without a cluster."""

    EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "examples")

    def test_list_and_show_give_what_is_built_in(self):
        code, out, err = run("profile", "list")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"(?m)^statefulset +ExactlyOnce +apps/v1 StatefulSet")
        code, out, err = run("profile", "show", "cnpgcluster")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("kind: MigrationProfile", out)
        code, out, err = run("profile", "show", "nothing")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("'nothing'", err)

    def test_the_example_of_the_manual(self):
        profile, widget = (os.path.join(self.EXAMPLES, name) for name in ("profile-widget.yaml", "widget.yaml"))
        code, out, err = run("profile", "test", "-f", profile, "--object", widget)
        self.assertEqual((code, err), (0, ""), out)
        self.assertTrue(out.startswith("widget: valid, for example.com/v1 Widget, guarantee ExactlyOnce\n"), out)
        self.assertRegex(out, r"(?m)^  stop proven +yes$")
        self.assertRegex(out, r"(?m)^  capture +s3://widgets/example-4/state$")

    def test_what_does_not_fit_is_told(self):
        widget = os.path.join(self.EXAMPLES, "widget.yaml")
        code, _, err = run("profile", "test", "-f", "builtin:job", "--object", widget)
        self.assertEqual(code, 1)
        self.assertIn("the profile is for batch/v1 Job", err)
        with tempfile.TemporaryDirectory() as folder:
            wrong = os.path.join(folder, "wrong.yaml")
            with open(wrong, "w", encoding="utf-8") as file:
                file.write("{metadata: {name: x}, spec: {target: {apiVersion: example.com/v1, kind: Widget}, epoch: /spec/seq, "
                           "hold: [{path: /spec/paused, value: true}], run: [{path: /spec/paused, value: true}], stop: [{path: "
                           "/spec/paused, value: true}], script: 'function Judge() return {} end'}}")
            code, out, err = run("profile", "test", "-f", wrong, "--object", widget)
            self.assertEqual(code, 1, out)
            self.assertIn("what Run makes counts as held", err)
        self.assertEqual(run("profile", "test")[0], 1)
        self.assertEqual(run("profile", "taste")[0], 2)


class DownTest(unittest.TestCase):
    def test_nothing_to_stop_is_fine(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = run("down", "--data-dir", folder)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("nothing runs on", out)


class CompletionTest(unittest.TestCase):
    def complete(self, *words):
        quoted = " ".join(f"'{word}'" for word in (PROGRAM, *words))
        script = f'source <("{PROGRAM}" completion bash); COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _baton; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.split()

    def test_completes_commands_flags_and_values(self):
        self.assertEqual(self.complete("dr"), ["drain"])
        self.assertIn("migrate", self.complete("m"))
        self.assertEqual(self.complete("drain", "--dry"), ["--dry-run"])
        self.assertEqual(self.complete("get", "wr"), ["writers"])
        self.assertEqual(self.complete("plan", "m"), ["migrate"])
        self.assertEqual(self.complete("plan", "drain", "--ma"), ["--max"])
        self.assertEqual(self.complete("simulate", "dr"), ["drain"])
        self.assertEqual(self.complete("simulate", "drain", "--from-"), ["--from-hub"])
        self.assertEqual(self.complete("simulate", "--pro"), ["--probes"])
        self.assertEqual(self.complete("migrate", "-o", "y"), ["yaml"])

    def test_a_shell_that_is_not_known_is_told(self):
        code, out, err = run("completion", "fish")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("bash or zsh", err)


@unittest.skipUnless(zsh_completion.installed(), "no zsh on the PATH: completion for zsh is not tried (apt-get install zsh)")
class ZshCompletionTest(unittest.TestCase):
    def test_completes_commands_flags_and_values(self):
        for line, whole in (("baton unj", "baton unjoin"), ("baton drain --dry", "baton drain --dry-run"), ("baton get wr", "baton get writers"),
                            ("baton plan m", "baton plan migrate"), ("baton migrate -o y", "baton migrate -o yaml")):
            self.assertEqual(zsh_completion.complete(PROGRAM, line), whole)

    def test_loads_by_itself_and_from_the_function_path(self):
        for way in (zsh_completion.SOURCED_FIRST, zsh_completion.IN_FPATH):
            self.assertEqual(zsh_completion.complete(PROGRAM, "baton unj", way), "baton unjoin", way)


class CommandsOfPeopleTest(unittest.TestCase):
    """What the commands that talk to a hub say before they do."""

    def test_each_has_help_with_three_examples_that_start_with_a_command(self):
        for command in ("abort", "approve", "attest", "controllers", "get", "history", "join", "migrate", "pause", "plan", "practice", "resume",
                        "status", "undo", "unjoin", "verify"):
            for spelling in (("-h",), ("--help",), ("something", "-h")):
                code, out, err = run(command, *spelling)
                self.assertEqual((code, err), (0, ""), command)
                self.assertTrue(out.startswith(f"Usage: baton {command}"), out)
                self.assertIn("--kubeconfig", out)
            examples = re.search(r"Examples:\n((?:  .+\n)+)", out).group(1).splitlines()
            self.assertGreaterEqual(len([line for line in examples if line.startswith("  baton ")]), 3, command)
            self.assertLessEqual(max(map(len, out.splitlines())), 120, command)

    def test_a_command_line_that_makes_no_sense_ends_with_2_and_says_why(self):
        for arguments, text in (
                (("migrate",), "KIND/NAME, what is to be moved, is missing"),
                (("migrate", "orders", "--to", "b"), "'orders' is not KIND/NAME"),
                (("migrate", "flinkdep/orders"), "--to is missing"),
                (("migrate", "flinkdep/orders", "--to", "b", "--timeout", "soon"), "'soon' is no duration"),
                (("migrate", "flinkdep/orders", "--to", "b", "--on-failure", "Panic"), "'Panic' is neither Rollback nor Hold"),
                (("migrate", "flinkdep/orders", "--to", "b", "--capture-fallback", "Hope"), "'Hope' is not known; LastCheckpoint is"),
                (("migrate", "flinkdep/orders", "--to", "b", "--approve-before", "Lunch"), "'Lunch' is not known"),
                (("migrate", "flinkdep/orders", "--to", "b", "--stabilization", "1500ms"), "whole seconds"),
                (("migrate", "flinkdep/orders", "--to", "b", "--wait", "-o", "json"), "do not go together"),
                (("migrate", "flinkdep/orders", "--to", "b", "-n"), "--namespace needs a value"),
                (("migrate", "flinkdep/orders", "--to", "b", "-na", "--namespace=b"), "--namespace is given twice"),
                (("get",), "migrations, writers or clusters"),
                (("get", "pods"), "'pods' is not known"),
                (("get", "clusters", "-otable"), "-o table is not known"),
                (("abort",), "a migration's name is missing"),
                (("abort", "a", "b"), "'b' is not an option"),
                (("attest", "a", "--by", "me"), "--reason is missing"),
                (("history",), "KIND/NAME is missing"),
                (("join", "Member_1", "--cluster-kubeconfig", "f"), "'Member_1' is no name of a cluster"),
                (("join", "a"), "--cluster-kubeconfig is missing"),
                (("unjoin",), "the cluster's name is missing"),
                (("controllers", "--controllers", "weather"), "'weather' is not known"),
                (("controllers", "--leader-elect-namespace", "n"), "is for --leader-elect"),
                (("controllers", "--feature-gates", "Weather=true"), "There is: StatefulMigration"),
                (("controllers", "--feature-gates", "StatefulMigration=yes"), "neither true nor false"),
                (("controllers", "--controllers=StatefulMigrationController", "--feature-gates=StatefulMigration=false"), "nothing to run"),
                (("plan",), "migrate or drain"),
                (("plan", "lunch"), "'lunch' cannot be planned"),
                (("plan", "migrate", "orders"), "'orders' is not KIND/NAME"),
                (("plan", "drain"), "a cluster's name is missing"),
                (("plan", "drain", "a", "-o", "table"), "-o table is not known"),
                (("practice",), "say `check`"),
                (("practice", "fault", "a", "flood"), "flood"),
                (("practice", "fault", "a", "fail-job"), "needs --workload")):
            code, out, err = run(*arguments)
            self.assertEqual((code, out), (2, ""), (arguments, err))
            self.assertIn(text, err)
            self.assertIn("--help` tells how to use it", err)

    def test_a_hub_that_is_not_there_is_an_error_that_names_it(self):
        code, out, err = run("get", "clusters", "--kubeconfig", "/does/not/exist")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("/does/not/exist", err)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write('{current-context: c, contexts: [{name: c, context: {cluster: k}}], clusters: [{name: k, cluster: {server: "http://127.0.0.1:1"}}]}')
            file.flush()
            code, out, err = run("status", "--kubeconfig", file.name)
            self.assertEqual((code, out), (1, ""))
            self.assertIn("127.0.0.1:1", err)
            code, out, err = run("status", "--kubeconfig", file.name, "--context", "other")
            self.assertEqual((code, out), (1, ""))
            self.assertIn("other", err)

    def test_practice_check_without_a_directory_says_which(self):
        with tempfile.TemporaryDirectory() as directory:
            code, out, err = run("practice", "check", "--data-dir", directory)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(directory, err)


CUSTOMIZATION = """
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: thing}
spec:
  target: {apiVersion: example.io/v1, kind: Thing}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(o)
          print('looking at ' .. o.metadata.name)
          return o.status.ready == o.spec.size
        end
    retention:
      luaScript: |
        function Retain(desired, observed)
          desired.spec.node = observed.spec.node
          return desired
        end
    statusAggregation:
      luaScript: |
        function AggregateStatus(desired, items)
          desired.status = {members = #items}
          return desired
        end
    replicaRevision:
      luaScript: |
        function ReviseReplica(o, n)
          o.spec.size = n
          return o
        end
"""
THING = "{apiVersion: example.io/v1, kind: Thing, metadata: {name: t}, spec: {size: 2, node: n1}, status: {ready: 2}}"


class InterpretTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def ask(self, *arguments, customization=CUSTOMIZATION, observed=THING):
        return run("interpret", "-f", self.file("ric.yaml", customization), "--observed",
                   self.file("observed.yaml", observed), *arguments)

    def test_a_customization_is_tried(self):
        for name in ("InterpretHealth", "healthInterpretation"):
            code, out, err = self.ask("--operation", name)
            self.assertEqual((code, out), (0, "true\n"), err)
            self.assertEqual(err, "looking at t\nanswered by the customization\n")

    def test_every_operation_takes_what_it_needs(self):
        desired = self.file("desired.yaml", "{apiVersion: example.io/v1, kind: Thing, spec: {size: 3}}")
        code, out, err = self.ask("--operation", "Retain", "--desired", desired)
        self.assertEqual((code, out), (0, "apiVersion: example.io/v1\nkind: Thing\nspec:\n  node: n1\n  size: 3\n"), err)
        code, out, err = self.ask("--operation", "ReviseReplica", "--replicas", "7", "--desired", desired)
        self.assertEqual((code, out), (0, "apiVersion: example.io/v1\nkind: Thing\nspec:\n  size: 7\n"), err)
        binding = self.file("binding.yaml", "{status: {aggregatedStatus: [{clusterName: a}, {clusterName: b}]}}")
        code, out, err = self.ask("--operation", "AggregateStatus", "--items", binding)
        self.assertEqual(code, 0, err)
        self.assertIn("status:\n  members: 2\n", out)

    def test_what_is_built_in_answers_without_a_customization(self):
        pod = self.file("pod.yaml", "{apiVersion: v1, kind: Pod, status: {phase: Succeeded}}")
        code, out, err = run("interpret", "--operation", "InterpretHealth", "--observed", pod)
        self.assertEqual((code, out, err), (0, "true\n", "answered by what is built in for Kubernetes' own kinds\n"))
        code, out, err = run("interpret", "--operation", "GetReplicas", "--observed", pod)
        self.assertEqual((code, out), (0, "replicas: 1\n"), err)

    def test_a_bad_script_is_refused_with_line_and_message(self):
        broken = CUSTOMIZATION.replace("return desired\n", "return = desired\n", 1)
        code, out, err = self.ask("--operation", "Retain", customization=broken)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("spec.customizations.retention.luaScript: line 3: ", err)

    def test_a_script_that_does_not_end_is_stopped_and_reported(self):
        endless = CUSTOMIZATION.replace("return o.status.ready == o.spec.size", "while true do end")
        code, out, err = self.ask("--operation", "InterpretHealth", customization=endless)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("healthInterpretation: stopped after", err)

    def test_an_error_of_a_script_names_its_line(self):
        code, out, err = self.ask("--operation", "InterpretHealth", observed=THING.replace("status", "other"))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("healthInterpretation: line 3: attempt to index field 'status' (a nil value)", err)

    def test_what_makes_no_sense_is_said(self):
        for arguments, code, text in (
                ((), 2, "--operation is missing"),
                (("--operation", "Dance"), 2, "there is no operation 'Dance'"),
                (("--operation", "Retain"), 1, "--desired is missing"),
                (("--operation", "InterpretHealth", "--observed", "/does/not/exist"), 1, "cannot be read"),
                (("--loud",), 2, "'--loud' is not an option")):
            got, out, err = run("interpret", *arguments)
            self.assertEqual((got, out), (code, ""), err)
            self.assertIn(text, err)

    def test_help_tells_the_operations(self):
        code, out, _ = run("interpret", "--help")
        self.assertEqual(code, 0)
        self.assertIn("AggregateStatus", out)


unittest.main()
