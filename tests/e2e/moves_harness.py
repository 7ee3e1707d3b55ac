"""A federation whose members play Flink: hub and members as processes of their own (federation_harness.py: `baton apiserver`, or real
kube-apiservers), `baton controllers`, and `baton practice operators`, whose jobs really process records, against the members.

    world = Moves("member1", "member2").start()
    world.begin("orders")
    world.baton("migrate", "flinkdep/orders", "--to", "member2", "--wait")
    assert world.check()["clean"]
"""
import json
import os
import subprocess

import harness
from harness import KUBECTL, poll
from federation_harness import Process, World
from up_harness import END_TIMEOUT, job


def policy(*clusters):
    return f"""
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {{name: streaming, namespace: default}}
spec:
  resourceSelectors: [{{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}}]
  placement:
    clusterAffinity: {{clusterNames: [{", ".join(clusters)}]}}
    spreadConstraints: [{{spreadByField: cluster, minGroups: 1, maxGroups: 1}}]
"""


class Moves(World):
    def __init__(self, *members, speed=50, operators_as=None):
        """operators_as: the user that the members' servers see when an operator calls; unless told, the admin as for everybody."""
        super().__init__(*members)
        self.speed, self.operators, self.operators_as = speed, None, operators_as
        self.data = os.path.join(harness.WORK, "practice")  # the jobs' records, which the judge reads
        self.kubeconfig_of_members = os.path.join(harness.WORK, "members.yaml")

    def start(self):
        super().start()
        self.operate()
        self.hub.apply(policy(*self.names))
        return self

    def operate(self):
        """The practice operators run, and the hub has seen that its members know their kinds."""
        merged = subprocess.run([KUBECTL, "config", "view", "--flatten", "--merge"], capture_output=True, text=True, check=True,
                                env={**os.environ, "KUBECONFIG": ":".join(renamed(place, self.operators_as) for place in self.members)}).stdout
        with open(os.open(self.kubeconfig_of_members, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            file.write(merged)
        self.operators = Process("practice", "operators", "--kubeconfig", self.kubeconfig_of_members, "--context", ",".join(self.names),
                                 "--data-dir", self.data, "--speed", str(self.speed))
        for place in self.members:
            poll(lambda place=place: "flink.apache.org" in self.hub.field(".status.apiEnablements[*].groupVersion", "cluster", place.name),
                 f"Flink's kinds in {place.name}")

    def begin(self, *names, text=job, **more):
        """Jobs of these names run; where the first one does."""
        self.hub.apply(*(text(name, **more) for name in names))
        for name in names:
            self.hub.kubectl("wait", "--for=jsonpath={.status.jobStatus.state}=RUNNING", f"flinkdeployment/{name}", f"--timeout={END_TIMEOUT}")
            poll(lambda name=name: self.holder(name), f"the Writer of {name}")
        return self.holder(names[0])

    def place(self, name):
        return next(place for place in self.members if place.name == name)

    def holder(self, name):
        return self.hub.field(".spec.holder.cluster", "writer", f"{name}-flinkdeployment")

    def other_than(self, cluster):
        return next(name for name in self.names if name != cluster)

    def runs(self, name, cluster):
        return self.place(cluster).field(".status.jobStatus.state", "flinkdeployment", name) == "RUNNING"

    def gone(self, name, cluster):
        """It is waited for, with its JobManager and pods."""
        for kind in ("flinkdeployment", "deployment"):
            poll(lambda kind=kind: self.place(cluster).kubectl("get", kind, name, "--ignore-not-found", "-o", "name") == "",
                 f"{kind} {name} to be gone from {cluster}")

    def fault(self, cluster, fault):
        self.baton("practice", "fault", cluster, fault, "--kubeconfig", self.kubeconfig_of_members)

    def check(self):
        """The judge's report; exit code 1 tells the same as its `clean`."""
        done = subprocess.run([os.environ["BATON"], "practice", "check", "--data-dir", self.data, "-o", "json"], capture_output=True, text=True,
                              check=False, timeout=4 * harness.DEADLINE)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return json.loads(done.stdout)

    def residue(self):
        """Overrides of moves that are still on the hub."""
        policies = (self.hub.get("overridepolicies", "-A") or {"items": []})["items"]
        return [o["metadata"]["name"] for o in policies if "zz-baton" in o["metadata"]["name"]]

    def stop(self):
        try:
            self.operators.stop()
        finally:
            super().stop()

    def remove(self):
        if self.operators:
            self.operators.kill()
        super().remove()


def renamed(place, user=None):
    """A copy of its kubeconfig, in which all names are the place's; as that user, if there is one."""
    path = os.path.join(harness.WORK, f"{place.name}.json")
    view = json.loads(place.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    for entries in ("clusters", "users", "contexts"):
        view[entries][0]["name"] = place.name
    view["contexts"][0]["context"].update(cluster=place.name, user=place.name)
    view["current-context"] = place.name
    if user:
        certificate, key = harness.client_certificate(user, "system:masters")
        view["users"][0]["user"] = {"client-certificate": certificate, "client-key": key}
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(view, file)
    return path
