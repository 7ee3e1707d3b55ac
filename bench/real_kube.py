"""What the benchmarks on real kube-apiservers share: starting them, their audit logs, and what a process has used.

    real_kube.enter("hub member1 member2")     # this script again, under tests/e2e-kube/run-real
    log = real_kube.Audit("hub")
    ... writes ...
    for request in log.new(): print(request.verb, request.resource, request.code)
"""
import datetime
import http.client
import json
import math
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
TICKS = os.sysconf("SC_CLK_TCK")


def enter(servers, audit="1"):
    """Returns once there are these servers: where there are none yet, by running this script under run-real."""
    if "E2E_KUBECONFIGS" in os.environ:
        return
    kube = os.environ.get("KUBE_BIN") or os.path.join(ROOT, "build", "kube")
    if not all(os.access(os.path.join(kube, program), os.X_OK) for program in ("etcd", "kube-apiserver")):
        print(f"{os.path.basename(sys.argv[0])}: skipped: KUBE_BIN names no directory with etcd and kube-apiserver")
        sys.exit(0)
    run = os.path.join(ROOT, "tests", "e2e-kube", "run-real")
    env = {**os.environ, "KUBE_BIN": kube, "E2E_SERVERS": servers, "E2E_AUDIT": audit}
    os.execvpe(run, [run, sys.executable, *(os.path.abspath(a) if os.path.exists(a) else a for a in sys.argv)], env)


class Request:
    """A line of an audit log; times are seconds of the server's clock."""

    def __init__(self, event):
        of = event.get("objectRef", {})
        self.verb, self.user, self.agent = event["verb"], event["user"]["username"], event.get("userAgent", "")
        self.resource = of.get("resource", "") + ("/" + of["subresource"] if of.get("subresource") else "")
        self.name, self.namespace = of.get("name", ""), of.get("namespace", "")
        self.code = event.get("responseStatus", {}).get("code", 0)
        self.begin, self.end = seconds(event["requestReceivedTimestamp"]), seconds(event["stageTimestamp"])

    def __str__(self):
        return f"{self.verb} {self.resource} {self.namespace}/{self.name} {self.code}"


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Audit:
    """What one server was asked, from now on."""

    def __init__(self, name):
        self.path = os.path.join(os.environ["E2E_AUDIT_DIR"], f"{name}.log")
        self.place = self.size()

    def size(self):
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def new(self):
        """The requests since the last call."""
        with open(self.path, "rb") as file:
            file.seek(self.place)
            text = file.read()
        whole = text.rfind(b"\n") + 1
        self.place += whole
        return [Request(json.loads(line)) for line in text[:whole].splitlines()]


class Used:
    """Processor seconds of a process and of its threads since this was made."""

    def __init__(self, pid):
        self.pid = pid
        self.before = self.now()

    def now(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def cpu(self):
        return self.now() - self.before

    def peak_mib(self):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def server_pid(name):
    with open(os.path.join(os.environ["E2E_AUDIT_DIR"], f"{name}.pid"), encoding="utf-8") as file:
        return int(file.read())


class Connection:
    """Requests one after another on one connection."""

    def __init__(self, cluster):
        self.http = http.client.HTTPSConnection(cluster.url.hostname, cluster.url.port, context=cluster.tls(), timeout=300)

    def ask(self, method, path, body=None, kind="application/json"):
        self.http.request(method, path, body=json.dumps(body).encode() if body is not None else None, headers={"Content-Type": kind})
        answer = self.http.getresponse()
        text = answer.read()
        assert answer.status < 300, f"{method} {path}: {answer.status} {text[:500]!r}"
        return json.loads(text)


def percentile(values, part):
    """By the nearest rank: the smallest value that this part of them does not exceed."""
    values = sorted(values)
    return values[max(0, math.ceil(len(values) * part) - 1)]
