"""`baton controllers` on a hub that another process serves: a member joins, a template reaches it, and of two replicas one acts."""
import http.client
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

from harness import DEADLINE, KUBECTL, TIMEOUT, WORK, main, poll, start_server

POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: maps, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {clusterNames: [member]}}
"""

MANAGED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: db, namespace: default, annotations: {rollout.karmada.io/managed: "true"}}
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "db:1"}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: dbs, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [member]}}
"""


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")


def tearDownModule():  # pylint: disable=invalid-name
    shutil.rmtree(WORK, ignore_errors=True)


class ControllersTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.hub_server, self.hub = start_server()
        self.addCleanup(self.hub_server.kill)
        self.member_server, self.member = start_server()
        self.addCleanup(self.member_server.kill)

    def controllers(self, *arguments):
        process = subprocess.Popen([os.environ["BATON"], "controllers", "--kubeconfig", self.hub.kubeconfig, *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
        self.addCleanup(end)
        self.assertEqual(process.stdout.readline(), "running\n")
        return process

    def baton(self, *arguments, code=0):
        done = subprocess.run([os.environ["BATON"], *arguments, "--kubeconfig", self.hub.kubeconfig], capture_output=True, text=True,
                              check=False, timeout=4 * DEADLINE)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def kubectl(self, cluster, *arguments, stdin=None):
        done = cluster.run(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    @staticmethod
    def free_port():
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    @staticmethod
    def ask(port, path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def lease(self):
        return self.hub.run("get", "lease", "-n", "kube-system", "baton-controllers", "-o", "jsonpath={.spec.holderIdentity}").stdout

    def arrives(self, name):
        self.kubectl(self.hub, "create", "configmap", name, "--from-literal=k=v")
        poll(lambda: self.member.run("get", "configmap", name).returncode == 0, f"{name} in the member")

    def test_a_template_reaches_a_member_that_joined_and_the_second_replica_takes_over(self):
        ports = [self.free_port(), self.free_port()]
        first = self.controllers("--install-crds", "--leader-elect", "--metrics-bind-address", f"127.0.0.1:{ports[0]}")
        holder = poll(self.lease, "a leader")
        poll(lambda: self.ask(ports[0], "/readyz") == (200, "ok"), "the leader to be ready")
        self.assertIn(f"_{first.pid}_", holder)
        out = self.baton("join", "member", "--cluster-kubeconfig", self.member.kubeconfig)
        self.assertIn("cluster/member joined", out)
        self.kubectl(self.hub, "wait", "--for=condition=Ready", "cluster/member", TIMEOUT)
        self.kubectl(self.hub, "apply", "-f", "-", stdin=POLICY)
        self.arrives("one")
        second = self.controllers("--leader-elect", "--metrics-bind-address", f"127.0.0.1:{ports[1]}")
        self.assertEqual([self.ask(port, "/healthz") for port in ports], [(200, "ok")] * 2)
        self.assertEqual(self.ask(ports[1], "/readyz")[0], 503)
        self.assertEqual(self.ask(ports[1], "/nothing")[0], 404)
        for port, leads in zip(ports, "10"):
            self.assertRegex(self.ask(port, "/metrics")[1], rf"(?m)^# TYPE baton_leader gauge\nbaton_leader {leads}$")
        # The first gives the lease back, so that nobody waits until it has run out.
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(timeout=DEADLINE), 0)
        poll(lambda: f"_{second.pid}_" in self.lease(), "the second to lead")
        poll(lambda: self.ask(ports[1], "/readyz") == (200, "ok"), "the second to be ready")
        self.arrives("two")
        self.kubectl(self.hub, "delete", "configmap", "one", "two")
        poll(lambda: self.member.run("get", "configmap", "one", "two", "--ignore-not-found").stdout == "", "what was placed there to be gone")
        out = self.baton("unjoin", "member")
        self.assertIn("cluster/member left", out)
        self.assertEqual(self.kubectl(self.hub, "get", "secrets", "-n", "karmada-cluster", "-o", "name"), "")
        second.send_signal(signal.SIGTERM)
        self.assertEqual(second.wait(timeout=DEADLINE), 0)
        self.assertEqual(self.lease(), "")

    def test_the_rollout_alone_beside_another_federation(self):
        self.assertIn("There are: * (all), federation, rollout", self.baton("controllers", "--controllers=federation,unicorns", code=2))
        # The other federation is one without a rollout; ours comes first, and has nobody to follow yet.
        self.baton_crds()
        rollout = self.controllers("--controllers=StatefulMigrationController")
        self.baton("join", "member", "--cluster-kubeconfig", self.member.kubeconfig)
        self.kubectl(self.hub, "apply", "-f", "-", stdin=POLICY)
        self.kubectl(self.hub, "create", "configmap", "one", "--from-literal=k=v")
        self.kubectl(self.hub, "apply", "-f", "-", stdin=MANAGED)
        before = self.kubectl(self.hub, "get", "clusters,pp,rb,works,namespaces", "-A", "-o", "yaml")
        time.sleep(2)  # Long enough for a federation to do something; nothing to wait for, as nothing may happen.
        self.assertEqual(self.kubectl(self.hub, "get", "clusters,pp,rb,works,namespaces", "-A", "-o", "yaml"), before)
        self.controllers("--feature-gates=StatefulMigration=false")
        poll(lambda: self.member.run("get", "deployment", "db").returncode == 0, "the other federation to place it")
        writer = poll(lambda: self.hub.run("get", "writers", "-o", "jsonpath={.items[*].spec.holder.cluster}").stdout, "its Writer")
        self.assertEqual(writer, "member")
        rollout.send_signal(signal.SIGTERM)
        self.assertEqual(rollout.wait(timeout=DEADLINE), 0)

    def baton_crds(self):
        crds = subprocess.run([os.environ["BATON"], "crds"], capture_output=True, text=True, check=True, timeout=DEADLINE).stdout
        self.kubectl(self.hub, "apply", "--server-side", "-f", "-", stdin=crds)
        self.kubectl(self.hub, "wait", "--for=condition=Established", "crd", "--all", TIMEOUT)

    def test_a_member_that_cannot_join_is_told_why(self):
        self.controllers("--install-crds")
        path = os.path.join(WORK, "exec.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}],
clusters: [{name: k, cluster: {server: "https://127.0.0.1:1"}}],
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token, interactiveMode: Never}}}]}""")
        self.assertIn("'get-token', which the hub cannot run", self.baton("join", "member", "--cluster-kubeconfig", path, code=1))
        limited = self.member.as_user(token="limited-token")
        out = self.baton("join", "member", "--cluster-kubeconfig", limited.kubeconfig, code=1)
        self.assertRegex(out, "(may not|forbidden|cannot get)")
        self.assertEqual(self.kubectl(self.hub, "get", "clusters", "-o", "name"), "")


if __name__ == "__main__":
    main()
