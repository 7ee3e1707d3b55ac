"""`baton up` that is killed while jobs move, again and again, on a durable directory: what went in must have come out once.

    UP_TEST_KILLS=20 python3 tests/e2e/up_test.py build/baton     # twenty times, as `make nightly` does
"""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from federation_harness import Process
from harness import DEADLINE, KUBECTL, WORK, Cluster, Server, main, poll
from up_harness import END_TIMEOUT, POLICY, Up, job

KILLS = int(os.environ.get("UP_TEST_KILLS", "5"))
SEED = int(os.environ.get("UP_TEST_SEED", "0")) or random.randrange(1, 1 << 30)
JOBS = ("orders", "payments")


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")


def tearDownModule():  # pylint: disable=invalid-name
    shutil.rmtree(WORK, ignore_errors=True)


class UpTest(unittest.TestCase):
    maxDiff = None

    def up(self, **options):
        up = Up(**options)
        self.addCleanup(up.remove)
        return up.start()

    def test_killed_again_and_again_while_jobs_move_nothing_is_lost_or_doubled(self):
        chance = random.Random(SEED)
        up = self.up(durable=True)
        up.apply(POLICY, *[job(name, rate=100) for name in JOBS])
        for name in JOBS:
            up.until_runs(name)
            poll(lambda name=name: up.run(KUBECTL, "get", "writer", f"{name}-flinkdeployment").returncode == 0, "the Writer")
        for life in range(KILLS):
            with self.subTest(seed=SEED, life=life):
                # Whatever is under way goes on; what has ended begins anew.
                for name in JOBS:
                    up.baton("migrate", f"flinkdep/{name}", "--to", up.other_than(up.holder(name)), "--stabilization", "1s")
                # The moment is the point of the test: any is right.
                time.sleep(chance.uniform(0.0, 6.0))
                up.kill()
                up.start()
                up.kubectl("wait", "--for=condition=Ready", "clusters", "--all", f"--timeout={END_TIMEOUT}")
        for migration in up.get("smig")["items"]:
            up.until(migration["metadata"]["name"])
        for name in JOBS:
            holder = up.holder(name)
            up.kubectl("--context", holder, "wait", "--for=jsonpath={.status.jobStatus.state}=RUNNING", f"flinkdeployment/{name}",
                       f"--timeout={END_TIMEOUT}")
            # One more move, undisturbed, shows that it still can be moved.
            up.baton("migrate", f"flinkdep/{name}", "--to", up.other_than(holder), "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        out = up.run(os.environ["BATON"], "practice", "check", "--data-dir", up.data)
        self.assertEqual(out.returncode, 0, f"seed {SEED}\n{out.stdout}{out.stderr}")
        report = json.loads(up.baton("practice", "check", "--data-dir", up.data, "-o", "json"))
        self.assertEqual(sorted(w["name"] for w in report["workloads"]), sorted(JOBS))
        for workload in report["workloads"]:
            self.assertGreater(workload["out"], 0)
        self.assertEqual(up.baton("verify", "-A").count("never two writers by Baton since"), len(JOBS))
        up.stop()

    def test_each_context_of_the_kubeconfig_is_that_cluster(self):
        up = self.up(practice=2)
        contexts = up.kubectl("config", "get-contexts", "-o", "name").split()
        self.assertEqual(sorted(contexts), ["hub", "practice-1", "practice-2"])
        ids = {context: up.kubectl("--context", context, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
               for context in contexts}
        self.assertEqual(len(set(ids.values())), 3)
        up.kubectl("wait", "--for=condition=Ready", "clusters", "--all", f"--timeout={int(DEADLINE)}s")
        for cluster in up.get("clusters")["items"]:
            self.assertEqual(cluster["spec"]["id"], ids[cluster["metadata"]["name"]])
        self.assertEqual(os.stat(up.kubeconfig).st_mode & 0o077, 0, "others must not read it")
        up.stop()

    def test_a_directory_in_use_is_a_clear_error_and_disturbs_nobody(self):
        up = self.up(practice=1, durable=True)
        before = os.stat(up.kubeconfig).st_mtime_ns
        done = subprocess.run([os.environ["BATON"], "up", *up.arguments], capture_output=True, text=True, check=False, timeout=DEADLINE)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, r"^baton up: .*(in use|another process|locked|lock)")
        self.assertEqual(os.stat(up.kubeconfig).st_mtime_ns, before)
        up.kubectl("get", "clusters")
        up.stop()

    def test_a_restart_goes_on_where_it_was(self):
        up = self.up(practice=1, durable=True)
        up.kubectl("create", "configmap", "kept", "--from-literal=k=v")
        uid = up.get("cluster", "practice-1")["metadata"]["uid"]
        up.stop()
        up.start()
        self.assertEqual(up.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.k}"), "v")
        self.assertEqual(up.get("cluster", "practice-1")["metadata"]["uid"], uid)
        up.kubectl("wait", "--for=condition=Ready", "clusters", "--all", f"--timeout={int(DEADLINE)}s")
        up.stop()

    def test_down_stops_it_cleanly_and_it_goes_on(self):
        up = self.up(practice=1, durable=True)
        up.kubectl("create", "configmap", "kept", "--from-literal=k=v")
        out = up.baton("down", "--data-dir", up.data)
        self.assertIn(f"stopped (process {up.process.pid})", out)
        self.assertEqual(up.process.wait(timeout=DEADLINE), 0)
        up.log.close()
        self.assertIn("nothing runs on", up.baton("down", "--data-dir", up.data))
        up.start()
        self.assertEqual(up.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.k}"), "v")
        up.stop()

    def test_a_cluster_that_is_cut_off_goes_on_and_comes_back(self):
        up = self.up(practice=2)
        up.kubectl("wait", "--for=condition=Ready", "clusters", "--all", f"--timeout={int(DEADLINE)}s")
        up.baton("practice", "fault", "practice-1", "partition", "--data-dir", up.data)
        up.kubectl("wait", "--for=condition=Ready=false", "cluster/practice-1", f"--timeout={END_TIMEOUT}")
        up.kubectl("--context", "practice-1", "get", "nodes")
        up.baton("practice", "fault", "practice-1", "partition=off", "--data-dir", up.data)
        up.kubectl("wait", "--for=condition=Ready", "cluster/practice-1", f"--timeout={END_TIMEOUT}")
        up.stop()

    def test_each_fault_by_command(self):
        up = self.up(practice=2)
        up.apply(POLICY, job("orders"))
        up.until_runs("orders")
        cluster = poll(lambda: up.run(KUBECTL, "get", "writer", "orders-flinkdeployment", "-o", "jsonpath={.spec.holder.cluster}").stdout, "the Writer")

        def fault(*words, code=0):
            return up.baton("practice", "fault", cluster, *words, "--data-dir", up.data, code=code)

        def snapshot(name):
            up.kubectl("--context", cluster, "create", "-f", "-", stdin=json.dumps({
                "apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkStateSnapshot", "metadata": {"name": name, "namespace": "default"},
                "spec": {"backoffLimit": 0, "jobReference": {"kind": "FlinkDeployment", "name": "orders"}, "savepoint": {"path": "s3://b/x"}}}))
            return lambda: up.kubectl("--context", cluster, "get", "flinkstatesnapshot", name, "-o", "jsonpath={.status.state}")

        def judged():
            return json.loads(up.baton("practice", "check", "--data-dir", up.data, "-o", "json", code=None))["workloads"][0]

        def writers():
            return len(judged()["writers"])

        for wrong in ("explode", "kill-operator=soon", "slow=never", "restart-jobmanager", "partition=half"):
            self.assertIn("baton practice", fault(wrong, code=2), wrong)
        fault("partition")
        out = judged()["out"]
        poll(lambda: judged()["out"] > out, "the job to go on where nobody reaches it")
        fault("partition=off")
        first = snapshot("first")
        poll(lambda: first() == "COMPLETED", "a savepoint")
        fault("fail-next-savepoint")
        failing = snapshot("failing")
        poll(lambda: failing() == "FAILED", "the savepoint to fail")
        fault("restart-jobmanager", "--workload", "orders")
        poll(lambda: writers() == 2, "the job to run again")
        fault("fail-job", "--workload", "orders")
        up.kubectl("--context", cluster, "wait", "--for=jsonpath={.status.jobStatus.state}=FAILED", "flinkdeployment/orders", f"--timeout={END_TIMEOUT}")
        fault("forget-status")
        poll(lambda: writers() == 3, "the operator to begin anew")
        up.kubectl("--context", cluster, "wait", "--for=jsonpath={.status.jobStatus.state}=RUNNING", "flinkdeployment/orders", f"--timeout={END_TIMEOUT}")
        fault("slow")
        fault("slow=off")
        fault("kill-operator=5")
        begun, late = time.monotonic(), snapshot("late")
        poll(lambda: late() == "COMPLETED", "the operator to come back")
        self.assertGreater(time.monotonic() - begun, 4)
        up.stop()

    def test_the_practice_operators_version_and_names_are_chosen(self):
        up = Up(practice="east,west")
        self.addCleanup(up.remove)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        up.arguments += ["--practice-flink", "1.12", "--listen", address]
        up.start()
        output = up.output()
        self.assertIn(f"https://{address}\n", output)
        for name in ("hub", "east", "west"):
            self.assertRegex(output, rf"(?m)^{name} +https://127\.0\.0\.1:\d+")
        self.assertEqual(len(output.split("Try:\n")[1].strip().splitlines()), 3, "the next three commands")
        up.apply(POLICY.replace("practice-1, practice-2, practice-3", "east"), job("orders"))
        up.until_runs("orders")
        self.assertNotIn("conditions", up.get("--context", "east", "flinkdeployment", "orders")["status"], "they came with 1.15")
        with open(os.path.join(up.data, "baton.log"), encoding="utf-8") as file:
            lines = file.readlines()
        self.assertRegex(lines[0], rf'msg="?up"? hub="?{address}"? practice=east,west')
        for line in lines:
            self.assertRegex(line, r"^ts=\S+ level=(info|warn|error) module=\w+ msg=")
        self.assertEqual(up.output(), output, "the terminal stays calm")
        up.process.send_signal(signal.SIGINT)  # Ctrl-C
        self.assertEqual(up.process.wait(timeout=DEADLINE), 0)
        self.assertEqual(up.output(), output + "stopping\n")
        up.log.close()
        done = subprocess.run([os.environ["BATON"], "up", "--practice-flink", "2.0"], capture_output=True, text=True, check=False, timeout=DEADLINE)
        self.assertEqual((done.returncode, "1.10 to 1.16" in done.stderr), (2, True), done.stderr)

    def test_the_operators_alone_play_every_kind_on_a_server_of_somebody_else(self):
        server = Server()
        self.addCleanup(lambda: server.process.poll() is None and server.kill())
        data = tempfile.mkdtemp(prefix="baton_up_")
        self.addCleanup(shutil.rmtree, data, ignore_errors=True)
        operators = Process("practice", "operators", "--kubeconfig", server.kubeconfig, "--data-dir", data, "--speed", "20", "--kinds")
        self.addCleanup(operators.kill)
        cluster = Cluster(server.kubeconfig)
        done = cluster.run("create", "deployment", "web", "--image=nginx:1", "--replicas=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = cluster.run("wait", "--for=jsonpath={.status.availableReplicas}=2", "deployment/web", f"--timeout={END_TIMEOUT}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(cluster.run("get", "pods", "-l", "app=web", "-o", "name").stdout.split()), 2)
        operators.stop()
        self.assertEqual(server.stop(), 0)

    def test_a_stateful_set_moves_with_its_volume(self):
        up = self.up(practice=2)
        up.apply(POLICY.replace("flink.apache.org/v1beta1", "apps/v1").replace("FlinkDeployment", "StatefulSet")
                 .replace(", practice-3", ""), STATEFUL_SET)
        up.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=1", "statefulset/db", f"--timeout={END_TIMEOUT}")
        holder = up.get("writer", "db-statefulset")["spec"]["holder"]["cluster"]
        up.baton("migrate", "statefulset/db", "--to", up.other_than(holder), "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        migration = up.get("smig")["items"][0]
        self.assertEqual(migration["status"]["guarantee"], "ExactlyOnce")
        name = migration["metadata"]["name"]
        told = re.findall(rf'level=info module=controllers msg="migration" namespace=default name={name} phase=(\w+)', up.log_tail(None))
        self.assertEqual(told[-1:], ["Succeeded"], told)
        self.assertGreater(len(told), 2, told)
        report = json.loads(up.baton("practice", "check", "--data-dir", up.data, "-o", "json"))
        self.assertEqual([w["name"] for w in report["workloads"]], ["db.statefulset"])
        self.assertTrue(report["clean"], report)
        up.stop()


STATEFUL_SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  namespace: default
  annotations: {rollout.karmada.io/managed: "true", practice.baton.io/rate: "100"}
spec:
  replicas: 1
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "db:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""


if __name__ == "__main__":
    main()
