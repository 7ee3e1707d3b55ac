"""The embedded API server (`baton apiserver`) against kube-apiserver with etcd, in one run and on one disk: durable
creates, lists, watches, memory, start. Rounds of ours and theirs alternate, the best of each counts, because noise only
ever adds time. Ends with a table of ratios; exit code 1 when a goal is missed, 2 when something broke.

  build/bench/apiserver_bench [--rounds N] [--objects N] [--only creates,list,watch,fill] [--baton PROGRAM]

kube-apiserver and etcd: from the environment's KUBE_APISERVER and ETCD, or build/kube; without them our figures only.
Everything is kept under TMPDIR. Only loopback is used, and servers of this run only.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import statistics
import string
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(SOURCE, "tests"))
import net_support as net  # noqa: E402

TOKEN = "bench-token"
CLIENTS = 64
CREATES = 5000
VALUE_BYTES = 1024
LIST_OBJECTS = 10_000
LISTS = 7
WATCHERS = 1000
FAN_CREATES = 200  # as fast as the answers come
PACED_CREATES, PACED_RATE = 40, 5
KUBE_FILL = 10_000  # kube-apiserver is filled with no more: it would take minutes
START_SECONDS_MAX = 120

GOAL_CREATES, GOAL_LIST = 5, 10
GOAL_MEMORY_MIB, GOAL_START_SECONDS, GOAL_OBJECTS = 400, 3, 100_000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ApiServer:
    """A server as its processes, and requests to it. The subclasses know how to start it."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory)
        self.port = free_port()
        self.processes = []
        self.token_file = self.path("tokens.csv")
        with open(self.token_file, "w", encoding="utf-8") as file:
            file.write(f'{TOKEN},bench,1,"system:masters"\n')
        self.context = ssl.create_default_context()
        self.context.check_hostname = False  # h2load checks none either: loopback, and the same for both
        self.context.verify_mode = ssl.CERT_NONE

    def path(self, name):
        return os.path.join(self.directory, name)

    def url(self, path):
        return f"https://127.0.0.1:{self.port}{path}"

    def run(self, *command):
        with open(self.path("log"), "a", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        self.processes.append(process)

    def request(self, path, body=None):
        asked = urllib.request.Request(self.url(path), data=None if body is None else json.dumps(body).encode(), headers={
            "authorization": "Bearer " + TOKEN, "content-type": "application/json", "accept": "application/json"})
        with urllib.request.urlopen(asked, timeout=60, context=self.context) as answer:
            return json.load(answer)

    def start_until(self, path):
        """Starts it; the seconds until a GET of that path succeeds."""
        began = time.monotonic()
        self.start()
        while True:
            try:
                self.request(path)
                return time.monotonic() - began
            except (OSError, urllib.error.URLError):
                if time.monotonic() - began > START_SECONDS_MAX or any(p.poll() is not None for p in self.processes):
                    with open(self.path("log"), encoding="utf-8") as log:
                        sys.stderr.write(log.read()[-3000:])
                    raise
                time.sleep(0.01)

    def stop(self, how=signal.SIGTERM):
        for process in reversed(self.processes):  # the API server before its etcd
            process.send_signal(how)
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []

    def cpu_seconds(self):
        return sum(net.Process(process.pid).cpu_seconds() for process in self.processes)

    def memory(self):
        return sum(net.Process(process.pid).memory() for process in self.processes)

    def add_namespace(self, name):
        deadline = time.monotonic() + 30
        while True:
            try:
                self.request("/api/v1/namespaces", {"metadata": {"name": name}})
                return f"/api/v1/namespaces/{name}/configmaps"
            except urllib.error.HTTPError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def count(self, collection):
        metadata = (one := self.request(collection + "?limit=1"))["metadata"]
        return len(one["items"]) + metadata.get("remainingItemCount", 0)


class Ours(ApiServer):
    name = "ours"

    def __init__(self, directory, program):
        super().__init__(directory)
        self.program = program

    def start(self):
        self.run(self.program, "apiserver", "--data-dir", self.path("data"), "--listen", f"127.0.0.1:{self.port}",
                 "--token-auth-file", self.token_file)


class Kube(ApiServer):
    name = "kube-apiserver"

    def __init__(self, directory, kube_apiserver, etcd):
        super().__init__(directory)
        self.kube_apiserver, self.etcd = kube_apiserver, etcd
        self.etcd_port, self.peer_port = free_port(), free_port()
        key = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out"]
        for name in ("server.key", "sa.key"):
            subprocess.run([*key, self.path(name)], check=True, capture_output=True)
        subprocess.run(["openssl", "req", "-x509", "-new", "-key", self.path("server.key"), "-out", self.path("server.crt"),
                        "-subj", "/CN=kube-apiserver", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-days", "2"],
                       check=True, capture_output=True)

    def start(self):
        etcd = f"http://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{self.peer_port}"
        self.run(self.etcd, "--data-dir", self.path("etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
                 "--log-level", "error")
        self.run(self.kube_apiserver, "--etcd-servers", etcd, "--bind-address", "127.0.0.1",
                 "--secure-port", str(self.port), "--token-auth-file", self.token_file, "--authorization-mode", "RBAC",
                 "--tls-cert-file", self.path("server.crt"), "--tls-private-key-file", self.path("server.key"),
                 "--cert-dir", self.path("certificates"), "--service-account-issuer", "https://kubernetes.default.svc",
                 "--service-account-signing-key-file", self.path("sa.key"),
                 "--service-account-key-file", self.path("sa.key"), "--service-cluster-ip-range", "10.0.0.0/24",
                 "--disable-admission-plugins", "ServiceAccount")


class Table:
    """Rows of ours, theirs, ratio and goal; remembers a goal that was missed."""

    def __init__(self):
        self.rows = []
        self.reached = True

    def add(self, what, ours, theirs=None, shown="{:.0f}", more_is_better=True, goal=None, most=None):
        """`goal`: how many times better ours must be. `most`: what ours may be at most."""
        ratio = None if not theirs else (ours / theirs if more_is_better else theirs / ours)
        verdict = ""
        if goal is not None and ratio is not None:
            verdict = self.judge(f"{goal:g}x", ratio >= goal)
        if most is not None:
            verdict = self.judge(f"under {most:g}", ours < most)
        row = (f"{what:<46}{shown.format(ours):>12}{'-' if theirs is None else shown.format(theirs):>16}"
               f"{'-' if ratio is None else f'{ratio:.2f}x':>9}  {verdict}")
        self.rows.append(row)
        print("  " + row, flush=True)

    def judge(self, goal, reached):
        self.reached = self.reached and reached
        return f"{goal} {'reached' if reached else 'MISSED'}"

    def print(self):
        print(f"\n{'what':<46}{'ours':>12}{'kube-apiserver':>16}{'ratio':>9}  goal")
        print("\n".join(self.rows))


def write_body(directory):
    """A ConfigMap of VALUE_BYTES that the server names."""
    letters = random.Random(1).choices(string.ascii_letters + string.digits, k=VALUE_BYTES)
    path = os.path.join(directory, "configmap.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "bench-"},
                   "data": {"value": "".join(letters)}}, file)
    return path


def post(server, collection, body, count, at_once=1):
    """Creates so many with CLIENTS clients and makes sure that all are there: (per second, per CPU second)"""
    before = server.cpu_seconds()
    out = subprocess.run(["h2load", f"-c{CLIENTS}", f"-m{at_once}", f"-n{count}", "-d", body, "-H",
                          "authorization: Bearer " + TOKEN, "-H", "content-type: application/json", server.url(collection)],
                         capture_output=True, text=True, check=True, timeout=600).stdout
    used = server.cpu_seconds() - before
    assert f" {count} succeeded, 0 failed, 0 errored" in out and f"status codes: {count} 2xx," in out, out
    there = server.count(collection)
    assert there == count, f"{server.name}: {count} created, {there} there"
    return float(re.search(r"([\d.]+) req/s", out)[1]), count / used


def measure_creates(servers, table, rounds, body):
    best = {server: (0, 0) for server in servers}
    for number in range(rounds):
        for server in servers:
            got = post(server, server.add_namespace(f"creates-{number}"), body, CREATES)
            best[server] = tuple(map(max, best[server], got))
    (rate, per_cpu), (other_rate, other_per_cpu) = [best[server] for server in servers] + [(None, None)] * (2 - len(servers))
    table.add(f"durable creates, {CLIENTS} clients, per second", rate, other_rate, goal=GOAL_CREATES)
    table.add("  per CPU second of the server", per_cpu, other_per_cpu)


def lists(server, collection):
    """The seconds of LISTS lists, one after another on one connection that is there already, as clients keep theirs. By
    h2load, which takes the bytes off the wire and does nothing with them: so it is the server that is measured. (curl
    needs longer for 15 MB than our server does.)"""
    count = LISTS + 1  # the first is not counted
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8") as log:
        out = subprocess.run(["h2load", "-c1", "-m1", f"-n{count}", "--log-file=" + log.name, "-H",
                              "authorization: Bearer " + TOKEN, server.url(collection)],
                             capture_output=True, text=True, check=True, timeout=120).stdout
        answers = [line.split() for line in log]  # when, status, microseconds
    assert len(answers) == count and all(status == "200" for _, status, _ in answers), out
    assert int(re.search(r"\((\d+)\) data", out)[1]) > count * LIST_OBJECTS * VALUE_BYTES, out
    return [int(micros) / 1e6 for _, _, micros in answers[1:]]


def measure_list(servers, table, rounds, body):
    collections = {}
    for server in servers:
        collections[server] = server.add_namespace("list")
        post(server, collections[server], body, LIST_OBJECTS)
        lists(server, collections[server])  # warms up
    walls = {server: [] for server in servers}
    cpu = {server: [] for server in servers}
    for _ in range(rounds):
        for server in servers:
            before = server.cpu_seconds()
            walls[server].append(statistics.median(lists(server, collections[server])))
            cpu[server].append((server.cpu_seconds() - before) / (LISTS + 1))
    wall, other_wall = [min(walls[server]) * 1000 for server in servers] + [None] * (2 - len(servers))
    used, other_used = [min(cpu[server]) * 1000 for server in servers] + [None] * (2 - len(servers))
    table.add(f"list of {LIST_OBJECTS} objects as JSON, ms (median)", wall, other_wall, "{:.1f}", False, goal=GOAL_LIST)
    table.add("  CPU of the server, ms", used, other_used, "{:.1f}", False)


def fan_out(server, program, namespace, *arguments):
    """What watch_load says, and the server's CPU seconds."""
    server.add_namespace(namespace)
    before = server.cpu_seconds()
    out = subprocess.run([program, "-server", server.url(""), "-token", TOKEN, "-namespace", namespace, "-watchers",
                          str(WATCHERS), "-size", str(VALUE_BYTES), *arguments],
                         capture_output=True, text=True, timeout=300)
    if out.returncode != 0:
        print(f"{server.name}: {out.stderr.strip()}", flush=True)
        assert server.name != Ours.name, "our watches must not fail"
        return None
    result = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", out.stdout)}
    result["cpu"] = server.cpu_seconds() - before
    return result


def measure_watch(servers, table, rounds, directory):
    program = os.path.join(directory, "watch_load")
    if not shutil.which("go"):
        print("apiserver_bench: no go here to build bench/watch_load with: watches are not measured")
        return
    subprocess.run(["go", "build", "-C", os.path.join(SOURCE, "bench", "watch_load"), "-o", program, "."], check=True)
    best = {server: (0, 0) for server in servers}
    delays = {server: None for server in servers}
    for number in range(rounds):
        for server in servers:
            got = fan_out(server, program, f"fan-{number}", "-creates", str(FAN_CREATES))
            if got is not None:
                best[server] = tuple(map(max, best[server], (got["events"] / got["elapsed"] * 1e6,
                                                             got["events"] / got["cpu"])))
            got = fan_out(server, program, f"paced-{number}", "-creates", str(PACED_CREATES), "-rate", str(PACED_RATE))
            if got is not None:
                delay = (got["p50"] / 1000, got["p99"] / 1000)
                delays[server] = delay if delays[server] is None else tuple(map(min, delays[server], delay))
    missing = 2 - len(servers)
    (rate, per_cpu), (other_rate, other_per_cpu) = [best[server] for server in servers] + [(None, None)] * missing
    table.add(f"watch fan-out to {WATCHERS}, events per second", rate, other_rate)
    table.add("  per CPU second of the server", per_cpu, other_per_cpu)
    if None in delays.values():
        return
    (p50, p99), (other_p50, other_p99) = [delays[server] for server in servers] + [(None, None)] * missing
    table.add(f"  delay at {WATCHERS * PACED_RATE} events/s, p50 ms", p50, other_p50, "{:.1f}", False)
    table.add(f"  delay at {WATCHERS * PACED_RATE} events/s, p99 ms", p99, other_p99, "{:.1f}", False)


def fill_and_restart(server, body, objects):
    """(fill per second, MiB when filled, MiB after a start, seconds to start when stopped, when killed)"""
    server.start_until("/api/v1/namespaces/default")
    empty = server.memory()
    collection = server.add_namespace("fill")
    rate, _ = post(server, collection, body, objects)
    filled = server.memory()
    server.stop()
    stopped = server.start_until(collection + "?limit=1")
    assert server.count(collection) == objects
    again = server.memory()
    server.stop(signal.SIGKILL)
    killed = server.start_until(collection + "?limit=1")
    assert server.count(collection) == objects
    server.stop()
    print(f"{server.name}: {objects} objects; empty {empty / 2**20:.0f} MiB, filled {filled / 2**20:.0f} MiB, "
          f"after a start {again / 2**20:.0f} MiB; start in {stopped:.2f} s, after kill -9 in {killed:.2f} s; filled at "
          f"{rate:.0f}/s", flush=True)
    return rate, filled / 2**20, again / 2**20, stopped, killed


def measure_fill(ours, kube, table, body, objects):
    """Not alternating: each fills a server of its own, newly started."""
    rate, filled, again, stopped, killed = fill_and_restart(ours, body, objects)
    goals = objects >= GOAL_OBJECTS
    table.add(f"memory with {objects} ConfigMaps, MiB", filled, most=GOAL_MEMORY_MIB if goals else None)
    table.add("  after a start", again, most=GOAL_MEMORY_MIB if goals else None)
    table.add(f"start with {objects} objects, s", stopped, shown="{:.2f}", most=GOAL_START_SECONDS if goals else None)
    table.add("  after kill -9", killed, shown="{:.2f}", most=GOAL_START_SECONDS if goals else None)
    table.add(f"fill with {objects}, per second", rate)
    if kube is None:
        return
    number = min(objects, KUBE_FILL)
    print(f"for information, kube-apiserver with etcd, filled with {number} objects only:")
    fill_and_restart(kube, body, number)


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--baton", default=os.environ.get("BATON", os.path.join(SOURCE, "build", "baton")))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--objects", type=int, default=GOAL_OBJECTS, help="to fill with")
    parser.add_argument("--only", default="creates,list,watch,fill")
    return parser.parse_args()


def find_kube():
    kube = os.environ.get("KUBE_APISERVER", os.path.join(SOURCE, "build", "kube", "kube-apiserver"))
    etcd = os.environ.get("ETCD", os.path.join(SOURCE, "build", "kube", "etcd"))
    if os.access(kube, os.X_OK) and os.access(etcd, os.X_OK):
        return kube, etcd
    print("apiserver_bench: no kube-apiserver and etcd here (KUBE_APISERVER, ETCD or build/kube): our figures only")
    return None


def measure(arguments, directory, servers, table):
    only = arguments.only.split(",")
    kube = find_kube()

    def make(name):
        made = [Ours(os.path.join(directory, name, "ours"), arguments.baton)]
        if kube is not None:
            made.append(Kube(os.path.join(directory, name, "kube"), *kube))
        servers.extend(made)
        return made

    body = write_body(directory)
    pair = make("load")
    for server in pair:
        server.start_until("/api/v1/namespaces/default")
    if "creates" in only:
        measure_creates(pair, table, arguments.rounds, body)
    if "list" in only:
        measure_list(pair, table, arguments.rounds, body)
    if "watch" in only:
        measure_watch(pair, table, arguments.rounds, directory)
    for server in pair:
        server.stop()
    if "fill" in only:
        pair = make("fill")
        measure_fill(pair[0], pair[1] if kube is not None else None, table, body, arguments.objects)


def main():
    arguments = parse_arguments()
    for program in ("h2load", "openssl"):
        if not shutil.which(program):
            print(f"apiserver_bench: no {program} here: nothing measured")
            return 0
    directory = tempfile.mkdtemp(prefix="baton_apiserver_bench_")
    table, servers = Table(), []
    try:
        measure(arguments, directory, servers, table)
    finally:
        for server in servers:
            server.stop(signal.SIGKILL)
        shutil.rmtree(directory, ignore_errors=True)
    table.print()
    return 0 if table.reached else 1


if __name__ == "__main__":
    try:
        code = main()
    except Exception:  # 1 is for a goal that was missed
        traceback.print_exc()
        code = 2
    sys.exit(code)
