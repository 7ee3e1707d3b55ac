"""The federation at work between processes: the manifests of the seeds give what the seeds describe, a policy changes, members go away
and come back. On `baton apiserver` as hub and members, and in `make e2e-kube` on real kube-apiservers (federation_harness.py)."""
import json
import os
import re
import secrets
import shutil
import time
import unittest

from harness import KUBECTL, REAL, WORK, embedded_only, main, poll
from federation_harness import World

SEEDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "seeds")
MANAGED = r".metadata.labels.karmada\.io/managed"
world = None  # One for all tests, each of which has a namespace of its own.

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx, labels: {app: nginx}}
spec:
  replicas: 3
  selector: {matchLabels: {app: nginx}}
  template: {metadata: {labels: {app: nginx}}, spec: {containers: [{name: nginx, image: nginx}]}}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: nginx-svc}
spec: {selector: {app: nginx}, ports: [{port: 80}]}
"""


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")
    global world
    world = World("member1", "member2")
    try:
        world.start()
    except BaseException:
        world.remove()
        raise


def tearDownModule():  # pylint: disable=invalid-name
    try:
        world.stop()
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


def seed(name):
    with open(os.path.join(SEEDS, f"{name}.yaml"), encoding="utf-8") as file:
        return file.read()


def policy(kind="ConfigMap", name="a", clusters="member1, member2", more="", api="v1"):
    return f"""
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {{name: p-{name}}}
spec:
  resourceSelectors: [{{apiVersion: {api}, kind: {kind}, name: {name}}}]
  placement: {{clusterAffinity: {{clusterNames: [{clusters}]}}}}
  {more}
"""


def config_map(name, value):
    return f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{value: "{value}"}}\n'


class FederationTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.ns = f"fed-{secrets.token_hex(4)}"
        self.hub, self.member1, self.member2 = world.hub, world.member1, world.member2
        self.hub.kubectl("create", "namespace", self.ns)

    def apply(self, *texts, to=None):
        (to or self.hub).kubectl("apply", "-n", self.ns, "-f", "-", stdin="\n---\n".join(texts))

    def field(self, place, path, *what):
        return place.field(path, "-n", self.ns, *what)

    def becomes(self, place, path, expected, *what):
        poll(lambda: self.field(place, path, *what) == expected, f"{place.name}: {path} of {' '.join(what)} to be {expected!r} "
             f"(it is {self.field(place, path, *what)!r})")

    def there(self, place, *what):
        return poll(lambda: place.run("get", "-n", self.ns, *what).returncode == 0, f"{' '.join(what)} in {place.name}")

    def gone(self, place, *what):
        poll(lambda: place.kubectl("get", "-n", self.ns, *what, "--ignore-not-found", "-o", "name") == "", f"{' '.join(what)} gone from {place.name}")

    def namespace_in(self, place):
        poll(lambda: place.run("get", "namespace", self.ns).returncode == 0, f"the namespace in {place.name}")

    def quiet(self):
        """Everything written before this was looked at: something written after it has arrived in both members."""
        name = f"mark-{secrets.token_hex(4)}"
        self.apply(policy(name=name), config_map(name, "1"))
        self.there(self.member1, "configmap", name)
        self.there(self.member2, "configmap", name)

    def condition(self, kind, name, condition):
        return self.field(self.hub, f'.status.conditions[?(@.type=="{condition}")].status', kind, name)

    # ---- seed 001: one of two clusters, with an override for one of them ----

    def test_max_groups_1_places_it_in_one_cluster_and_the_override_is_for_that_one(self):
        self.apply(seed("failover-demo"))
        self.becomes(self.member1, ".spec.template.spec.containers[0].image", "fake/nginx", "deployment", "nginx")
        self.assertEqual(self.field(self.member1, ".spec.replicas", "deployment", "nginx"), "2")
        self.assertEqual(self.field(self.hub, ".spec.clusters[*].name", "resourcebinding", "nginx-deployment"), "member1")
        self.quiet()
        self.gone(self.member2, "deployment", "nginx")
        # The old name of the purge mode is accepted; the new one is what is kept.
        self.becomes(self.hub, ".spec.failover.application.purgeMode", "Gracefully", "propagationpolicy", "nginx-propagation")
        # The template itself is as it was written.
        self.assertEqual(self.field(self.hub, ".spec.template.spec.containers[0].image", "deployment", "nginx"), "nginx")

    def test_a_members_status_becomes_the_templates(self):
        self.apply(policy("Deployment", "nginx", api="apps/v1"), DEPLOYMENT)
        for place in (self.member1, self.member2):
            self.there(place, "deployment", "nginx")
            generation = int(self.field(place, ".metadata.generation", "deployment", "nginx"))
            place.kubectl("patch", "-n", self.ns, "deployment", "nginx", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
                "observedGeneration": generation, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}}))
        self.becomes(self.hub, ".status.readyReplicas", "6", "deployment", "nginx")
        self.becomes(self.hub, ".status.aggregatedStatus[*].health", "Healthy Healthy", "resourcebinding", "nginx-deployment")
        self.assertEqual(self.condition("resourcebinding", "nginx-deployment", "FullyApplied"), "True")
        self.assertEqual(self.condition("resourcebinding", "nginx-deployment", "Scheduled"), "True")

    # ---- seed 002: suspension ----

    def test_blue_green_by_three_policies(self):
        def step(number):
            return seed(f"blue-green-step-{number}").replace("- blue", "- member1").replace("- green", "- member2")
        self.apply(step(1), DEPLOYMENT)
        self.there(self.member1, "deployment", "nginx")
        self.quiet()
        self.gone(self.member2, "deployment", "nginx")
        self.apply(step(2))
        self.there(self.member2, "deployment", "nginx")
        uid = self.field(self.member2, ".metadata.uid", "deployment", "nginx")
        self.apply(step(3))
        self.gone(self.member1, "deployment", "nginx")
        self.assertEqual(self.field(self.member2, ".metadata.uid", "deployment", "nginx"), uid)

    def test_a_suspended_policy_lets_nothing_through_until_it_is_resumed(self):
        self.apply(policy(more="suspension: {dispatching: true}"), config_map("a", "1"))
        self.becomes(self.hub, ".spec.suspension.dispatching", "true", "resourcebinding", "a-configmap")
        self.quiet()
        self.gone(self.member1, "configmap", "a")
        self.apply(policy())
        self.becomes(self.member1, ".data.value", "1", "configmap", "a")
        self.becomes(self.member2, ".data.value", "1", "configmap", "a")
        # One cluster only, and a pause is total: neither a change nor the removal gets through.
        self.apply(policy(more="suspension: {dispatchingOnClusters: {clusterNames: [member1]}}"))
        self.becomes(self.hub, ".spec.suspension.dispatchingOnClusters.clusterNames[0]", "member1", "resourcebinding", "a-configmap")
        self.quiet()
        version = self.field(self.member1, ".metadata.resourceVersion", "configmap", "a")
        self.apply(config_map("a", "2"))
        self.becomes(self.member2, ".data.value", "2", "configmap", "a")
        self.apply(policy(clusters="member2", more="suspension: {dispatchingOnClusters: {clusterNames: [member1]}}"))
        self.becomes(self.hub, ".spec.clusters[*].name", "member2", "resourcebinding", "a-configmap")
        self.quiet()
        self.assertEqual(self.field(self.member1, ".metadata.resourceVersion", "configmap", "a"), version)
        self.apply(policy(clusters="member2"))
        self.gone(self.member1, "configmap", "a")
        self.assertEqual(self.field(self.member2, ".data.value", "configmap", "a"), "2")

    def test_a_bot_reverts_what_we_write_and_the_suspended_work_makes_no_write(self):
        self.apply(policy(clusters="member1"), config_map("a", "1"))
        self.becomes(self.member1, ".data.value", "1", "configmap", "a")
        bot = ("patch", "-n", self.ns, "configmap", "a", "--type=merge", "-p")
        self.member1.kubectl(*bot, '{"data":{"value":"bot"}}')
        self.becomes(self.member1, ".data.value", "1", "configmap", "a")
        work = poll(lambda: [w["metadata"]["name"] for w in self.hub.get("works", "-n", "karmada-es-member1")["items"]
                             if any(m["metadata"].get("namespace") == self.ns for m in w["spec"]["workload"]["manifests"])], "the Work")[0]
        in_space = ("work", work, "-n", "karmada-es-member1")
        self.hub.kubectl("patch", *in_space, "--type=merge", "-p", '{"spec":{"suspendDispatching":true}}')
        poll(lambda: self.hub.field('.status.conditions[?(@.type=="Dispatching")].status', *in_space) == "False", "the Work to say that it is suspended")
        self.member1.kubectl(*bot, '{"data":{"value":"bot"}}')
        version = self.field(self.member1, ".metadata.resourceVersion", "configmap", "a")
        self.apply(config_map("a", "2"))
        poll(lambda: self.hub.field(".spec.workload.manifests[0].data.value", *in_space) == "2", "the change in the Work")
        self.quiet()
        self.assertEqual(self.field(self.member1, ".metadata.resourceVersion", "configmap", "a"), version)
        self.assertEqual(self.hub.field(".spec.suspendDispatching", *in_space), "true")
        self.hub.kubectl("patch", *in_space, "--type=merge", "-p", '{"spec":{"suspendDispatching":null}}')
        self.becomes(self.member1, ".data.value", "2", "configmap", "a")

    def test_replicas_shift_from_blue_to_green_by_an_override_policy(self):
        """The nine steps; blue (member1) runs what the hub does not manage, as there."""
        def shifted(replicas):
            self.apply(f"""
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {{name: shift}}
spec:
  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment, name: nginx}}]
  overrideRules:
  - targetCluster: {{clusterNames: [member2]}}
    overriders: {{plaintext: [{{path: /spec/replicas, operator: add, value: {replicas}}}]}}
""")
        self.namespace_in(self.member1)
        self.apply(DEPLOYMENT, to=self.member1)
        shifted(0)
        self.apply(policy("Deployment", "nginx", clusters="member2", api="apps/v1"), DEPLOYMENT)
        self.becomes(self.member2, ".spec.replicas", "0", "deployment", "nginx")
        for green in (1, 2, 3):
            shifted(green)
            self.becomes(self.member2, ".spec.replicas", str(green), "deployment", "nginx")
            self.assertEqual(self.field(self.member1, ".spec.replicas", "deployment", "nginx"), str(4 - green))
            self.member1.kubectl("scale", "-n", self.ns, "deployment/nginx", f"--replicas={3 - green}")
            self.assertEqual(self.field(self.member2, ".spec.replicas", "deployment", "nginx"), str(green))
        self.assertEqual(self.field(self.member1, ".spec.replicas", "deployment", "nginx"), "0")
        self.assertEqual(self.field(self.member1, MANAGED, "deployment", "nginx"), "")

    # ---- seed 003: a field inside a document, and what stays ----

    def test_the_field_overrider_changes_the_port_in_one_cluster(self):
        self.apply(policy(name="example-configmap"), seed("field-overrider"))
        document = r".data.config\.yaml"
        poll(lambda: re.search(r'port: "?3306"?\n', self.field(self.member1, document, "configmap", "example-configmap")), "the port in member1")
        self.there(self.member2, "configmap", "example-configmap")
        self.assertIn("port: 5432\n", self.field(self.member2, document, "configmap", "example-configmap"))
        for rest in ("ip: 127.0.0.1\n", "name: example\n", "zone: zone1\n"):
            self.assertIn(rest, self.field(self.member1, document, "configmap", "example-configmap"))

    def test_what_ran_in_a_member_is_taken_over_and_stays_when_the_template_is_deleted(self):
        self.namespace_in(self.member1)
        self.apply(DEPLOYMENT, SERVICE, to=self.member1)
        uids = [self.field(self.member1, ".metadata.uid", *what) for what in (("deployment", "nginx"), ("service", "nginx-svc"))]
        self.apply(seed("preserve-on-deletion"), DEPLOYMENT, SERVICE)
        for what in (("deployment", "nginx"), ("service", "nginx-svc")):
            self.becomes(self.member1, MANAGED, "true", *what)
        self.hub.kubectl("delete", "-n", self.ns, "deployment/nginx", "service/nginx-svc")
        for what in (("deployment", "nginx"), ("service", "nginx-svc")):
            self.becomes(self.member1, MANAGED, "", *what)
        self.gone(self.hub, "resourcebindings")
        self.assertEqual([self.field(self.member1, ".metadata.uid", *what) for what in (("deployment", "nginx"), ("service", "nginx-svc"))], uids)

    def test_what_is_in_a_member_already_is_left_alone_by_a_policy_that_does_not_say_overwrite(self):
        self.namespace_in(self.member1)
        self.apply(config_map("a", "theirs"), to=self.member1)
        self.apply(policy(clusters="member1"), config_map("a", "ours"))
        poll(lambda: "already exists" in self.field(self.hub, ".status.aggregatedStatus[0].appliedMessage", "resourcebinding", "a-configmap"),
             "the binding to say why")
        self.assertEqual(self.field(self.member1, ".data.value", "configmap", "a"), "theirs")

    # ---- changes ----

    def test_a_policy_changes_and_is_deleted(self):
        self.apply(policy(clusters="member1"), config_map("a", "1"))
        self.there(self.member1, "configmap", "a")
        self.apply(policy(clusters="member2"))
        self.there(self.member2, "configmap", "a")
        self.gone(self.member1, "configmap", "a")
        self.member2.kubectl("delete", "-n", self.ns, "configmap", "a")
        self.there(self.member2, "configmap", "a")  # again
        self.hub.kubectl("delete", "-n", self.ns, "propagationpolicy", "p-a")
        self.gone(self.hub, "propagationpolicy", "p-a")
        self.quiet()
        self.assertEqual(self.field(self.member2, ".data.value", "configmap", "a"), "1")
        self.hub.kubectl("delete", "-n", self.ns, "configmap", "a")
        self.gone(self.member2, "configmap", "a")

    def test_controllers_that_start_again_write_nothing_that_is_there(self):
        self.apply(policy(), config_map("a", "1"))
        self.becomes(self.member1, ".data.value", "1", "configmap", "a")
        self.becomes(self.member2, ".data.value", "1", "configmap", "a")
        poll(lambda: self.condition("resourcebinding", "a-configmap", "FullyApplied") == "True", "the binding to be applied")
        self.quiet()

        def versions():
            return [self.field(self.member1, ".metadata.resourceVersion", "configmap", "a"),
                    self.field(self.member2, ".metadata.resourceVersion", "configmap", "a"),
                    self.field(self.hub, ".metadata.resourceVersion", "configmap", "a"),
                    self.field(self.hub, ".metadata.resourceVersion", "resourcebinding", "a-configmap"),
                    self.field(self.hub, ".metadata.resourceVersion", "propagationpolicy", "p-a")]
        before = versions()
        world.controllers.kill()
        world.lead()
        self.quiet()
        self.assertEqual(versions(), before)

    def test_a_member_that_goes_away_and_comes_back_has_missed_nothing(self):
        self.apply(policy(), config_map("a", "1"))
        self.becomes(self.member2, ".data.value", "1", "configmap", "a")
        uid = self.field(self.member2, ".metadata.uid", "configmap", "a")
        self.member2.down()
        try:
            self.apply(config_map("a", "2"), policy(name="b"), config_map("b", "1"))
            begun = time.monotonic()
            self.becomes(self.member1, ".data.value", "2", "configmap", "a")
            self.there(self.member1, "configmap", "b")
            took = time.monotonic() - begun
            if REAL:  # half a minute until it is said; the embedded world has scenarios in virtual time for it
                self.hub.kubectl("wait", "--for=condition=Ready=false", "cluster/member2", "--timeout=180s")
        finally:
            self.member2.up()
        self.assertLess(took, 30, "a member that is silent delays no other")
        self.becomes(self.member2, ".data.value", "2", "configmap", "a")
        self.there(self.member2, "configmap", "b")
        self.assertEqual(self.field(self.member2, ".metadata.uid", "configmap", "a"), uid, "it was never deleted")
        world.ready()

    @embedded_only  # namespaces are emptied and ended by a controller manager there
    def test_a_member_leaves_and_joins_again(self):
        self.apply(policy(), config_map("a", "1"))
        self.there(self.member2, "configmap", "a")
        self.assertIn("cluster/member2 left", world.baton("unjoin", "member2"))
        self.gone(self.member2, "configmap", "a")
        self.there(self.member1, "configmap", "a")
        world.baton("join", "member2", "--cluster-kubeconfig", self.member2.kubeconfig)
        world.ready()
        self.there(self.member2, "configmap", "a")


if __name__ == "__main__":
    main()
