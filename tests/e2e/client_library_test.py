"""Another client library: the `kubernetes` package of PyPI lists, watches, applies, and retries on conflicts.

It is not of the standard library: scripts/setup puts it into build/tools/python, which PYTHON_KUBERNETES may name instead.
Without it the suite is skipped, and says so.
"""
import os
import sys
import threading
import unittest

from harness import DEADLINE, E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.environ.get("PYTHON_KUBERNETES", os.path.join(ROOT, "build", "tools", "python")))
try:
    from kubernetes import client, config, dynamic, watch
except ImportError:
    client = None


@unittest.skipIf(client is None, "the python package kubernetes is not here: scripts/setup installs it")
class PythonClientTest(E2E):
    def setUp(self):
        super().setUp()
        self.connection = config.new_client_from_config(self.cluster.kubeconfig)
        self.addCleanup(self.connection.close)
        self.core = client.CoreV1Api(self.connection)

    def make(self, name, **data):
        return self.core.create_namespaced_config_map(self.ns, {"metadata": {"name": name}, "data": data})

    def test_list_then_watch_misses_nothing(self):
        self.make("before")
        listed = self.core.list_namespaced_config_map(self.ns)
        self.assertEqual([item.metadata.name for item in listed.items], ["before"])
        names = [f"c{number}" for number in range(10)]
        threading.Thread(target=lambda: [self.make(name) for name in names]).start()
        seen, stream = [], watch.Watch()
        for event in stream.stream(self.core.list_namespaced_config_map, self.ns, resource_version=listed.metadata.resource_version,
                                   timeout_seconds=int(DEADLINE)):
            seen.append((event["type"], event["object"].metadata.name))
            if len(seen) == len(names):
                stream.stop()
        self.assertEqual(seen, [("ADDED", name) for name in names])

    def test_server_side_apply(self):
        resource = dynamic.DynamicClient(self.connection).resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": self.ns}, "data": {"k": "1"}}
        applied = resource.server_side_apply(body=body, namespace=self.ns, name="a", field_manager="one")
        self.assertEqual(applied.data.to_dict(), {"k": "1"})
        body["data"] = {"k": "2"}
        with self.assertRaises(dynamic.exceptions.ConflictError):
            resource.server_side_apply(body=body, namespace=self.ns, name="a", field_manager="two")
        resource.server_side_apply(body=body, namespace=self.ns, name="a", field_manager="two", force_conflicts=True)
        self.assertEqual(self.core.read_namespaced_config_map("a", self.ns).data, {"k": "2"})

    def test_retrying_on_conflict_loses_no_increment(self):
        self.make("counter", n="0")

        def add():
            api = client.CoreV1Api(config.new_client_from_config(self.cluster.kubeconfig))
            for _ in range(5):
                while True:
                    found = api.read_namespaced_config_map("counter", self.ns)
                    found.data["n"] = str(int(found.data["n"]) + 1)
                    try:
                        api.replace_namespaced_config_map("counter", self.ns, found)
                        break
                    except client.ApiException as error:
                        if error.status != 409:
                            raise
        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.core.read_namespaced_config_map("counter", self.ns).data, {"n": "20"})

    def test_typed_kinds_patches_and_errors(self):
        apps = client.AppsV1Api(self.connection)
        labels = {"app": "web"}
        apps.create_namespaced_deployment(self.ns, client.V1Deployment(
            metadata=client.V1ObjectMeta(name="web"), spec=client.V1DeploymentSpec(
                replicas=1, selector=client.V1LabelSelector(match_labels=labels), template=client.V1PodTemplateSpec(
                    metadata=client.V1ObjectMeta(labels=labels),
                    spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="nginx")])))))
        scaled = apps.patch_namespaced_deployment_scale("web", self.ns, {"spec": {"replicas": 4}})
        self.assertEqual(scaled.spec.replicas, 4)
        self.assertEqual(apps.read_namespaced_deployment("web", self.ns).spec.replicas, 4)
        with self.assertRaises(client.ApiException) as raised:
            self.core.read_namespaced_pod("none", self.ns)
        self.assertEqual((raised.exception.status, raised.exception.reason), (404, "Not Found"))

    def test_pages(self):
        for number in range(5):
            self.make(f"c{number}")
        first = self.core.list_namespaced_config_map(self.ns, limit=3)
        second = self.core.list_namespaced_config_map(self.ns, limit=3, _continue=first.metadata._continue)
        self.assertEqual([item.metadata.name for item in first.items + second.items], [f"c{number}" for number in range(5)])


if __name__ == "__main__":
    main()
