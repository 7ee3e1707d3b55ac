"""Just enough of a Kubernetes API on a loopback port for kubectl to talk to, for golden tables of what kubectl answers.

    with FakeApiServer({"/api/v1/namespaces/default/pods/p": pod}) as server:
        out = server.kubectl("get", "pods", "p", "-o", "custom-columns=X:.spec")
"""

import http.server
import json
import os
import subprocess
import tempfile
import threading

RESOURCES = {
    "v1": [("pods", "Pod"), ("configmaps", "ConfigMap"), ("events", "Event")],
    "policy/v1": [("poddisruptionbudgets", "PodDisruptionBudget")],
    "metrics.k8s.io/v1beta1": [("pods", "PodMetrics")],
}


def discovery():
    def resource_list(version):
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": version,
            "resources": [
                {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind,
                 "verbs": ["create", "get", "list"]}
                for name, kind in RESOURCES[version]
            ],
        }

    groups = []
    for version in RESOURCES:
        if "/" in version:
            group, short = version.split("/")
            entry = {"groupVersion": version, "version": short}
            groups.append({"name": group, "versions": [entry], "preferredVersion": entry})
    pages = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups},
        "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
    }
    for version in RESOURCES:
        pages[("/apis/" if "/" in version else "/api/") + version] = resource_list(version)
    return pages


class FakeApiServer:
    """`pages` are the answers to GET by path; `requests` collects the paths asked for, with their queries."""

    def __init__(self, pages):
        self.pages = {**discovery(), **pages}
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(self.path)
                page = outer.pages.get(self.path.split("?")[0])
                body = json.dumps(page if page is not None else {
                    "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}).encode()
                self.send_response(200 if page is not None else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.home = tempfile.TemporaryDirectory()

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.home.cleanup()

    def kubectl(self, *arguments):
        """(exit code, stdout, stderr)"""
        environment = dict(os.environ, HOME=self.home.name, KUBECONFIG=os.devnull)
        command = ["kubectl", "--server=http://127.0.0.1:%d" % self.server.server_port, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
