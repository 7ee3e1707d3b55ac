"""Every rule of the federation's kinds (src/api/federation_*_test.cc: an object that keeps it and one that does not) on a server that
has the definitions of `baton crds` and runs no admission of ours, as a real hub does: what keeps the rules is accepted, what breaks
one is refused where a schema can say so. The rest only admission can refuse: `baton up`, whose hub is asked the same here (the late
admission of `baton controllers` refuses nothing).

The rules are in tests/golden/federation_rules.jsonl, a line each, made by
    BATON_RULES_OUT=rules.jsonl build/src/api/api_test        # and `schema`, who refuses it, by this suite with RULES_RECORD=rules.jsonl
"""
import json
import os
import subprocess
import unittest

from harness import E2E, Cluster, Reply, TIMEOUT, embedded_only, main, poll, setUpModule as start, tearDownModule  # noqa: F401,E501  pylint: disable=unused-import,line-too-long
import harness
from up_harness import Up

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "federation_rules.jsonl")
RECORD = os.environ.get("RULES_RECORD")
plurals = {}


def setUpModule():  # pylint: disable=invalid-name
    if "BATON" not in os.environ:
        raise unittest.SkipTest("BATON must name the program that prints the definitions, also on a real server")
    start()
    crds = subprocess.run([os.environ["BATON"], "crds"], capture_output=True, text=True, check=True).stdout
    done = harness.cluster.run("apply", "--server-side", "-f", "-", stdin=crds)
    assert done.returncode == 0, done.stderr
    done = harness.cluster.run("wait", "--for=condition=Established", TIMEOUT, "crd", "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    for crd in json.loads(harness.cluster.run("get", "crds", "-o", "json").stdout)["items"]:
        names, spec = crd["spec"]["names"], crd["spec"]
        plurals[(spec["group"], names["kind"])] = (names["plural"], spec["scope"] == "Namespaced")


class FederationRulesTest(E2E):
    def setUp(self):
        super().setUp()
        self.connection = self.cluster.connection()  # one for all: there are hundreds of requests
        self.addCleanup(self.connection.close)

    def create(self, document):
        """The server's answer to a dry run."""
        document = json.loads(json.dumps(document))
        plural, namespaced = plurals[(document["apiVersion"].split("/")[0], document["kind"])]
        where = f"/apis/{document['apiVersion']}/"
        if namespaced:
            document["metadata"]["namespace"] = self.ns
            where += f"namespaces/{self.ns}/"

        def answer():
            self.connection.request("POST", f"{where}{plural}?dryRun=All", json.dumps(document), {"Content-Type": "application/json"})
            reply = Reply(self.connection.getresponse())
            return None if reply.status == 404 else reply
        return poll(answer, f"{plural} to be served")

    def test_each_rule_good_and_bad(self):
        with open(RECORD or GOLDEN, encoding="utf-8") as file:
            rules = [json.loads(line) for line in file]
        self.assertGreater(len(rules), 100)
        left, wrong = [], []
        for rule in rules:
            good, bad = self.create(rule["good"]), self.create(rule["bad"])
            if good.status != 201:
                wrong.append(f"a good one is refused: {rule['good']}: {good.body.decode()[:500]}")
            if RECORD:
                rule["schema"] = bad.status == 422
            if bad.status != (422 if rule["schema"] else 201):
                wrong.append(f"{bad.status} for {rule['bad']}: {bad.body.decode()[:500]}")
            if not rule["schema"]:
                left.append(rule["error"])
        self.assertEqual(wrong, [])
        if RECORD:
            with open(GOLDEN, "w", encoding="utf-8") as file:
                for rule in rules:
                    file.write(json.dumps(rule, sort_keys=True) + "\n")
        print(f"{len(rules) - len(left)} of {len(rules)} rules are refused by the schema alone")


# What the rows of these kinds break is not what a hub would say: their scripts are words that a test's stand-in for Lua knows.
WITH_STAND_INS = {"ResourceInterpreterCustomization"}
CUSTOMIZATION = {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization", "metadata": {"name": "mine"}, "spec": {
    "target": {"apiVersion": "example.io/v1", "kind": "Thing"}, "customizations": {}}}


@embedded_only
class HubTest(unittest.TestCase):
    """The same rules on a hub of ours, which has admission: every bad one is refused, and the answer names the fields."""

    @classmethod
    def setUpClass(cls):
        cls.up = Up(practice=0)
        cls.addClassCleanup(cls.up.remove)
        cls.up.start()
        for namespace in ("team", "karmada-es-a"):
            cls.up.kubectl("create", "namespace", namespace)
        cls.cluster = Cluster(cls.up.kubeconfig)
        cls.connection = cls.cluster.connection()
        cls.addClassCleanup(cls.connection.close)

    def create(self, document, query="?dryRun=All"):
        plural, namespaced = plurals[(document["apiVersion"].split("/")[0], document["kind"])]
        where = f"/apis/{document['apiVersion']}/" + (f"namespaces/{document['metadata']['namespace']}/" if namespaced else "")
        self.connection.request("POST", f"{where}{plural}{query}", json.dumps(document), {"Content-Type": "application/json"})
        return Reply(self.connection.getresponse())

    def test_each_rule_good_and_bad(self):
        with open(GOLDEN, encoding="utf-8") as file:
            rules = [json.loads(line) for line in file]
        tried, repaired, wrong = 0, 0, []
        for rule in rules:
            if rule["bad"]["kind"] in WITH_STAND_INS:
                continue
            good, bad = self.create(rule["good"]), self.create(rule["bad"])
            if good.status != 201:
                wrong.append(f"a good one is refused: {rule['good']}: {good.body.decode()[:500]}")
            if rule["error"].startswith("spec.resourceModels") and bad.status == 201:
                repaired += 1  # by mutation, which is what the error's own test leaves out
                continue
            if bad.status not in (403, 422):
                wrong.append(f"{bad.status}, not refused: {rule['bad']}")
                continue
            fields = {cause["field"] for cause in bad.json["details"].get("causes", [])}
            if not fields or not all(f"{field}: " in rule["error"] for field in fields):
                wrong.append(f"{fields} is not what is wrong ({rule['error']}): {rule['bad']}")
            tried += 1
        self.assertEqual(wrong, [])
        self.assertEqual(repaired, 2)
        self.assertGreater(tried, 140)

    def test_a_customization_is_refused_with_the_line_of_its_script(self):
        mine = json.loads(json.dumps(CUSTOMIZATION))
        mine["spec"]["customizations"] = {"healthInterpretation": {"luaScript": "function InterpretHealth(o)\n  return = 1\nend"}}
        refused = self.create(mine)
        self.assertEqual(refused.status, 422, refused.body)
        self.assertRegex(refused.json["message"], r"spec\.customizations\.healthInterpretation\.luaScript: .*line 2: unexpected symbol near '='")
        mine["spec"]["customizations"]["healthInterpretation"]["luaScript"] = "function InterpretHealth(o) return true end"
        self.assertEqual(self.create(mine, "").status, 201)
        mine["metadata"]["name"] = "other"
        taken = self.create(mine)
        self.assertEqual(taken.status, 422, taken.body)
        self.assertIn('ResourceInterpreterCustomization "mine" has it for the same kind already', taken.json["message"])


if __name__ == "__main__":
    main()
