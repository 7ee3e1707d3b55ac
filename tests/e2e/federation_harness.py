"""A hub and its members as processes of their own, and `baton controllers` between them: what the suites of the federation stand on.

    world = World("member1", "member2").start()
    world.apply(POLICY)
    world.member1.run("get", "configmap", "a")

Each is a `baton apiserver` with a data directory; under tests/e2e-kube/run-real (with E2E_SERVERS="hub member1 member2") each is a real
kube-apiserver. Nothing else differs: definitions come from `baton crds`, members by `baton join`.
"""
import json
import os
import secrets
import signal
import subprocess
import unittest

import harness
from harness import Cluster, DEADLINE, KUBECTL, REAL, Server, TIMEOUT, poll

BATON = os.environ.get("BATON", "")


class Process:
    """A `baton` that runs until it is told to stop; its log is kept."""

    def __init__(self, *arguments, env=None):
        self.arguments = arguments
        self.path = os.path.join(harness.WORK, f"{arguments[0]}-{secrets.token_hex(4)}.log")
        self.log = open(self.path, "w", encoding="utf-8")
        self.process = subprocess.Popen([os.environ["BATON"], *arguments], stdout=self.log, stderr=self.log, env={**os.environ, **(env or {})})
        poll(lambda: "running\n" in self.output() or self.process.poll() is not None, f"baton {arguments[0]} to run")
        if self.process.poll() is not None:
            raise AssertionError(f"baton {' '.join(arguments)} ended with {self.process.returncode}: {self.output()}")

    def output(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """Cleanly: its exit code must be 0."""
        died = self.process.poll()
        assert died is None, f"baton {self.arguments[0]} died with {died}: {self.output()[-3000:]}"
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=DEADLINE)
        self.log.close()
        assert code == 0, f"baton {self.arguments[0]} ended with {code}: {self.output()[-3000:]}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()


class Place:
    """One cluster of the world: kubectl, raw requests, and its server's life."""

    def __init__(self, name, kubeconfig, server=None):
        self.name, self.server, self.cluster = name, server, Cluster(kubeconfig)
        self.data = server and server.data
        self.kubeconfig = kubeconfig

    def run(self, *arguments, stdin=None):
        return self.cluster.run(*arguments, stdin=stdin)

    def kubectl(self, *arguments, stdin=None):
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, f"{self.name}: kubectl {' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout

    def get(self, *arguments):
        """The object, or nothing."""
        return json.loads(self.kubectl("get", *arguments, "--ignore-not-found", "-o", "json") or "null")

    def field(self, path, *arguments):
        return self.run("get", *arguments, "-o", f"jsonpath={{{path}}}").stdout

    def apply(self, *texts):
        self.kubectl("apply", "-f", "-", stdin="\n---\n".join(texts))

    def down(self):
        """The server dies."""
        if REAL:
            subprocess.run([os.environ["E2E_RESTART"], "kill", self.name], check=True, timeout=4 * DEADLINE)
        else:
            self.server.kill()

    def up(self):
        """And comes back at its address with its data."""
        if REAL:
            subprocess.run([os.environ["E2E_RESTART"], "start", self.name], check=True, timeout=4 * DEADLINE)
        else:
            self.server = durable(self.data, f"127.0.0.1:{self.cluster.url.port}")


def durable(data, listen="127.0.0.1:0"):
    server = Server(data, listen=listen)
    server.data = data
    return server


class World:
    def __init__(self, *members):
        self.names, self.members, self.hub, self.controllers = members, [], None, None

    def start(self):
        """The hub knows our kinds, the controllers run, and every member has joined and is ready."""
        if REAL:
            paths = os.environ.get("E2E_KUBECONFIGS", "").split(":")
            if len(paths) < 1 + len(self.names):
                raise unittest.SkipTest('this suite needs run-real with E2E_SERVERS="hub ' + " ".join(self.names) + '"')
            places = [Place(os.path.basename(path).rsplit(".", 1)[0], path) for path in paths]
        else:
            places = []
            for name in ("hub", *self.names):
                server = durable(os.path.join(harness.WORK, f"data-{name}"))
                places.append(Place(name, server.kubeconfig, server))
        self.hub, self.members = places[0], places[1:1 + len(self.names)]
        for place in self.members:
            setattr(self, place.name, place)
        self.install()
        self.lead()
        for place in self.members:
            self.baton("join", place.name, "--cluster-kubeconfig", place.kubeconfig)
        self.ready()
        return self

    def install(self):
        crds = subprocess.run([os.environ["BATON"], "crds"], capture_output=True, text=True, check=True).stdout
        self.hub.kubectl("apply", "--server-side", "-f", "-", stdin=crds)
        self.hub.kubectl("wait", "--for=condition=Established", TIMEOUT, "crd", "--all")

    def lead(self, *more):
        self.controllers = Process("controllers", "--kubeconfig", self.hub.kubeconfig, *more)

    def ready(self):
        self.hub.kubectl("wait", "--for=condition=Ready", "clusters", "--all", TIMEOUT)

    def baton(self, *arguments, code=0):
        """baton's standard output and error; it must end with the code."""
        done = subprocess.run([os.environ["BATON"], *arguments], capture_output=True, text=True, check=False, timeout=6 * DEADLINE,
                              env={**os.environ, "KUBECONFIG": self.hub.kubeconfig})
        assert done.returncode == code, (f"baton {' '.join(arguments)}: {done.returncode}, not {code}\n{done.stdout}{done.stderr}\n"
                                         f"{self.controllers.output()[-3000:] if self.controllers else ''}")
        return done.stdout + done.stderr

    def stop(self):
        """The controllers end cleanly; embedded servers, too."""
        try:
            if self.controllers:
                self.controllers.stop()
            for place in self.places():
                if place.server:
                    code = place.server.stop()
                    assert code == 0, f"{place.name} ended with {code}: {place.server.output()[-2000:]}"
        finally:
            self.remove()

    def remove(self):
        if self.controllers:
            self.controllers.kill()
        for place in self.places():
            if place.server and place.server.process.poll() is None:
                place.server.kill()

    def places(self):
        return [place for place in (self.hub, *self.members) if place]


assert KUBECTL
