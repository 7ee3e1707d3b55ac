"""Admission webhooks: a server of the test's own is asked, changes objects, refuses them, and fails."""
import base64
import http.server
import json
import os
import secrets
import ssl
import subprocess
import threading

import harness
from harness import E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

MAPS = "/api/v1/namespaces/{ns}/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}


class Webhook:
    """An HTTPS server on loopback that answers AdmissionReviews with what answer(request) gives."""

    def __init__(self, answer):
        name = os.path.join(harness.WORK, f"hook-{secrets.token_hex(4)}")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", name + ".key",
                        "-out", name + ".crt", "-days", "2", "-subj", "/CN=hook", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        with open(name + ".crt", "rb") as file:
            self.bundle = base64.b64encode(file.read()).decode()
        self.requests = []
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                hook.requests.append(review["request"])
                response = {"uid": review["request"]["uid"], "allowed": True, **(answer(review["request"]) or {})}
                body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(name + ".crt", name + ".key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.server.server_address[1]}/review"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class WebhookTest(E2E):
    def hook(self, answer, kind="Validating", url=None, **more):
        """Registers a webhook for config maps of the test's namespace, and waits until it is asked."""
        server = Webhook(answer)
        self.addCleanup(server.close)
        plural = f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}webhookconfigurations"
        name = f"{kind.lower()}-{self.ns}"
        self.api("POST", plural, {"metadata": {"name": name}, "webhooks": [{
            "name": "hook.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "timeoutSeconds": 5,
            "clientConfig": {"url": url or server.url, "caBundle": server.bundle},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.ns}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE", "DELETE"], "resources": ["configmaps"]}],
            **more}]}, expect=201)
        self.addCleanup(lambda: self.cluster.request("DELETE", f"{plural}/{name}"))
        return server

    def until_asked(self, server):
        probe = {"metadata": {"name": "probe"}}
        self.poll(lambda: self.cluster.request("POST", self.path(MAPS + "?dryRun=All"), probe) and server.requests, "the webhook to be asked")
        server.requests.clear()

    def test_a_mutating_webhook_changes_the_object(self):
        patch = base64.b64encode(json.dumps([{"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}}]).encode()).decode()
        server = self.hook(lambda request: {"patchType": "JSONPatch", "patch": patch} if request["operation"] == "CREATE" else {}, "Mutating")
        self.until_asked(server)
        made = self.config_map("a", {"k": "v"})
        self.assertEqual((made["metadata"]["labels"], made["data"]), ({"by": "hook"}, {"k": "v"}))
        self.assertEqual(self.api("GET", MAPS + "/a")["metadata"]["labels"], {"by": "hook"})

    def test_what_the_webhook_sees(self):
        server = self.hook(lambda _: {})
        self.until_asked(server)
        self.config_map("a", {"k": "1"})
        self.api("PATCH", MAPS + "/a", {"data": {"k": "2"}}, headers=MERGE)
        self.api("DELETE", MAPS + "/a")
        create, update, delete = server.requests
        self.assertEqual([r["operation"] for r in server.requests], ["CREATE", "UPDATE", "DELETE"])
        self.assertEqual((create["kind"], create["resource"]), ({"group": "", "version": "v1", "kind": "ConfigMap"},
                                                                {"group": "", "version": "v1", "resource": "configmaps"}))
        self.assertEqual((create["name"], create["namespace"], create["dryRun"], create["oldObject"]), ("a", self.ns, False, None))
        self.assertIn("system:masters", create["userInfo"]["groups"])
        self.assertEqual((update["oldObject"]["data"], update["object"]["data"]), ({"k": "1"}, {"k": "2"}))
        self.assertEqual((delete["object"], delete["oldObject"]["data"]), (None, {"k": "2"}))

    def test_a_validating_webhook_refuses_and_warns(self):
        def answer(request):
            if request["name"] == "bad":
                return {"allowed": False, "status": {"message": "not here", "code": 418}}
            return {"warnings": ["mind the gap"]}
        self.until_asked(self.hook(answer))
        status = self.api("POST", MAPS, {"metadata": {"name": "bad"}}, expect=418)
        self.assertEqual(status["message"], 'admission webhook "hook.example.com" denied the request: not here')
        self.api("GET", MAPS + "/bad", expect=404)
        reply = self.cluster.request("POST", self.path(MAPS), {"metadata": {"name": "good"}})
        self.assertEqual((reply.status, reply.headers["Warning"]), (201, '299 - "mind the gap"'))

    def test_a_webhook_that_cannot_be_reached(self):
        self.hook(lambda _: {}, url="https://127.0.0.1:1/none", failurePolicy="Fail")
        probe = {"metadata": {"name": "probe"}}
        self.poll(lambda: self.cluster.request("POST", self.path(MAPS + "?dryRun=All"), probe).status == 500, "the refusal")
        status = self.api("POST", MAPS, {"metadata": {"name": "a"}}, expect=500)
        self.assertIn('Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "https://127.0.0.1:1/none',
                      status["message"])

    def test_one_that_may_be_ignored(self):
        self.hook(lambda _: {}, url="https://127.0.0.1:1/none", failurePolicy="Ignore")
        self.config_map("a")
        self.assertEqual(self.api("GET", MAPS + "/a")["metadata"]["name"], "a")

    def test_an_object_selector_leaves_others_alone(self):
        server = self.hook(lambda _: {"allowed": False}, objectSelector={"matchLabels": {"watched": "yes"}})
        watched = {"metadata": {"name": "w", "labels": {"watched": "yes"}}}
        self.poll(lambda: self.cluster.request("POST", self.path(MAPS + "?dryRun=All"), watched).status != 201, "the webhook to be asked")
        status = self.api("POST", MAPS, watched, expect=400)
        self.assertEqual(status["message"], 'admission webhook "hook.example.com" denied the request without explanation')
        asked = len(server.requests)
        self.config_map("free")
        self.assertEqual(len(server.requests), asked)


if __name__ == "__main__":
    main()
