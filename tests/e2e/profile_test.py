"""A kind that Baton does not know is moved by the profile of the manual (docs/examples/profile-widget.yaml), as its reader would do it: a
CRD, the profile, a policy, `baton migrate`. The Widgets' operator is this file's: it runs them, saves their state and starts from it."""
import http.client
import json
import os
import shutil
import threading
import unittest

from harness import KUBECTL, WORK, main, poll
from federation_harness import World

MEMBERS = ("member1", "member2")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples")
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"""
POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: widgets, namespace: default}
spec:
  resourceSelectors: [{apiVersion: example.com/v1, kind: Widget}]
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
"""
WIDGET = """
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: default, annotations: {rollout.karmada.io/managed: "true"}}
spec: {bucket: "s3://widgets", paused: false}
"""


class Operator:
    """Widgets of one cluster. A running one counts; a paused one has saved how far it came."""
    lock = threading.Lock()
    bucket = {}  # what was saved, by where; all clusters reach it
    running = {}  # cluster: how far its Widget has counted
    overlaps = 0
    broken = set()  # clusters whose Widgets do not start

    def __init__(self, place):
        self.place, self.starts, self.over = place, {}, threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while not self.over.is_set():
            self.follow()
            self.over.wait(0.2)  # A server that has just learnt the kind refuses at first.

    def follow(self):
        try:
            watch = self.place.cluster.watch("/apis/example.com/v1/namespaces/default/widgets?watch=true&timeoutSeconds=3600")
            watch.connection.sock.settimeout(None)
            while (event := watch.next()) and "type" in event:
                with Operator.lock:
                    status = self.act(event["type"], event["object"])
                if status and status != event["object"].get("status"):
                    self.tell(event["object"], status)
        except (OSError, ValueError, http.client.HTTPException):
            pass  # The server ends.

    def act(self, kind, widget):
        spec, was = widget["spec"], widget.get("status", {})
        here = self.place.name
        if kind == "DELETED":
            Operator.running.pop(here, None)
            return None
        starts = self.starts.setdefault(widget["metadata"]["uid"], 0)  # what an event tells of our own status may be old
        status = {"observedGeneration": widget["metadata"]["generation"], "starts": starts}
        if spec.get("paused"):
            count = Operator.running.pop(here, None)
            status.update(phase="Paused")
            if count is not None and spec.get("saveTo"):
                Operator.bucket[spec["saveTo"] + "/state"] = count
                status.update(savedTo=spec["saveTo"] + "/state")
            elif was.get("savedTo"):
                status.update(savedTo=was["savedTo"])
            return status
        if here in Operator.broken:
            return {**status, "phase": "Broken", "message": "no such image"}
        if here not in Operator.running:
            Operator.overlaps += len(Operator.running)
            # One that ran here goes on from what it saved, unless it is told from what.
            Operator.running[here] = Operator.bucket.get(spec.get("startFrom") or was.get("savedTo"), 0)
            self.starts[widget["metadata"]["uid"]] = status["starts"] = starts + 1
            status.update(startedFrom=spec.get("startFrom") or "")
        else:
            status.update({name: was[name] for name in ("startedFrom",) if name in was})
        Operator.running[here] += 1
        return {**status, "phase": "Active", **({"savedTo": was["savedTo"]} if "savedTo" in was else {})}

    def tell(self, widget, status):
        path = f"/apis/example.com/v1/namespaces/default/widgets/{widget['metadata']['name']}/status"
        self.place.cluster.request("PATCH", path, json.dumps({"status": status}).encode(), {"Content-Type": "application/merge-patch+json"})


world, operators = None, []


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")
    global world
    world = World(*MEMBERS)
    try:
        world.start()
        for place in (world.hub, *world.members):
            place.apply(CRD)
            place.kubectl("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=60s")
        for place in world.members:
            operators.append(Operator(place))
            poll(lambda place=place: "example.com/v1" in world.hub.field(".status.apiEnablements[*].groupVersion", "cluster", place.name),
                 f"Widgets in {place.name}")
    except BaseException:
        world.remove()
        raise


def tearDownModule():  # pylint: disable=invalid-name
    for operator in operators:
        operator.over.set()
    try:
        world.stop()
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


class ProfileTest(unittest.TestCase):
    def holder(self):
        return world.hub.field(".spec.holder.cluster", "writer", "w-widget")

    def phase(self, cluster):
        return next(place for place in world.members if place.name == cluster).field(".status.phase", "widget", "w")

    def test_a_kind_that_nobody_built_in_is_moved_back_and_forth(self):
        profile = os.path.join(EXAMPLES, "profile-widget.yaml")
        world.hub.kubectl("apply", "-f", profile)
        world.hub.apply(POLICY, WIDGET)
        poll(lambda: world.hub.run("get", "writer", "w-widget").returncode == 0 and self.holder(), "the Writer of the Widget")
        here = self.holder()
        poll(lambda: self.phase(here) == "Active", "the Widget to run")
        with Operator.lock:
            before = Operator.running[here]
        for _ in range(2):
            there = next(name for name in MEMBERS if name != here)
            out = world.baton("migrate", "widget/w", "--to", there, "--wait", "--stabilization", "1s", "--timeout", "2m")
            self.assertIn("Succeeded", out)
            self.assertEqual(self.holder(), there)
            with Operator.lock:
                self.assertEqual(list(Operator.running), [there])
                self.assertGreater(Operator.running[there], before, "it went on from its state")
                before = Operator.running[there]
            here = there
        self.assertEqual(Operator.overlaps, 0)
        self.assertIn("ExactlyOnce", world.hub.field(".items[*].status.guarantee", "statefulmigrations"))

        there = next(name for name in MEMBERS if name != here)
        Operator.broken.add(there)
        out = world.baton("migrate", "widget/w", "--to", there, "--wait", "--stabilization", "1s", "--timeout", "2m", code=3)
        self.assertIn(f"RolledBack: rolled back: {here} runs again; why: its operator says Broken: no such image", out)
        self.assertEqual(self.holder(), here)
        poll(lambda: self.phase(here) == "Active", "the Widget to run again")
        with Operator.lock:
            self.assertEqual(list(Operator.running), [here])
            self.assertGreater(Operator.running[here], before, "it went on from its state")
        self.assertEqual(Operator.overlaps, 0)


if __name__ == "__main__":
    main()
