"""`baton up` as a process, and baton's own commands on it: what the suites of moves stand on.

    with Up(practice=3) as up:
        up.apply(POLICY, job("orders"))
        done = up.baton("migrate", "flinkdep/orders", "--to", "practice-2", "--wait")
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import DEADLINE, KUBECTL, TIMEOUT, poll

END_TIMEOUT = f"{int(2 * DEADLINE)}s"  # For a whole move on a loaded machine.

POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: streaming, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [practice-1, practice-2, practice-3]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
"""


def job(name, rate=200, image="flink:1.20"):
    return f"""
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: {name}
  namespace: default
  annotations: {{practice.baton.io/rate: "{rate}"}}
spec:
  image: {image}
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    state.savepoints.dir: s3://state/savepoints
    state.checkpoints.dir: s3://state/checkpoints
    execution.checkpointing.interval: 1 s
  jobManager: {{resource: {{memory: 1024m, cpu: 1}}}}
  taskManager: {{resource: {{memory: 1024m, cpu: 1}}}}
  job: {{jarURI: "local:///opt/orders.jar", parallelism: 2, upgradeMode: savepoint, state: running}}
"""


class Up:
    """One `baton up`; its directory is removed at the end, unless it was given."""

    def __init__(self, practice=3, durable=False, speed=20):
        self.directory = tempfile.mkdtemp(prefix="baton_up_")
        self.data = os.path.join(self.directory, "data")
        self.arguments = ["--data-dir", self.data, "--practice-clusters", str(practice), "--practice-speed", str(speed)]
        if not durable:
            self.arguments.append("--ephemeral")
        self.kubeconfig = os.path.join(self.data, "kubeconfig")
        self.process = None
        self.lives = 0

    def start(self):
        self.lives += 1
        path = os.path.join(self.directory, f"out-{self.lives}")
        self.log = open(path, "w+", encoding="utf-8")
        self.process = subprocess.Popen([os.environ["BATON"], "up", *self.arguments], stdout=self.log, stderr=self.log)
        poll(lambda: "kubeconfig " in self.output() or self.process.poll() is not None, "`baton up` to say that it is up")
        if self.process.poll() is not None:
            raise AssertionError(f"`baton up` ended with {self.process.returncode}: {self.output()}")
        return self

    def output(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def stop(self):
        died = self.process.poll()
        assert died is None, f"`baton up` died with {died}: {self.output()[-2000:]}"
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=DEADLINE)
        assert code == 0, f"`baton up` ended with {code}: {self.output()[-2000:]}"
        self.log.close()

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def environment(self):
        return {**os.environ, "KUBECONFIG": self.kubeconfig, "HOME": self.directory,
                "KUBECACHEDIR": os.path.join(self.directory, "cache")}

    def run(self, program, *arguments, stdin=None):
        return subprocess.run([program, *arguments], input=stdin, capture_output=True, text=True, check=False,
                              env=self.environment, timeout=6 * DEADLINE)

    def kubectl(self, *arguments, stdin=None):
        """kubectl's standard output; it must end with 0."""
        done = self.run(KUBECTL, *arguments, stdin=stdin)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}\n{done.stdout}{done.stderr}\n{self.log_tail()}"
        return done.stdout

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def baton(self, *arguments, code=0):
        """baton's standard output and error; it must end with the code, if there is one."""
        done = self.run(os.environ["BATON"], *arguments)
        assert code in (None, done.returncode), (f"baton {' '.join(arguments)}: {done.returncode}, not {code}\n"
                                         f"{done.stdout}{done.stderr}\n{self.log_tail()}")
        return done.stdout + done.stderr

    def log_tail(self, most=3000):
        try:
            with open(os.path.join(self.data, "baton.log"), encoding="utf-8", errors="replace") as file:
                return file.read()[-(most or 0):]
        except OSError:
            return ""

    def apply(self, *texts):
        self.kubectl("apply", "-f", "-", stdin="\n---\n".join(texts))

    def until_runs(self, name):
        self.kubectl("wait", "--for=jsonpath={.status.jobStatus.state}=RUNNING", f"flinkdeployment/{name}", TIMEOUT)

    def until(self, migration, condition="Completed"):
        done = self.run(KUBECTL, "wait", f"--for=condition={condition}", f"smig/{migration}", f"--timeout={END_TIMEOUT}")
        if done.returncode != 0:
            there = self.get("smig", migration)
            raise AssertionError(f"{migration}: {done.stderr}\n{json.dumps(there['spec'])}\n{json.dumps(there['status'])}\n{self.log_tail()}")

    def holder(self, name):
        return self.get("writer", f"{name}-flinkdeployment")["spec"]["holder"]["cluster"]

    def other_than(self, *clusters):
        return next(f"practice-{i}" for i in (1, 2, 3) if f"practice-{i}" not in clusters)


assert sys.version_info >= (3, 9)
