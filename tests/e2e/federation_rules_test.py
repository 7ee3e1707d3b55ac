"""Every rule of the federation's kinds (src/api/federation_*_test.cc: an object that keeps it and one that does not) on a server that
has the definitions of `baton crds` and runs no admission of ours, as a real hub does: what keeps the rules is accepted, what breaks
one is refused where a schema can say so. The rest only admission can refuse: `baton up` and `baton controllers`' late admission.

The rules are in tests/golden/federation_rules.jsonl, a line each, made by
    BATON_RULES_OUT=rules.jsonl build/src/api/api_test        # and `schema`, who refuses it, by this suite with RULES_RECORD=rules.jsonl
"""
import json
import os
import subprocess
import unittest

from harness import E2E, Reply, TIMEOUT, main, poll, setUpModule as start, tearDownModule  # noqa: F401  pylint: disable=unused-import
import harness

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


if __name__ == "__main__":
    main()
