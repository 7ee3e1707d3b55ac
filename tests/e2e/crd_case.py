"""The ground of the suites about custom resources: a definition in an API group of the test's own."""
import json
import secrets

from harness import E2E, TIMEOUT

ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class CrdCase(E2E):
    """A test with an API group of its own."""

    def setUp(self):
        super().setUp()
        self.group = f"g{secrets.token_hex(4)}.example.com"

    def version(self, name="v1", schema=None, **more):
        return {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": ANY if schema is None else schema}, **more}

    def crd(self, versions, plural="widgets", kind="Widget", scope="Namespaced", **names):
        return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{self.group}"},
                "spec": {"group": self.group, "scope": scope, "versions": versions,
                         "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List", **names}}}

    def define(self, *versions, **more):
        """Makes the definition and waits until it is served."""
        crd = self.crd(list(versions), **more)
        name = crd["metadata"]["name"]
        self.kubectl("create", "-f", "-", stdin=json.dumps(crd))
        self.addCleanup(lambda: self.cluster.request("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"))
        self.kubectl("wait", f"crd/{name}", "--for=condition=Established", TIMEOUT)
        plural, scoped = crd["spec"]["names"]["plural"], crd["spec"]["scope"] == "Namespaced"
        for version in versions:
            if version["served"]:
                path = f"/apis/{self.group}/{version['name']}/" + (f"namespaces/{self.ns}/" if scoped else "") + plural
                self.poll(lambda p=path: self.cluster.request("GET", p).status == 200, path)
        return name

    def widgets(self, name="", version="v1"):
        return f"/apis/{self.group}/{version}/namespaces/{self.ns}/widgets" + (f"/{name}" if name else "")

    def widget(self, name="w", version="v1", expect=201, query="", **fields):
        body = {"apiVersion": f"{self.group}/{version}", "kind": "Widget", "metadata": {"name": name}, **fields}
        return self.api("POST", self.widgets(version=version) + query, body, expect=expect)
