"""What every end-to-end suite stands on: a running API server, kubectl, and raw HTTPS as the admin.

    from harness import E2E, main, setUpModule, tearDownModule

    class ConfigMapTest(E2E):
        def test_it_is_there(self):
            self.kubectl("create", "configmap", "a", "--from-literal=k=v")
            self.assertEqual(self.kubectl("get", "cm", "a", "-o", "jsonpath={.data.k}"), "v")

    if __name__ == "__main__":
        main()

The server is the program named by the environment's BATON (or the suite's first argument), started on a port of its own and stopped
with SIGTERM, after which its exit code must be 0. With E2E_KUBECONFIG no server is started: the suite then runs against that cluster
(tests/e2e-kube/run-real gives it a real kube-apiserver), and tests marked @embedded_only are skipped. KUBECTL names another kubectl.
"""
import base64
import http.client
import json
import os
import secrets
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
from urllib.parse import urlsplit

DEADLINE = float(os.environ.get("E2E_DEADLINE", "60"))  # Seconds that anything awaited may take on a loaded machine.
TIMEOUT = f"--timeout={int(DEADLINE)}s"  # The same for kubectl wait.
KUBECTL = os.environ.get("KUBECTL", "kubectl")
REAL = "E2E_KUBECONFIG" in os.environ
# Both servers know this bearer token (here by --token-auth-file, there by run-real).
TOKEN, TOKEN_USER, TOKEN_GROUPS = "limited-token", "token-user", ["team-a", "team-b"]

if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
    os.environ["BATON"] = os.path.abspath(sys.argv.pop(1))

real_only = unittest.skipUnless(REAL, "docs/API.md lists this as a difference")
embedded_only = unittest.skipIf(REAL, "a bare kube-apiserver has no controllers for this")
WORK = tempfile.mkdtemp(prefix="baton_e2e_")
cluster = None  # The Cluster of this run, between setUpModule and tearDownModule.


def poll(condition, what, deadline=None):
    """Calls condition until it gives something true, and returns that."""
    end = time.monotonic() + (deadline or DEADLINE)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}; last: {value!r}")
        time.sleep(0.02)


class Server:
    """One `baton apiserver` process on a free port."""

    def __init__(self, data_dir=None, extra=(), listen="127.0.0.1:0"):
        self.kubeconfig = os.path.join(WORK, f"kubeconfig-{secrets.token_hex(4)}")
        self.tokens = os.path.join(WORK, "tokens.csv")
        with open(self.tokens, "w", encoding="utf-8") as file:
            file.write(f'{TOKEN},{TOKEN_USER},u-1,"{",".join(TOKEN_GROUPS)}"\n')
        os.chmod(self.tokens, 0o600)
        where = ["--data-dir", data_dir] if data_dir else ["--ephemeral"]
        self.log = open(os.path.join(WORK, f"log-{secrets.token_hex(4)}"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [os.environ["BATON"], "apiserver", *where, "--listen", listen, "--kubeconfig-out", self.kubeconfig,
             "--token-auth-file", self.tokens, *extra], stdout=self.log, stderr=self.log)
        poll(lambda: "serving https://" in self.output() or self.process.poll() is not None, "the serving line")
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}: {self.output()}")

    def output(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, by=signal.SIGTERM):
        """Stops it cleanly, and returns its exit code."""
        self.process.send_signal(by)
        code = self.process.wait(timeout=DEADLINE)
        self.log.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Reply:
    """An HTTP answer, read to its end."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Cluster:
    """A kubeconfig's API server: kubectl and raw HTTPS."""

    def __init__(self, kubeconfig, kubectl=None):
        self.kubeconfig, self.program = kubeconfig, kubectl or KUBECTL
        self.environment = {**os.environ, "KUBECONFIG": kubeconfig, "HOME": WORK, "KUBECACHEDIR": os.path.join(WORK, "cache")}
        view = json.loads(self.run("config", "view", "--raw", "--minify", "-o", "json").stdout)
        server, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
        self.url = urlsplit(server["server"])
        self.ca = base64.b64decode(server["certificate-authority-data"]).decode()
        self.certificate = self._file(user["client-certificate-data"])
        self.key = self._file(user["client-key-data"])

    @staticmethod
    def _file(encoded):
        path = os.path.join(WORK, f"pem-{secrets.token_hex(4)}")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(base64.b64decode(encoded))
        return path

    def as_user(self, **user):
        """The same server as another user: token=... or certificate=(file, key)."""
        if "certificate" in user:
            certificate, key = user.pop("certificate")
            user = {"client-certificate": certificate, "client-key": key}
        path = os.path.join(WORK, f"kubeconfig-{secrets.token_hex(4)}")
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": user}],
                  "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}], "clusters": [{"name": "k", "cluster": {
                      "server": self.url.geturl(), "certificate-authority-data": base64.b64encode(self.ca.encode()).decode()}}]}
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            json.dump(config, file)
        return User(self, path)

    def run(self, *arguments, stdin=None, env=None):
        return subprocess.run([self.program, *arguments], input=stdin, capture_output=True, text=True, check=False,
                              env={**self.environment, **(env or {})}, timeout=4 * DEADLINE)

    def popen(self, *arguments):
        return subprocess.Popen([self.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment)

    def tls(self, certificate=True):
        context = ssl.create_default_context(cadata=self.ca)
        if certificate is True:
            context.load_cert_chain(self.certificate, self.key)
        elif certificate:
            context.load_cert_chain(*certificate)
        return context

    def connection(self, certificate=True, timeout=None):
        return http.client.HTTPSConnection(self.url.hostname, self.url.port, context=self.tls(certificate), timeout=timeout or DEADLINE)

    def request(self, method, path, body=None, headers=None, token=None, certificate=True):
        """One request; body is an object (sent as JSON), bytes (sent as they are), or nothing."""
        headers = dict(headers or {})
        if token is not None:
            headers["Authorization"], certificate = f"Bearer {token}", None
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection = self.connection(certificate)
        try:
            connection.request(method, path, body=body, headers=headers)
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def watch(self, path, headers=None):
        return Watch(self, path, headers)


class User:
    """kubectl as somebody else than the admin."""

    def __init__(self, target, kubeconfig):
        self.target, self.kubeconfig = target, kubeconfig

    def run(self, *arguments, stdin=None):
        return self.target.run(*arguments, stdin=stdin, env={"KUBECONFIG": self.kubeconfig})


def client_certificate(user, *groups, days=1):
    """A certificate of the server's CA for that user, as (certificate file, key file)."""
    name = os.path.join(WORK, f"user-{secrets.token_hex(4)}")
    subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
    with open(name + ".ext", "w", encoding="utf-8") as file:
        file.write("extendedKeyUsage=clientAuth\n")
    for command in (["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", name + ".key",
                     "-subj", subject, "-out", name + ".csr"],
                    ["x509", "-req", "-in", name + ".csr", "-CA", os.environ["E2E_CA_CERT"], "-CAkey", os.environ["E2E_CA_KEY"],
                     "-set_serial", str(secrets.randbits(60)), "-days", str(days), "-extfile", name + ".ext", "-out", name + ".crt"]):
        subprocess.run(["openssl", *command], check=True, capture_output=True)
    return name + ".crt", name + ".key"


class Watch:
    """The events of a watch, as they come."""

    def __init__(self, target, path, headers=None):
        self.connection = target.connection()
        self.connection.request("GET", path, headers=headers or {})
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def next(self):
        """The next event, or None when the server ended the watch."""
        line = self.response.readline()
        return json.loads(line) if line else None

    def until(self, wanted):
        """All events up to the first for which wanted(event) holds."""
        events = []
        while True:
            event = self.next()
            assert event is not None, f"the watch ended; it gave {events}"
            events.append(event)
            if wanted(event):
                return events

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


def start_server(data_dir=None, extra=()):
    """A server beside the suite's own; the caller stops it."""
    server = Server(data_dir, extra)
    return server, Cluster(server.kubeconfig)


_server = None


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH: these suites need a current one; kubectl_old_test runs with Debian's")
    global cluster, _server
    if REAL:
        cluster = Cluster(os.environ["E2E_KUBECONFIG"])
        return
    data = os.path.join(WORK, "data")
    _server = Server(data)
    os.environ["E2E_CA_CERT"], os.environ["E2E_CA_KEY"] = os.path.join(data, "pki/ca.crt"), os.path.join(data, "pki/ca.key")
    cluster = Cluster(_server.kubeconfig)


def tearDownModule():  # pylint: disable=invalid-name
    try:
        if _server:
            died = _server.process.poll()
            assert died is None, f"the server died with {died}: {_server.output()[-2000:]}"
            code = _server.stop()
            assert code == 0, f"the server's exit code is {code}: {_server.output()[-2000:]}"
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


class E2E(unittest.TestCase):
    """A test with a namespace of its own, which kubectl() uses."""
    maxDiff = None

    def setUp(self):
        self.cluster = cluster
        self.ns = self.new_namespace()

    def new_namespace(self, prefix="e2e"):
        name = f"{prefix}-{secrets.token_hex(4)}"
        self.api("POST", "/api/v1/namespaces", {"metadata": {"name": name}}, expect=201)
        self.addCleanup(lambda: self.cluster.request("DELETE", f"/api/v1/namespaces/{name}"))
        return name

    def kubectl(self, *arguments, stdin=None, env=None):
        """kubectl's standard output; it must end with 0."""
        done = self.cluster.run("-n", self.ns, *arguments, stdin=stdin, env=env)
        self.assertEqual(done.returncode, 0, f"kubectl {' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def kubectl_warns(self, *arguments, stdin=None):
        """kubectl's standard error; it must end with 0."""
        done = self.cluster.run("-n", self.ns, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, f"kubectl {' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done.stderr

    def kubectl_fails(self, *arguments, stdin=None, code=1):
        """kubectl's standard error; it must end with the code."""
        done = self.cluster.run("-n", self.ns, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, code, f"kubectl {' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done.stderr

    def background(self, *arguments):
        """kubectl as a process that runs beside the test, and is ended with it."""
        process = self.cluster.popen("-n", self.ns, *arguments)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
        self.addCleanup(end)
        return process

    def kubectl_json(self, *arguments, stdin=None):
        end = arguments.index("--") if "--" in arguments else len(arguments)
        return json.loads(self.kubectl(*arguments[:end], "-o", "json", *arguments[end:], stdin=stdin))

    def api(self, method, path, body=None, expect=200, **more):
        """The answer's object; the status must be as expected. {ns} in the path is the test's namespace."""
        reply = cluster.request(method, self.path(path), body, **more)
        self.assertEqual(reply.status, expect, f"{method} {path}: {reply.body[:2000]!r}")
        return reply.json if reply.headers.get("Content-Type", "").startswith("application/json") else reply.body.decode()

    def path(self, path):
        return path.replace("{ns}", getattr(self, "ns", ""))

    def config_map(self, name, data=None, **metadata):
        """Makes one through the API."""
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {}}
        return self.api("POST", "/api/v1/namespaces/{ns}/configmaps", body, expect=201)

    def file(self, text, name=None):
        """A file of that text in a directory of the run."""
        path = os.path.join(WORK, name or f"file-{secrets.token_hex(4)}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def poll(self, condition, what):
        return poll(condition, what)


def main():
    if not REAL and "BATON" not in os.environ:
        sys.exit("name the server's program: BATON=... or the first argument; or a cluster: E2E_KUBECONFIG=...")
    unittest.main(verbosity=int(os.environ.get("E2E_VERBOSITY", "1")))
