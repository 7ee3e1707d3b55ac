"""Sends every request of differential_requests.py to a real kube-apiserver and to `baton apiserver`, and compares the answers: status
code and body, after masking uids, times, versions and what else is random.

    KUBE_BIN=DIR tests/e2e-kube/run-real python3 tests/e2e-kube/differential_test.py build/src/cli/baton

DIFFERENTIAL_ONLY=text shows the rows whose name has that text in full.
"""
import fnmatch
import http.client
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
# pylint: disable=wrong-import-position
import harness
from harness import main, poll, start_server
from differential_requests import DIFFERENCES, ROWS, WORDING

ONLY = os.environ.get("DIFFERENTIAL_ONLY")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
RANDOM = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime", "continue", "storageVersionHash"}
NIL_UID = "00000000-0000-0000-0000-000000000000"


def masked(value, key=None):
    if isinstance(value, dict):
        if isinstance(value.get("causes"), list):  # kube-apiserver tells some of them several times
            value = {**value, "causes": [cause for i, cause in enumerate(value["causes"]) if cause not in value["causes"][:i]]}
        if isinstance(value.get("managedFields"), list):  # by time first: what is within a second is in one order or another
            order = sorted(value["managedFields"], key=lambda one: [one.get(name, "") for name in ("manager", "operation", "subresource", "apiVersion")])
            value = {**value, "managedFields": order}
        if value.get("details") == {}:
            value = {name: part for name, part in value.items() if name != "details"}
        generated = value.get("generateName")
        return {name: "MASKED" if generated and name == "name" else masked(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [masked(part, key) for part in value]
    if isinstance(value, str):
        if key in RANDOM and value:
            return "MASKED"
        value = UID.sub(lambda found: found[0] if found[0] == NIL_UID else "UID", value)  # first: what follows must not eat a part of one
        if key == "message":
            value = re.sub(r"(resource version: |resourceVersion: |current: |\()[0-9]+(?![-0-9a-f])", r"\g<1>MASKED", value)
        value = re.sub(r"\b([Gg]en[-_])[a-z0-9]{5}\b", r"\g<1>MASKED", value)
        value = re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", "TIME", value) if key in (None, "cells") else value
        return re.sub(r'(resourceVersion: ")[0-9]+', r"\g<1>MASKED", value)
    return value


def normal(document):
    """What docs/API.md names as a difference of every answer: items of a list carry their kind, columns of tables are not described.
    And ages in tables, which change."""
    if not isinstance(document, dict):
        return document
    if isinstance(document.get("items"), list):
        for item in document["items"]:
            if isinstance(item, dict):
                item.pop("apiVersion", None)
                item.pop("kind", None)
    if document.get("kind") == "Table":
        ages = [i for i, column in enumerate(document.get("columnDefinitions") or []) if column["name"] == "Age"]
        for column in document.get("columnDefinitions") or []:
            column["description"] = ""
        for line in document.get("rows") or []:
            for i in ages:
                line["cells"][i] = "AGE"
    return document


def differences(ours, real, at=""):
    if isinstance(ours, dict) and isinstance(real, dict):
        for name in sorted({*ours, *real}):
            yield from differences(ours.get(name, "(nothing)"), real.get(name, "(nothing)"), f"{at}.{name}")
    elif isinstance(ours, list) and isinstance(real, list) and len(ours) == len(real):
        for i, (left, right) in enumerate(zip(ours, real)):
            yield from differences(left, right, f"{at}[{i}]")
    elif ours != real:
        yield f"    {at or 'all'}\n      ours {json.dumps(ours)}\n      real {json.dumps(real)}"


def without_messages(value):
    if isinstance(value, dict):
        kept = {name: without_messages(part) for name, part in value.items() if name not in ("message", "causes")}
        return {name: part for name, part in kept.items() if name != "details" or part}
    return [without_messages(part) for part in value] if isinstance(value, list) else value


def watched(text):
    """The events of a watch, as a document."""
    try:
        return [json.loads(line) for line in text.splitlines()] if text.startswith("{") else text
    except ValueError:
        return text


def pattern_of(name, table):
    return next((pattern for pattern in table if fnmatch.fnmatchcase(name, pattern)), None)


class Side:
    """One server and what it answered so far."""

    def __init__(self, cluster):
        self.cluster, self.answers = cluster, {}

    def part(self, reference):
        name, path = reference.rsplit(":", 1)
        value = self.answers[name]
        for step in path.split("."):
            value = value[int(step)] if isinstance(value, list) else value.get(step, "") if isinstance(value, dict) else ""
        return value

    def filled(self, body):
        if isinstance(body, dict):
            return {name: self.filled(value) for name, value in body.items()}
        if isinstance(body, list):
            return [self.filled(value) for value in body]
        return self.part(body[1:]) if isinstance(body, str) and body.startswith("@") else body

    def send(self, row):
        path = re.sub(r"\{@([^}]*)\}", lambda found: str(self.part(found[1])), row["path"])
        body, headers = row["body"], {}
        if body is not None:
            body = body.encode() if isinstance(body, str) else json.dumps(self.filled(body)).encode()
            headers["Content-Type"] = row["type"]
        if row["accept"]:
            headers["Accept"] = row["accept"]
        try:
            reply = self.cluster.request(row["method"], path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.answers[row["name"]] = None
            return {"code": 0, "warnings": [], "body": repr(error)}
        try:
            document = json.loads(reply.body)
        except ValueError:
            document = watched(reply.body.decode(errors="replace"))
        self.answers[row["name"]] = document
        if "wait" in row:
            poll(lambda: self.cluster.request("GET", row["wait"]).status == 200, row["wait"])
        return {"code": reply.status, "warnings": sorted(reply.headers.get_all("Warning") or []), "body": normal(masked(document))}


class DifferentialTest(unittest.TestCase):
    def test_both_servers_answer_alike(self):
        self.assertGreaterEqual(len(ROWS), 300)
        names = [row["name"] for row in ROWS]
        self.assertEqual(len(set(names)), len(names), "two rows of a name")
        server, embedded = start_server(os.path.join(harness.WORK, "ours"))
        ours, real = Side(embedded), Side(harness.cluster)
        different, used, differ = [], set(), 0
        try:
            for row in ROWS:
                left, right = ours.send(row), real.send(row)
                found = list(differences(left, right))
                if ONLY and ONLY in row["name"]:
                    print(f"{row['name']}: {row['method']} {row['path']}\n  ours {json.dumps(left)}\n  real {json.dumps(right)}")
                if not found:
                    continue
                excused, worded = pattern_of(row["name"], DIFFERENCES), pattern_of(row["name"], WORDING)
                used.add(excused or worded)
                if excused or worded and without_messages(left) == without_messages(right):
                    differ += 1
                else:
                    different.append(f"  {row['name']}: {row['method']} {row['path'][:150]}\n" + "\n".join(found))
        finally:
            code = server.stop()
        self.assertEqual(code, 0)
        if different:
            self.fail(f"{len(different)} of {len(ROWS)} requests are answered differently:\n" + "\n".join(different))
        stale = sorted({*DIFFERENCES, *WORDING} - used)
        self.assertEqual(stale, [], "these are answered alike now: take them out of the table and of docs/API.md")
        print(f"differential: {len(ROWS)} requests, {differ} differ as docs/API.md says")


setUpModule, tearDownModule = harness.setUpModule, harness.tearDownModule

if __name__ == "__main__":
    if not harness.REAL:
        sys.exit("differential_test: needs a kube-apiserver to compare with: run it under tests/e2e-kube/run-real")
    main()
