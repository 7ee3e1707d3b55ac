"""The built-in kinds: what is defaulted, what is refused and in which words, what may change, and their status."""
from harness import E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import
from harness import real_only

PODS, SECRETS, SERVICES = (f"/api/v1/namespaces/{{ns}}/{kind}" for kind in ("pods", "secrets", "services"))
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
POD = {"containers": [{"name": "a", "image": "n"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
SELECTOR = {"matchLabels": {"a": "b"}}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


def named(name, **fields):
    return {"metadata": {"name": name}, **fields}


class BuiltinTest(E2E):
    def refused(self, path, body, *words, code=422):
        status = self.api("POST", path, body, expect=code)
        for word in words:
            self.assertIn(word, status["message"])
        return status

    def assert_holds(self, found, wanted, where=""):
        """That found has all that wanted has; objects may have more."""
        for key, value in wanted.items():
            self.assertIn(key, found, where)
            if isinstance(value, dict):
                self.assert_holds(found[key], value, f"{where}.{key}")
            else:
                self.assertEqual(found[key], value, f"{where}.{key}")


class DefaultsTest(BuiltinTest):
    def test_pod(self):
        made = self.api("POST", PODS, named("p", spec={"containers": [{
            "name": "a", "image": "n:1", "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}}, "ports": [{"containerPort": 80}],
            "livenessProbe": {"httpGet": {"port": "x"}}}], "volumes": [{"name": "v", "configMap": {"name": "c"}}]}), expect=201)
        self.assert_holds(made, {"status": {"phase": "Pending", "qosClass": "Guaranteed"}, "spec": {
            "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": {},
            "terminationGracePeriodSeconds": 30, "enableServiceLinks": True}})
        container = made["spec"]["containers"][0]
        self.assert_holds(container, {
            "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
            "livenessProbe": {"httpGet": {"path": "/", "port": "x", "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10,
                              "successThreshold": 1, "failureThreshold": 3}})
        volume = [v for v in made["spec"]["volumes"] if v["name"] == "v"]
        self.assertEqual(volume, [{"name": "v", "configMap": {"name": "c", "defaultMode": 420}}])

    def test_workloads(self):
        made = self.api("POST", DEPLOYMENTS, named("d", spec={"selector": SELECTOR, "template": TEMPLATE}), expect=201)
        self.assert_holds(made, {"metadata": {"generation": 1}, "spec": {
            "replicas": 1, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}}})
        claim = {"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
        made = self.api("POST", "/apis/apps/v1/namespaces/{ns}/statefulsets", named("s", spec={
            "selector": SELECTOR, "template": TEMPLATE, "serviceName": "x", "volumeClaimTemplates": [claim]}), expect=201)
        self.assert_holds(made["spec"], {"replicas": 1, "podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10,
                                         "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                                         "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}})
        self.assert_holds(made["spec"]["volumeClaimTemplates"][0], {"kind": "PersistentVolumeClaim", "spec": {"volumeMode": "Filesystem"}})
        made = self.api("POST", "/apis/apps/v1/namespaces/{ns}/daemonsets", named("s", spec={"selector": SELECTOR, "template": TEMPLATE}), expect=201)
        self.assert_holds(made["spec"]["updateStrategy"], {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})

    def test_job_gets_its_selector_and_labels(self):
        made = self.api("POST", "/apis/batch/v1/namespaces/{ns}/jobs", named("j", spec={"template": {"spec": {**POD, "restartPolicy": "Never"}}}),
                        expect=201)
        uid = made["metadata"]["uid"]
        self.assert_holds(made["spec"], {"backoffLimit": 6, "completions": 1, "parallelism": 1, "completionMode": "NonIndexed", "suspend": False,
                                         "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}})
        self.assert_holds(made["spec"]["template"]["metadata"]["labels"], {"batch.kubernetes.io/job-name": "j", "controller-uid": uid})

    def test_service_and_secret(self):
        made = self.api("POST", SERVICES, named("s", spec={"ports": [{"port": 80}]}), expect=201)
        self.assert_holds(made["spec"], {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
                                         "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]})
        made = self.api("POST", SECRETS, named("s", stringData={"a": "b"}), expect=201)
        self.assertEqual((made["data"], made["type"], "stringData" in made), ({"a": "Yg=="}, "Opaque", False))

    def test_quantities_are_canonical(self):
        made = self.api("POST", "/api/v1/namespaces/{ns}/persistentvolumeclaims", named("c", spec={
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}), expect=201)
        self.assert_holds(made, {"spec": {"resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem"}, "status": {"phase": "Pending"}})


class RefusalTest(BuiltinTest):
    def test_pods(self):
        self.refused(PODS, named("p", spec={}), 'Pod "p" is invalid: spec.containers: Required value')
        self.refused(PODS, named("p", spec={"containers": [{"name": "A_"}]}), 'spec.containers[0].name: Invalid value: "A_"')
        self.refused(PODS, named("p", spec={**POD, "restartPolicy": "Never2"}), 'spec.restartPolicy: Unsupported value: "Never2"')
        self.refused(PODS, named("p", spec={"containers": [{"name": "a", "image": "n", "ports": [{"containerPort": 0}]}]}),
                     "spec.containers[0].ports[0].containerPort: Required value")
        self.refused(PODS, named("p", spec={"containers": [{"name": "a", "image": "n", "resources": {"limits": {"memory": "x"}}}]}),
                     'Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression', code=400)

    def test_deployments(self):
        status = self.refused(DEPLOYMENTS, named("d", spec={"template": TEMPLATE}), 'Deployment.apps "d" is invalid: ', "spec.selector: Required value")
        self.assertEqual((status["details"]["group"], status["details"]["kind"]), ("apps", "Deployment"))
        self.refused(DEPLOYMENTS, named("d", spec={"selector": {"matchLabels": {"x": "y"}}, "template": TEMPLATE}),
                     'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`')
        self.refused(DEPLOYMENTS, named("d", spec={"selector": SELECTOR, "template": TEMPLATE, "replicas": -1}),
                     "spec.replicas: Invalid value: -1: must be greater than or equal to 0")

    def test_services(self):
        self.refused(SERVICES, named("s", spec={"ports": []}), "spec.ports: Required value")
        self.refused(SERVICES, named("s", spec={"ports": [{"port": 80}, {"port": 81}]}), "spec.ports[0].name: Required value")
        self.refused(SERVICES, named("s", spec={"type": "X", "ports": [{"port": 80}]}), 'spec.type: Unsupported value: "X"')
        self.refused(SERVICES, named("5s", spec={"ports": [{"port": 80}]}), "a DNS-1035 label must consist of")

    def test_secrets(self):
        self.refused(SECRETS, named("s", data={"a": "not base64!"}),
                     'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 3', code=400)
        self.refused(SECRETS, named("s", type="kubernetes.io/tls", data={}), "data[tls.crt]: Required value")

    def test_others(self):
        job = {"template": {"spec": POD}}
        self.refused("/apis/batch/v1/namespaces/{ns}/jobs", named("j", spec=job), 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"')
        self.refused("/apis/batch/v1/namespaces/{ns}/cronjobs", named("c", spec={"schedule": "nonsense", "jobTemplate": {"spec": {
            "template": {"spec": {**POD, "restartPolicy": "Never"}}}}}), 'spec.schedule: Invalid value: "nonsense"')
        self.refused("/api/v1/namespaces/{ns}/persistentvolumeclaims", named("c", spec={}), "spec.accessModes: Required value: at least 1 access mode is required")
        self.refused("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", named("l", spec={"leaseDurationSeconds": 0}),
                     "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0")
        self.refused("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", named("p", spec={"minAvailable": 1, "maxUnavailable": 1, "selector": SELECTOR}),
                     "minAvailable and maxUnavailable cannot be both set")
        self.refused("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", named("r", rules=[{"apiGroups": [""], "resources": ["x"]}]),
                     "rules[0].verbs: Required value: verbs must contain at least one value")
        self.refused("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings", named("r", roleRef={"kind": "X", "name": "y"}),
                     'roleRef.kind: Unsupported value: "X"')
        self.refused("/api/v1/namespaces/{ns}/events", named("e", involvedObject={"namespace": "other"}), "involvedObject.namespace")


class ChangeTest(BuiltinTest):
    def test_of_a_pod_only_its_image_and_little_else_may_change(self):
        self.api("POST", PODS, named("p", spec=POD), expect=201)
        changed = self.api("PATCH", PODS + "/p", {"spec": {"containers": [{"name": "a", "image": "n2"}]}}, headers=STRATEGIC)
        self.assertEqual((changed["spec"]["containers"][0]["image"], changed["metadata"]["generation"]), ("n2", 2))
        status = self.api("PATCH", PODS + "/p", {"spec": {"hostname": "x"}}, expect=422, headers=STRATEGIC)
        self.assertIn("spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`", status["message"])

    @real_only
    def test_a_pod_is_bound_and_its_status_set(self):
        self.api("POST", PODS, named("p", spec={**POD, "nodeName": "n"}), expect=201)
        changed = self.api("PATCH", PODS + "/p/status", {"status": {"phase": "Running", "podIP": "10.0.0.1"}}, headers=STRATEGIC)
        self.assertEqual((changed["status"]["phase"], changed["status"]["podIPs"]), ("Running", [{"ip": "10.0.0.1"}]))
        self.assertEqual([item["metadata"]["name"] for item in self.api("GET", PODS + "?fieldSelector=spec.nodeName%3Dn,status.phase%3DRunning")["items"]], ["p"])

    @real_only
    def test_a_bound_pod_is_deleted_gracefully(self):
        self.api("POST", PODS, named("p", spec={**POD, "nodeName": "n"}), expect=201)
        answered = self.api("DELETE", PODS + "/p")
        self.assertEqual((answered["kind"], answered["metadata"]["deletionGracePeriodSeconds"]), ("Pod", 30))
        self.assertIn("deletionTimestamp", self.api("GET", PODS + "/p")["metadata"])
        self.api("DELETE", PODS + "/p", {"gracePeriodSeconds": 0})
        self.api("GET", PODS + "/p", expect=404)

    def test_generation_grows_with_the_spec_only(self):
        self.api("POST", DEPLOYMENTS, named("d", spec={"selector": SELECTOR, "template": TEMPLATE}), expect=201)
        generation = lambda path, patch: self.api("PATCH", DEPLOYMENTS + path, patch, headers=STRATEGIC)["metadata"]["generation"]  # noqa: E731
        self.assertEqual(generation("/d", {"metadata": {"labels": {"x": "y"}}}), 1)
        self.assertEqual(generation("/d/status", {"status": {"replicas": 1}}), 1)
        self.assertEqual(generation("/d", {"spec": {"replicas": 2}}), 2)

    def test_the_claims_of_a_stateful_set_may_not_change(self):
        path = "/apis/apps/v1/namespaces/{ns}/statefulsets"
        self.api("POST", path, named("s", spec={"selector": SELECTOR, "template": TEMPLATE, "serviceName": "x"}), expect=201)
        status = self.api("PATCH", path + "/s", {"spec": {"serviceName": "y"}}, expect=422, headers=STRATEGIC)
        self.assertIn("spec: Forbidden: updates to statefulset spec for fields other than", status["message"])


if __name__ == "__main__":
    main()
