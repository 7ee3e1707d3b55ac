#!/usr/bin/env python3
"""Templates to members on real kube-apiservers: N ConfigMaps of 256 B to two clusters, hub and members each a kube-apiserver (on one etcd
without disk sync, as the baseline was measured), `baton controllers` between them.

    KUBE_BIN=DIR python3 bench/federation_kube_bench.py --baton build/baton [N]      (1,000 unless told)

Tells: the time from the first template's creation until all are in both members; processor seconds and peak memory of our process, and
processor seconds of the hub's kube-apiserver; hub writes per template and conflicts, counted from the hub's audit log; how long one change
takes from its write on the hub to the member's object; what a restart with N placed writes, and how soon a new template arrives after one.

The goals are fractions of what stock Karmada, tuned, needed on a quiet machine of this size (119.6 s and 65 CPU-s for 1,000). Exit code 1
when one is missed. Wall times mean something on a quiet machine only; the machine's load is told.
"""
import argparse
import collections
import os
import threading
import time

import real_kube

MEMBERS = ("member1", "member2")
CHANGES = 100
CREATORS = 8
KARMADA_WALL = 0.1196  # seconds a template; tuned, quiet
KARMADA_CPU = 0.065  # of controller-manager, scheduler and webhook
POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: bench}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {bench: "true"}}}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
"""


def config_map(name, value="1"):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "bench", "labels": {"bench": "true"}},
            "data": {"value": value, "more": "x" * 200}}


class Follow:
    """The values that a member's ConfigMaps have, and since when."""

    def __init__(self, place):
        self.changed, self.values = threading.Condition(), {}
        self.watch = place.cluster.watch("/api/v1/namespaces/bench/configmaps?watch=true&timeoutSeconds=7200&labelSelector=bench%3Dtrue")
        self.watch.connection.sock.settimeout(None)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            while event := self.watch.next():
                now = time.monotonic()
                with self.changed:
                    self.values[event["object"]["metadata"]["name"]] = (event["object"]["data"]["value"], now)
                    self.changed.notify_all()
        except (OSError, ValueError):
            pass  # The server ends.

    def until(self, holds, limit=1800):
        with self.changed:
            assert self.changed.wait_for(lambda: holds(self.values), limit), f"waited in vain; {len(self.values)} are there"

    def has(self, name, value):
        """When it had that value; waited for."""
        self.until(lambda values: values.get(name, ("",))[0] == value)
        return self.values[name][1]


class Bench:
    def __init__(self, world, count):
        self.world, self.count, self.missed = world, count, []
        self.logs = {name: real_kube.Audit(name) for name in ("hub", *MEMBERS)}
        world.hub.kubectl("create", "namespace", "bench")
        for place in world.members:
            world_ready(place)
        self.follows = [Follow(place) for place in world.members]
        world.hub.apply(POLICY)
        self.connection = real_kube.Connection(world.hub.cluster)

    def goal(self, what, value, limit, unit=""):
        reached = value <= limit
        print(f"  goal: {what} {value:.2f}{unit} of at most {limit:.2f}{unit}: {'reached' if reached else 'MISSED'}")
        if not reached:
            self.missed.append(what)

    def quiet(self, still=2.0):
        """Until nobody has written anything and our process has computed hardly anything for a while; when that began."""
        used = real_kube.Used(self.world.controllers.process.pid)
        since, size, cpu = time.monotonic(), -1, 0
        while time.monotonic() - since < still:
            now = sum(log.size() for log in self.logs.values())
            if now != size or used.cpu() - cpu > 0.02 * (time.monotonic() - since) + 0.05:
                since, size, cpu = time.monotonic(), now, used.cpu()
            time.sleep(0.05)
        return since

    def ours(self, name):
        """What our process wrote on that server since the last call."""
        return [request for request in self.logs[name].new() if request.agent.startswith("baton")]

    def create(self):
        names = collections.deque(f"c-{i}" for i in range(self.count))

        def work():
            connection = real_kube.Connection(self.world.hub.cluster)
            while names:
                try:
                    name = names.popleft()
                except IndexError:
                    return
                connection.ask("POST", "/api/v1/namespaces/bench/configmaps", config_map(name))
        threads = [threading.Thread(target=work) for _ in range(CREATORS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def fill(self):
        self.quiet()
        for name in self.logs:
            self.ours(name)
        used, hub = real_kube.Used(self.world.controllers.process.pid), real_kube.Used(real_kube.server_pid("hub"))
        begin = time.monotonic()
        self.create()
        created = time.monotonic() - begin
        for follow in self.follows:
            follow.until(lambda values: len(values) >= self.count)
        wall = time.monotonic() - begin
        steady = self.quiet() - begin
        print(f"{self.count} templates to 2 members: all there after {wall:.1f} s, hub quiet after {steady:.1f} s (creating them took {created:.1f} s); "
              f"{used.cpu():.2f} CPU-s and at most {used.peak_mib():.0f} MiB of ours; {hub.cpu():.1f} CPU-s of the hub's kube-apiserver")
        self.goal("wall", wall, self.count * KARMADA_WALL / 5, " s")
        self.goal("CPU", used.cpu(), self.count * KARMADA_CPU / 10, " s")
        requests = self.ours("hub")
        events = [r for r in requests if r.resource == "events"]
        beats = [r for r in requests if r.resource in ("leases", "clusters/status")]
        writes = [r for r in requests if r not in events and r not in beats]
        conflicts = sum(r.code == 409 for r in requests)
        print(f"hub writes per template: {len(writes) / self.count:.2f} besides the template itself, {len(events) / self.count:.2f} events, "
              f"{conflicts} conflicts; {len(beats)} heartbeats in all")
        by = collections.defaultdict(list)
        for request in writes:
            by[request.verb, request.resource, request.code].append(request)
        first = min(request.begin for request in writes)
        for (verb, resource, code), of in sorted(by.items()):
            busy = sum(request.end - request.begin for request in of)
            print(f"  {verb:7} {resource:24} {code} {len(of) / self.count:6.2f} per template; from {min(r.begin for r in of) - first:.1f} s "
                  f"to {max(r.end for r in of) - first:.1f} s, {1000 * busy / len(of):.1f} ms each in the server")
        for member in MEMBERS:
            print(f"  writes to {member}: {len(self.ours(member)) / self.count:.2f} per template")
        self.goal("hub writes per template", len(writes) / self.count, 3 + 2 * len(MEMBERS))
        self.goal("conflicts", conflicts, 0)

    def changes(self):
        took = []
        used = real_kube.Used(self.world.controllers.process.pid)
        for i in range(CHANGES):
            name, value = f"c-{i * 7919 % self.count}", f"changed-{i}"
            begin = time.monotonic()
            self.connection.ask("PATCH", f"/api/v1/namespaces/bench/configmaps/{name}", {"data": {"value": value}}, "application/merge-patch+json")
            took.append(1000 * (max(follow.has(name, value) for follow in self.follows) - begin))
        print(f"one change, from sending its write to both members' objects: p50 {real_kube.percentile(took, .5):.1f} ms, "
              f"p99 {real_kube.percentile(took, .99):.1f} ms of {CHANGES}; {1000 * used.cpu() / CHANGES:.2f} CPU-ms each (Karmada, quiet: p50 63 ms)")

    def restart(self):
        """Once to count what it writes, once more with a new template."""
        self.quiet()
        self.world.controllers.stop()
        for name in self.logs:
            self.ours(name)
        begin = time.monotonic()
        self.world.lead()
        used = real_kube.Used(self.world.controllers.process.pid)
        steady = self.quiet(3.0) - begin
        cpu = used.now()
        heartbeats = ("leases", "clusters/status", "events")
        writes = [r for name in self.logs for r in self.ours(name) if r.resource not in heartbeats]
        print(f"restart with {self.count} placed: steady after {steady:.1f} s and {cpu:.2f} CPU-s, {used.peak_mib():.0f} MiB; {len(writes)} writes")
        for request in writes[:10]:
            print(f"  {request}")
        self.goal("needless writes", len(writes), 0)
        self.world.controllers.stop()
        begin = time.monotonic()
        self.world.lead()
        self.connection = real_kube.Connection(self.world.hub.cluster)
        self.connection.ask("POST", "/api/v1/namespaces/bench/configmaps", config_map("new"))
        there = max(follow.has("new", "1") for follow in self.follows) - begin
        print(f"restart, then a new template: in both members {there:.1f} s after the start (Karmada with 5,000: 143 s)")


def world_ready(place):
    """The namespace is synced to it."""
    from harness import poll  # pylint: disable=import-outside-toplevel
    poll(lambda: place.run("get", "namespace", "bench").returncode == 0, f"the namespace in {place.name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--baton", required=True)
    parser.add_argument("count", nargs="?", type=int, default=1000)
    arguments = parser.parse_args()
    real_kube.enter("hub " + " ".join(MEMBERS))
    os.environ["BATON"] = os.path.abspath(arguments.baton)
    from federation_harness import World  # pylint: disable=import-outside-toplevel
    print(f"load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    world = World(*MEMBERS)
    try:
        world.start()
        bench = Bench(world, arguments.count)
        for part in (bench.fill, bench.changes, bench.restart):
            part()
        world.controllers.stop()
    finally:
        world.remove()
    return 1 if bench.missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
