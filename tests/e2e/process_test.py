"""The server as a process: durability over kill -9, clean stops, its files' modes, and what it says when it cannot start."""
import http.client
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import unittest

import harness
from harness import DEADLINE, Cluster, Server, main, poll

MAPS = "/api/v1/namespaces/default/configmaps"


def tearDownModule():  # pylint: disable=invalid-name
    shutil.rmtree(harness.WORK, ignore_errors=True)


@harness.embedded_only
class ProcessCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="baton_process_")
        self.addCleanup(shutil.rmtree, self.directory)
        self.data = os.path.join(self.directory, "data")

    def start(self, **more):
        """A server on the test's data directory, and its client."""
        server = Server(self.data, **more)
        self.addCleanup(lambda: server.process.poll() is None and server.kill())
        return server, Cluster(server.kubeconfig)

    @staticmethod
    def credentials(server):
        with open(server.kubeconfig, encoding="utf-8") as file:
            return [line for line in file if "client-" in line or "certificate-authority" in line]

    def fails(self, *arguments):
        """The one line that the program says when it does not start."""
        done = subprocess.run([os.environ["BATON"], "apiserver", *arguments], capture_output=True, text=True, check=False, timeout=DEADLINE)
        self.assertNotIn(done.returncode, (0, -signal.SIGSEGV, -signal.SIGABRT), done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr


class DurabilityTest(ProcessCase):
    def test_what_was_acknowledged_survives_kill_9(self):
        server, client = self.start()
        acknowledged, lock, stop = {}, threading.Lock(), threading.Event()

        def write(worker):
            number = 0
            while not stop.is_set():
                name = f"w{worker}-{number}"
                try:
                    reply = client.request("POST", MAPS, {"metadata": {"name": name}, "data": {"n": str(number)}})
                except (OSError, http.client.HTTPException):
                    return
                if reply.status == 201:
                    with lock:
                        acknowledged[name] = reply.json
                number += 1
        threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        poll(lambda: len(acknowledged) >= 60, "sixty acknowledged writes")
        server.kill()
        stop.set()
        for thread in threads:
            thread.join()
        _, client = self.start()
        found = {item["metadata"]["name"]: item for item in client.request("GET", MAPS).json["items"]}
        for name, item in acknowledged.items():
            self.assertIn(name, found, "an acknowledged write is lost")
            item.pop("kind"), item.pop("apiVersion")
            self.assertEqual({key: found[name][key] for key in item}, item)

    def test_again_and_again_with_every_kind_of_write(self):
        """Each round kills the server amid creations, updates and deletions; what is unacknowledged may be either way."""
        expected, unsure = {}, set()
        for round_number in range(4):
            server, client = self.start()
            found = {item["metadata"]["name"]: item["data"]["n"] for item in client.request("GET", MAPS).json["items"] if "data" in item}
            self.assertEqual({n: v for n, v in found.items() if n not in unsure}, {n: v for n, v in expected.items() if n not in unsure})
            expected, unsure = found, set()

            def write(worker, target=client, known=expected, doubtful=unsure, turn=round_number):
                for number in range(1000):
                    name = f"w{worker}-{number % 7}"
                    value = f"{turn}-{number}"
                    body = {"metadata": {"name": name}, "data": {"n": value}}
                    try:
                        if name not in known:
                            reply, after = target.request("POST", MAPS, body), value
                        elif number % 3 == 0:
                            reply, after = target.request("DELETE", f"{MAPS}/{name}"), None
                        else:
                            reply, after = target.request("PUT", f"{MAPS}/{name}", body), value
                    except (OSError, http.client.HTTPException):
                        doubtful.add(name)
                        return
                    if reply.status >= 300:
                        refused.append(reply.body)
                        return
                    acknowledged.append(name)
                    if after is None:
                        del known[name]
                    else:
                        known[name] = after
            acknowledged, refused = [], []
            threads = [threading.Thread(target=write, args=(worker,)) for worker in range(3)]
            for thread in threads:
                thread.start()
            poll(lambda done=acknowledged: len(done) >= 40, "forty acknowledged writes")
            server.kill()
            for thread in threads:
                thread.join()
            self.assertEqual(refused, [])
        _, client = self.start()
        found = {item["metadata"]["name"]: item["data"]["n"] for item in client.request("GET", MAPS).json["items"] if "data" in item}
        self.assertEqual({n: v for n, v in found.items() if n not in unsure}, {n: v for n, v in expected.items() if n not in unsure})

    def test_updates_deletions_and_revisions_survive_too(self):
        server, client = self.start()
        for name in "abc":
            self.assertEqual(client.request("POST", MAPS, {"metadata": {"name": name}}).status, 201)
        merge = {"Content-Type": "application/merge-patch+json"}
        changed = client.request("PATCH", MAPS + "/a", {"data": {"k": "new"}}, merge).json
        self.assertEqual(client.request("DELETE", MAPS + "/b").status, 200)
        revision = int(client.request("GET", MAPS).json["metadata"]["resourceVersion"])
        server.kill()
        _, client = self.start()
        listed = client.request("GET", MAPS).json
        self.assertEqual([item["metadata"]["name"] for item in listed["items"]], ["a", "c"])
        self.assertEqual(client.request("GET", MAPS + "/a").json, changed)
        self.assertGreaterEqual(int(listed["metadata"]["resourceVersion"]), revision)
        made = client.request("POST", MAPS, {"metadata": {"name": "d"}}).json
        self.assertGreater(int(made["metadata"]["resourceVersion"]), revision)

    def test_definitions_and_their_objects_are_served_again(self):
        server, client = self.start()
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        client.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": "widgets.example.com"}, "spec": {
                "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}]}})
        path = "/apis/example.com/v1/namespaces/default/widgets"
        poll(lambda: client.request("GET", path).status == 200, "the new kind")
        body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"a": 1}}
        self.assertEqual(client.request("POST", path, body).status, 201)
        server.kill()
        _, client = self.start()
        poll(lambda: client.request("GET", path).status == 200, "the kind after a restart")
        self.assertEqual(client.request("GET", path + "/w").json["spec"], {"a": 1})

    def test_credentials_and_tokens_stay_valid(self):
        server, client = self.start()
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        client.request("POST", accounts, {"metadata": {"name": "robot"}})
        token = client.request("POST", accounts + "/robot/token", {"spec": {}}).json["status"]["token"]
        first = self.credentials(server)
        self.assertEqual(server.stop(), 0)
        server, client = self.start()
        self.assertEqual(self.credentials(server), first)
        self.assertEqual(client.request("GET", "/version", token=token).status, 200)

    def test_a_watch_resumes_over_a_restart_or_is_told_to_list_again(self):
        server, client = self.start()
        revision = client.request("GET", MAPS).json["metadata"]["resourceVersion"]
        client.request("POST", MAPS, {"metadata": {"name": "a"}})
        self.assertEqual(server.stop(), 0)
        _, client = self.start()
        with client.watch(f"{MAPS}?watch=1&resourceVersion={revision}&timeoutSeconds=10") as watch:
            event = watch.next()
        self.assertTrue(event["type"] == "ADDED" and event["object"]["metadata"]["name"] == "a" or
                        event["type"] == "ERROR" and event["object"]["code"] == 410, event)


class LifeTest(ProcessCase):
    def test_sigterm_ends_it_with_0_and_ends_its_watches(self):
        server, client = self.start()
        with client.watch(MAPS + "?watch=1") as watch:
            self.assertEqual(watch.status, 200)
            self.assertEqual(server.stop(), 0)
            try:
                self.assertIsNone(watch.next())
            except (OSError, http.client.HTTPException):
                pass

    def test_sigint_too(self):
        server, _ = self.start()
        self.assertEqual(server.stop(signal.SIGINT), 0)

    def test_files_are_for_the_owner_only(self):
        server, client = self.start()
        client.request("POST", MAPS, {"metadata": {"name": "a"}})
        for where, directories, files in os.walk(self.data):
            self.assertEqual(stat.S_IMODE(os.stat(where).st_mode), 0o700, where)
            for name in files:
                path = os.path.join(where, name)
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600, path)
        self.assertEqual(stat.S_IMODE(os.stat(server.kubeconfig).st_mode), 0o600)

    def test_an_occupied_port(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            line = self.fails("--ephemeral", "--listen", f"127.0.0.1:{port}")
        self.assertIn(str(port), line)
        self.assertRegex(line, "taken|in use")

    def test_a_data_directory_in_use(self):
        self.start()
        self.assertIn(self.data, self.fails("--data-dir", self.data, "--listen", "127.0.0.1:0"))

    def test_wrong_flags(self):
        self.assertIn("--nonsense", self.fails("--ephemeral", "--nonsense"))
        self.assertIn('"nonsense" is not HOST:PORT', self.fails("--ephemeral", "--listen", "nonsense"))
        self.assertIn("--data-dir", self.fails())
        self.assertIn("--data-dir", self.fails("--ephemeral", "--data-dir", self.data))
        self.assertIn("none-such", self.fails("--ephemeral", "--listen", "127.0.0.1:0", "--token-auth-file", "/none-such"))
        self.assertIn("none-such", self.fails("--listen", "127.0.0.1:0", "--data-dir", "/proc/none-such/data"))

    def test_anonymous_requests(self):
        _, client = self.start()
        self.assertEqual(client.request("GET", "/api/v1/namespaces", certificate=None).status, 401)
        other = Server(extra=("--anonymous",))
        self.addCleanup(other.kill)
        client = Cluster(other.kubeconfig)
        reply = client.request("GET", "/api/v1/namespaces", certificate=None)
        self.assertEqual(reply.status, 403)
        self.assertIn('User "system:anonymous" cannot list resource "namespaces"', reply.json["message"])
        self.assertEqual(client.request("GET", "/livez", certificate=None).body, b"ok")


if __name__ == "__main__":
    main()
