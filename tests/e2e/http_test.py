"""HTTP itself: compression, HEAD, YAML answers, tags of documents, discovery in one document, warnings, identification of requests."""
import gzip
import json

from harness import E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

MAPS = "/api/v1/namespaces/{ns}/configmaps"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class HttpTest(E2E):
    def get(self, path, **headers):
        return self.cluster.request("GET", self.path(path), headers=headers)

    def test_large_answers_are_compressed_when_asked(self):
        self.config_map("a", {"k": "x" * 300000})
        plain, packed = self.get(MAPS), self.get(MAPS, **{"Accept-Encoding": "gzip"})
        self.assertNotIn("Content-Encoding", plain.headers)
        self.assertEqual(packed.headers["Content-Encoding"], "gzip")
        self.assertLess(len(packed.body), len(plain.body) // 10)
        self.assertEqual(json.loads(gzip.decompress(packed.body)), plain.json)

    def test_yaml_and_pretty(self):
        self.config_map("a", {"k": "v"})
        reply = self.get(MAPS + "/a", Accept="application/yaml")
        self.assertEqual(reply.headers["Content-Type"], "application/yaml")
        self.assertTrue(reply.body.startswith(b"apiVersion: v1\n"), reply.body[:60])
        self.assertIn(b"\ndata:\n  k: v\n", reply.body)
        self.assertIn(b'\n  "data": {\n    "k": "v"\n  }', self.get(MAPS + "/a?pretty=true").body)

    def test_yaml_bodies_are_taken(self):
        body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fromyaml\ndata:\n  k: v\n"
        made = self.api("POST", MAPS, body, expect=201, headers={"Content-Type": "application/yaml"})
        self.assertEqual(made["data"], {"k": "v"})

    def test_a_request_is_told_apart_by_its_audit_id(self):
        first, second = self.get("/api"), self.get("/api")
        self.assertRegex(first.headers["Audit-Id"], r"^[0-9a-f-]{36}$")
        self.assertNotEqual(first.headers["Audit-Id"], second.headers["Audit-Id"])
        self.assertEqual(first.headers["Cache-Control"], "no-cache, private")

    def test_openapi_is_tagged(self):
        first = self.get("/openapi/v2")
        tag = first.headers["Etag"]
        self.assertTrue(tag)
        again = self.get("/openapi/v2", **{"If-None-Match": tag})
        self.assertEqual((again.status, again.body), (304, b""))
        paths = self.get("/openapi/v3").json["paths"]
        document = self.get(paths["apis/apps/v1"]["serverRelativeURL"])
        self.assertIn("/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale", document.json["paths"])
        self.assertIn("hash=", paths["apis/apps/v1"]["serverRelativeURL"])

    def test_discovery_in_one_document(self):
        reply = self.get("/apis", Accept=AGGREGATED)
        self.assertEqual((reply.status, reply.json["kind"], reply.json["apiVersion"]), (200, "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"))
        groups = {item["metadata"]["name"]: item for item in reply.json["items"]}
        resources = {r["resource"]: r for r in groups["apps"]["versions"][0]["resources"]}
        self.assertEqual(resources["deployments"]["responseKind"]["kind"], "Deployment")
        self.assertEqual((resources["deployments"]["scope"], resources["deployments"]["shortNames"]), ("Namespaced", ["deploy"]))
        self.assertEqual({s["subresource"] for s in resources["deployments"]["subresources"]}, {"scale", "status"})
        tag = reply.headers["Etag"]
        self.assertEqual(self.get("/apis", Accept=AGGREGATED, **{"If-None-Match": tag}).status, 304)

    def test_metrics_are_told(self):
        reply = self.get("/metrics")
        self.assertEqual(reply.status, 200)
        self.assertTrue(reply.headers["Content-Type"].startswith("text/plain"), reply.headers["Content-Type"])
        self.assertIn(b"# TYPE apiserver_request_total counter", reply.body)

    def test_one_connection_serves_many_requests(self):
        connection = self.cluster.connection()
        self.addCleanup(connection.close)
        for number in range(50):
            body = json.dumps({"metadata": {"name": f"c{number}"}})
            connection.request("POST", self.path(MAPS), body=body, headers={"Content-Type": "application/json"})
            response = connection.getresponse()
            self.assertEqual((response.status, json.loads(response.read())["metadata"]["name"]), (201, f"c{number}"))

    def test_chunked_bodies_are_taken(self):
        connection = self.cluster.connection()
        self.addCleanup(connection.close)
        parts = iter([b'{"metadata":', b'{"name":"chu', b'nked"}}'])
        connection.request("POST", self.path(MAPS), body=parts, headers={"Content-Type": "application/json"}, encode_chunked=True)
        self.assertEqual(connection.getresponse().status, 201)
        self.assertEqual(self.api("GET", MAPS + "/chunked")["metadata"]["name"], "chunked")


if __name__ == "__main__":
    main()
