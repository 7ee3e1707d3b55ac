"""The table of differential_test.py: requests that a kube-apiserver and `baton apiserver` must answer alike.

    row(name, method, path, body, type=..., accept=...)

Rows are sent in their order, the same to both servers. {NS} is a namespace that the first row makes. A string "@row:a.b.0" in a body
(or "{@row:a.b}" in a path) stands for that part of what the same server answered to an earlier row. A body that is a string is sent
as it is. Add rows freely; where a difference is meant, docs/API.md says why and DIFFERENCES names the row.
"""
NS = "differential"
MAPS = f"/api/v1/namespaces/{NS}/configmaps"
SECRETS = f"/api/v1/namespaces/{NS}/secrets"
SERVICES = f"/api/v1/namespaces/{NS}/services"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NS}/deployments"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = f"/apis/differential.example.com/v1/namespaces/{NS}/widgets"
JSON_PATCH, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"

ROWS = []
# Rows (patterns as for fnmatch) -> why they differ, as docs/API.md tells. A pattern that no difference needs any more fails the test.
CLUSTER = "what admission plugins and allocators of a cluster that runs pods fill in"
PATHS = "a path that is not served is answered with a Status"
UNCHECKED = "some fields that only a cluster's own components read are not checked"
CLIENTS_FAULT = "a patch that cannot be applied is the client's fault: 4xx, not 500"
REVIEWS = "reviews are no objects: no managedFields; their errors name the kind"
DIFFERENCES = {
    "Service: *": CLUSTER, "update a service's IP": CLUSTER, "list services by type": CLUSTER, "PersistentVolume: *": CLUSTER, "Node: *": CLUSTER,
    "DaemonSet: table": CLUSTER,
    "get a path that is not served": PATHS, "get a group*that is not served": PATHS, "post where nothing is": PATHS, "widget: no version": PATHS,
    "get as something else": "answers are JSON or YAML, and 406 says so",
    "CronJob with wrong zone": UNCHECKED, "NetworkPolicy with wrong cidr": UNCHECKED, "patch status wrongly": UNCHECKED,
    "Service with wrong port": UNCHECKED,
    "JSON patch: missing replace": "RFC 6902: what a replace replaces must be there",
    "strategic patch: no merge key": CLIENTS_FAULT, "strategic patch: bad directive": CLIENTS_FAULT, "apply: wrong type": CLIENTS_FAULT,
    "apply: unknown field*": CLIENTS_FAULT, "apply: container twice": CLIENTS_FAULT, "widget: apply wrongly": CLIENTS_FAULT,
    "apply: key twice": "a YAML document that has a key twice is refused",
    "create null": "null is no object",
    "review: *": REVIEWS,
    "CRD": "the status of a new CRD comes a moment later", "bad CRD: additional false": "the status of a new CRD comes a moment later",
    "CRD: a plain finalizer": "what the server itself writes into the status of a CRD is in no managedFields",
    "widget: another version": "no warnings beside an error", "widget: delete all": "an empty continue token is left out",
}
# The same for rows of which only the words of messages (and of causes) differ: code, reason and everything else are compared.
DECODING = "what cannot be decoded is told in words of our own"
WORDING = {
    "create with bad keys": "errors of a map are told in the order of its keys", "create strictly with unknown fields": "in the order of names",
    "create another *": DECODING, "create a kind that is not known": DECODING, "create with a bad time": DECODING, "create nothing": DECODING,
    "create text": DECODING, "create broken JSON": DECODING, "create a list": DECODING, "create a string": DECODING,
    "create with broken YAML": DECODING, "update broken": DECODING, "* with a wrong spec": DECODING, "JSON patch: *": DECODING,
    "merge patch*": DECODING, "strategic patch: *": DECODING, "apply: *": DECODING, "update scale with another kind": DECODING,
    "patch scale with text": DECODING, "widget: *": DECODING, "delete with a* body": DECODING,
    "namespace named 'xxxxxxxxxx'": "lengths of labels are in characters", "bad metadata: a long label": "lengths of labels are in characters",
    "bad metadata: two controllers": "the order of fields in a value", "update another uid": "no key of etcd",
    "list bad token": DECODING, "list token and version": DECODING,
    "bad CRD: *": "errors name the field that the client sent",
}


def row(name, method, path, body=None, type="application/json", accept=None):  # pylint: disable=redefined-builtin
    ROWS.append({"name": name, "method": method, "path": path, "body": body, "type": type, "accept": accept})


def get(name, path, **more):
    row(name, "GET", path, **more)


def create(name, path, body, **more):
    row(name, "POST", path, body, **more)


def patch(name, path, kind, body):
    row(name, "PATCH", path, body, type=kind)


def config_map(name, data=None, **metadata):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}
    return {**body, "data": data} if data is not None else body


def pod_spec(**container):
    return {"containers": [{"name": "main", "image": "nginx:1.27", **container}]}


def workload(kind, name, group="apps/v1", spec=None, template=None, labels=None):
    labels = {"app": name} if labels is None else labels
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": labels}, "spec": template or pod_spec()}, **(spec or {})}}


def deployment(name, **more):
    return workload("Deployment", name, **more)


def namespaces():
    create("namespace", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}})
    create("namespace again", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}})
    create("namespace with labels", "/api/v1/namespaces", {"metadata": {"name": NS + "-2", "labels": {"a": "b"}}})
    for name in ("Upper", "a.b", "-a", "x" * 64, "a_b", ""):
        create(f"namespace named {name[:10]!r}", "/api/v1/namespaces", {"metadata": {"name": name}})
    get("get namespace", f"/api/v1/namespaces/{NS}")
    get("get no namespace", "/api/v1/namespaces/missing")
    patch("label a namespace", f"/api/v1/namespaces/{NS}", MERGE, {"metadata": {"labels": {"x": "y"}}})
    patch("namespace label that is none", f"/api/v1/namespaces/{NS}", MERGE, {"metadata": {"labels": {"x": "not a label"}}})
    patch("namespace status", f"/api/v1/namespaces/{NS}/status", MERGE, {"status": {"phase": "Terminating"}})
    get("namespace status of", f"/api/v1/namespaces/{NS}/status")
    row("namespace finalize", "PUT", f"/api/v1/namespaces/{NS}-2/finalize",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS + "-2"}, "spec": {"finalizers": ["kubernetes", "example.com/a"]}})
    row("delete all namespaces", "DELETE", "/api/v1/namespaces")


def creates():
    create("create", MAPS, config_map("a", {"k": "v"}, labels={"app": "x"}))
    create("create what is there", MAPS, config_map("a", {"k": "v"}))
    create("create without a kind", MAPS, {"metadata": {"name": "no-kind"}, "data": {"k": "v"}})
    create("create with a manager", MAPS + "?fieldManager=somebody", config_map("managed", {"k": "v"}))
    create("create with a long manager", MAPS + "?fieldManager=" + "m" * 200, config_map("managed-2", {"k": "v"}))
    create("create with an unprintable manager", MAPS + "?fieldManager=a%07b", config_map("managed-3", {"k": "v"}))
    create("create with a pretty answer", MAPS + "?pretty=true", config_map("pretty"))
    create("create with binary data", MAPS, {**config_map("binary"), "binaryData": {"b": "AAEC"}})
    create("create with bad binary data", MAPS, {**config_map("binary-2"), "binaryData": {"b": "not base64!"}})
    create("create with a key twice", MAPS, {**config_map("binary-3", {"b": "x"}), "binaryData": {"b": "AAEC"}})
    create("create with bad keys", MAPS, config_map("keys", {"a/b": "1", "": "2", "..": "3", "k" * 254: "4"}))
    create("create with a null", MAPS, {**config_map("null"), "data": None})
    create("create with a null value", MAPS, config_map("null-2", {"k": None}))
    create("create with a number", MAPS, config_map("number", {"k": 1}))
    create("create with a list as data", MAPS, config_map("list", ["k"]))
    create("create with unknown fields", MAPS, {**config_map("unknown", {"k": "v"}), "dataa": {"k": "v"}})
    create("create strictly with unknown fields", MAPS + "?fieldValidation=Strict",
           {**config_map("strict", {"k": "v"}), "dataa": {"k": "v"}, "metadata": {"name": "strict", "nope": 1}})
    create("create strictly with a field twice", MAPS + "?fieldValidation=Strict", '{"metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}')
    create("create with validation that is none", MAPS + "?fieldValidation=Sure", config_map("sure"))
    create("create as a dry run", MAPS + "?dryRun=All", config_map("dry"))
    create("create as a dry run that is none", MAPS + "?dryRun=Some", config_map("dry"))
    get("get what was dry", MAPS + "/dry")
    create("create with a generated name", MAPS, {"metadata": {"generateName": "gen-"}})
    create("create with a bad generated name", MAPS, {"metadata": {"generateName": "Gen_"}})
    create("create without a name", MAPS, {"apiVersion": "v1", "kind": "ConfigMap"})
    for name in ("A_b", "a b", "-a", "a/b", "x" * 254, ".", "..", "a%b"):
        create(f"create named {name[:10]!r}", MAPS, config_map(name))
    create("create elsewhere", MAPS, config_map("q", namespace="other"))
    create("create another kind", MAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "q"}})
    create("create another version", MAPS, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "q"}})
    create("create another group", MAPS, {"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "q"}})
    create("create a kind that is not known", MAPS, {"apiVersion": "v1", "kind": "Nope", "metadata": {"name": "q"}})
    create("create in no namespace", "/api/v1/configmaps", config_map("q"))
    create("create in a namespace that is not there", "/api/v1/namespaces/missing/configmaps", config_map("q"))
    create("create with a version", MAPS, config_map("q", resourceVersion="1"))
    create("create with a uid", MAPS, config_map("with-uid", uid="00000000-0000-0000-0000-000000000000"))
    create("create with times", MAPS, config_map("times", creationTimestamp="2001-01-01T00:00:00Z", generation=7))
    create("create with a bad time", MAPS, config_map("times-2", creationTimestamp="yesterday"))
    create("create with a deletion time", MAPS, config_map("times-3", deletionTimestamp="2001-01-01T00:00:00Z"))
    create("create on a name", MAPS + "/a", config_map("a"))
    create("create nothing", MAPS, "")
    create("create text", MAPS, "hello")
    create("create broken JSON", MAPS, '{"metadata":')
    create("create a list", MAPS, "[]")
    create("create a string", MAPS, '"x"')
    create("create null", MAPS, "null")
    create("create with YAML", MAPS, "metadata:\n  name: yaml\ndata:\n  k: v\n", type="application/yaml")
    create("create with broken YAML", MAPS, "metadata: {name: [", type="application/yaml")
    create("create with a media type that is none", MAPS, "x", type="text/plain")
    create("create with XML", MAPS, "<x/>", type="application/xml")
    create("create immutable", MAPS, {**config_map("immutable", {"k": "v"}), "immutable": True})


def bad_metadata():
    for name, metadata in {
            "a label key": {"labels": {"a b": "c"}}, "a label value": {"labels": {"a": "b c"}}, "a long label": {"labels": {"a": "b" * 64}},
            "a label prefix": {"labels": {"A_/b": "c"}}, "an annotation key": {"annotations": {"-x": "y"}},
            "a label that is a number": {"labels": {"a": 1}}, "labels that are a list": {"labels": ["a"]},
            "a finalizer": {"finalizers": ["not qualified"]}, "a plain finalizer": {"finalizers": ["plain"]},
            "an owner without a kind": {"ownerReferences": [{"apiVersion": "v1", "name": "x", "uid": "1"}]},
            "an owner without a uid": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}]},
            "an owner that is an Event": {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "x", "uid": "1"}]},
            "two controllers": {"ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": n, "uid": n, "controller": True} for n in "ab"]},
            "managed fields": {"managedFields": [{"manager": "x", "operation": "Nope", "apiVersion": "v1", "fieldsType": "FieldsV1"}]},
            "a negative generation": {"generation": -1}, "a null label": {"labels": {"a": None}}}.items():
        create(f"bad metadata: {name}", MAPS, config_map("bad-metadata-" + name.replace(" ", "-").lower(), **metadata))


KINDS = {
    "Secret": (SECRETS, {"stringData": {"p": "secret"}}),
    "ServiceAccount": (f"/api/v1/namespaces/{NS}/serviceaccounts", {}),
    "Service": (SERVICES, {"spec": {"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]}}),
    "Endpoints": (f"/api/v1/namespaces/{NS}/endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}),
    "LimitRange": (f"/api/v1/namespaces/{NS}/limitranges", {"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Ti"}}]}}),
    "ResourceQuota": (f"/api/v1/namespaces/{NS}/resourcequotas", {"spec": {"hard": {"count/widgets.example.com": "3"}}}),
    "PersistentVolume": ("/api/v1/persistentvolumes", {"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/tmp/x"}}}),
    "PodTemplate": (f"/api/v1/namespaces/{NS}/podtemplates", {"template": {"metadata": {"labels": {"a": "b"}}, "spec": pod_spec()}}),
    "Node": ("/api/v1/nodes", {"spec": {"podCIDR": "10.1.0.0/24"}}),
    "Deployment": (DEPLOYMENTS, None), "StatefulSet": (f"/apis/apps/v1/namespaces/{NS}/statefulsets", None),
    "DaemonSet": (f"/apis/apps/v1/namespaces/{NS}/daemonsets", None), "ReplicaSet": (f"/apis/apps/v1/namespaces/{NS}/replicasets", None),
    "Job": (f"/apis/batch/v1/namespaces/{NS}/jobs", {"spec": {"suspend": True, "manualSelector": True, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {**pod_spec(), "restartPolicy": "Never"}}}}),
    "CronJob": (f"/apis/batch/v1/namespaces/{NS}/cronjobs", {"spec": {"schedule": "*/5 * * * *", "jobTemplate": {
        "spec": {"template": {"spec": {**pod_spec(), "restartPolicy": "OnFailure"}}}}}}),
    "Ingress": (f"/apis/networking.k8s.io/v1/namespaces/{NS}/ingresses", {"spec": {
        "defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}),
    "IngressClass": ("/apis/networking.k8s.io/v1/ingressclasses", {"spec": {"controller": "example.com/c"}}),
    "NetworkPolicy": (f"/apis/networking.k8s.io/v1/namespaces/{NS}/networkpolicies", {"spec": {
        "podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}}),
    "PodDisruptionBudget": (f"/apis/policy/v1/namespaces/{NS}/poddisruptionbudgets", {"spec": {
        "minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}),
    "HorizontalPodAutoscaler": (f"/apis/autoscaling/v2/namespaces/{NS}/horizontalpodautoscalers", {"spec": {
        "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}}}),
    "Role": (f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NS}/roles", {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
    "RoleBinding": (f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NS}/rolebindings", {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x"}, "subjects": [{"kind": "User", "name": "u"}]}),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"},
        "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": NS}]}),
    "Lease": (f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases", {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 7}),
    "StorageClass": ("/apis/storage.k8s.io/v1/storageclasses", {"provisioner": "example.com/p"}),
    "EndpointSlice": (f"/apis/discovery.k8s.io/v1/namespaces/{NS}/endpointslices", {
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80, "name": "x"}]}),
}
API_VERSIONS = {"Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "ReplicaSet": "apps/v1"}


def of_kind(kind, name, **more):
    path, fields = KINDS[kind]
    group = "v1" if path.startswith("/api/") else "/".join(path.split("/")[2:4])
    if fields is None:
        body = workload(kind, name, spec={"serviceName": "s"} if kind == "StatefulSet" else None)
    else:
        body = {"apiVersion": group, "kind": kind, "metadata": {"name": name}, **fields}
    return {**body, **more}


def kinds():
    """Every kind: made, read, changed in each way, listed, deleted."""
    for kind, (path, _) in KINDS.items():
        name = "diff-" + kind.lower()
        create(f"{kind}: create", path, of_kind(kind, name))
        get(f"{kind}: get", f"{path}/{name}")
        patch(f"{kind}: apply", f"{path}/{name}?fieldManager=me", APPLY, {**of_kind(kind, name), "metadata": {"name": name, "labels": {"l": "1"}}})
        patch(f"{kind}: strategic patch", f"{path}/{name}", STRATEGIC, {"metadata": {"annotations": {"n": "2"}}})
        row(f"{kind}: update with an unknown field", "PUT", f"{path}/{name}?fieldValidation=Strict", of_kind(kind, name, nope=1))
        get(f"{kind}: table", f"{path}/{name}", accept=TABLE)
        create(f"{kind}: create with a wrong spec", path, of_kind(kind, name + "-2", spec="x", rules="x", subjects="x", value="x", provisioner=1,
                                                                  template=1, subsets=1, addressType=1, type=1, secrets=1))
        row(f"{kind}: delete", "DELETE", f"{path}/{name}")
        row(f"{kind}: update what is not there", "PUT", f"{path}/{name}-3", of_kind(kind, name + "-3"))


INVALID = {
    "Deployment": {
        "replicas": {"replicas": -1}, "selector": {"selector": {"matchLabels": {"app": "other"}}}, "no selector": {"selector": None},
        "strategy": {"strategy": {"type": "Nope"}}, "recreate with rolling": {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
        "surge": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}}, "percent": {"strategy": {"rollingUpdate": {"maxSurge": "x%"}}},
        "no template": {"template": None}, "deadline": {"progressDeadlineSeconds": 1, "minReadySeconds": 5},
        "selector operator": {"selector": {"matchExpressions": [{"key": "a", "operator": "Nope"}]}}, "history": {"revisionHistoryLimit": -1}},
    "StatefulSet": {"update": {"updateStrategy": {"type": "Nope"}}, "policy": {"podManagementPolicy": "Nope"}, "ordinals": {"ordinals": {"start": -1}}},
    "DaemonSet": {"update": {"updateStrategy": {"type": "Nope"}}},
    "Service": {"port": {"ports": [{"port": 0}]}, "two ports": {"ports": [{"port": 80}, {"port": 81}]}, "type": {"type": "Nope"},
                "external name": {"type": "ExternalName", "externalName": "", "clusterIP": None}, "affinity": {"sessionAffinity": "Nope"},
                "protocol": {"ports": [{"port": 80, "protocol": "HTTP"}]}, "target": {"ports": [{"port": 80, "targetPort": "Bad_Name"}]},
                "ip": {"externalIPs": ["1.2.3"]}, "selector": {"selector": {"a": "b c"}}},
    "Job": {"parallelism": {"parallelism": -1}, "mode": {"completionMode": "Nope"}, "limit": {"backoffLimit": -2}},
    "CronJob": {"schedule": {"schedule": "every day"}, "zone": {"timeZone": "Mars/Base"}, "policy": {"concurrencyPolicy": "Nope"},
                "no schedule": {"schedule": ""}},
    "Ingress": {"nothing": {"defaultBackend": None}, "path": {"rules": [{"host": "a", "http": {"paths": [{
        "path": "x", "pathType": "Exact", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]},
        "host": {"rules": [{"host": "A b"}]}},
    "NetworkPolicy": {"type": {"policyTypes": ["Nope"]}, "port": {"ingress": [{"ports": [{"port": 70000}]}]},
                      "cidr": {"egress": [{"to": [{"ipBlock": {"cidr": "x"}}]}]}},
    "PodDisruptionBudget": {"both": {"minAvailable": 1, "maxUnavailable": 1}, "percent": {"minAvailable": "101%"}},
    "HorizontalPodAutoscaler": {"max": {"maxReplicas": 0}, "min": {"minReplicas": 5, "maxReplicas": 2}, "metric": {"metrics": [{"type": "Nope"}]},
                                "target": {"scaleTargetRef": {"kind": "", "name": ""}}},
    "Lease": {"duration": {"leaseDurationSeconds": -1}, "transitions": {"leaseTransitions": -1}},
    "PersistentVolume": {"nothing": {"hostPath": None}, "modes": {"accessModes": []}, "capacity": {"capacity": None},
                         "quantity": {"capacity": {"storage": "much"}}},
    "LimitRange": {"twice": {"limits": [{"type": "Pod"}, {"type": "Pod"}]}},
    "ResourceQuota": {"quantity": {"hard": {"pods": "-1"}}, "scope": {"scopes": ["Nope"]}},
}
CONTAINERS = {
    "name": {"name": "Main_1"}, "no image": {"image": ""}, "port": {"ports": [{"containerPort": 0}]}, "pull policy": {"imagePullPolicy": "Nope"},
    "port twice": {"ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]},
    "environment": {"env": [{"name": ""}]}, "request over limit": {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
    "resource": {"resources": {"limits": {"cpu": "-1"}}}, "mount": {"volumeMounts": [{"name": "nope", "mountPath": "/x"}]},
    "probe": {"livenessProbe": {}}, "two handlers": {"livenessProbe": {"exec": {"command": ["x"]}, "tcpSocket": {"port": 1}}},
    "secret key": {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "", "key": ""}}}]}}


def invalid():
    for kind, cases in INVALID.items():
        path, _ = KINDS[kind]
        for name, change in cases.items():
            body = of_kind(kind, "invalid")
            body["spec"] = {key: value for key, value in {**body["spec"], **change}.items() if value is not None}
            create(f"{kind} with wrong {name}", path, body)
    for name, change in CONTAINERS.items():
        create(f"container with wrong {name}", DEPLOYMENTS, deployment("invalid", template=pod_spec(**change)))
    create("template with no containers", DEPLOYMENTS, deployment("invalid", template={"containers": []}))
    create("template with a restart policy", DEPLOYMENTS, deployment("invalid", template={**pod_spec(), "restartPolicy": "Never"}))
    create("two containers of a name", DEPLOYMENTS, deployment("invalid", template={"containers": pod_spec()["containers"] * 2}))
    create("secret of a type", SECRETS, {"metadata": {"name": "typed"}, "type": "kubernetes.io/dockerconfigjson", "data": {}})
    create("tls secret", SECRETS, {"metadata": {"name": "typed"}, "type": "kubernetes.io/tls", "data": {"tls.crt": ""}})
    create("secret with bad base64", SECRETS, {"metadata": {"name": "bad"}, "data": {"a": "***"}})
    roles = KINDS["Role"][0]
    create("role without verbs", roles, {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"]}]})
    create("role with a path", roles, {"metadata": {"name": "r"}, "rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]})
    bindings = KINDS["RoleBinding"][0]
    create("binding of nothing", bindings, {"metadata": {"name": "r"}})
    create("binding of a kind", bindings, {"metadata": {"name": "r"}, "roleRef": {"apiGroup": "x", "kind": "Nope", "name": ""},
                                           "subjects": [{"kind": "Nope", "name": ""}]})


def reads():
    create("read: deployment", DEPLOYMENTS, deployment("web", spec={"replicas": 2}))
    get("get", MAPS + "/a")
    get("get missing", MAPS + "/missing")
    get("get from a cache", MAPS + "/a?resourceVersion=0")
    get("get at a bad version", MAPS + "/a?resourceVersion=x")
    get("get pretty", MAPS + "/a?pretty=1")
    get("get as YAML", MAPS + "/a", accept="application/yaml")
    get("get as something else", MAPS + "/a", accept="text/html")
    get("get metadata only", MAPS + "/a", accept=PARTIAL)
    get("get a table", MAPS + "/a", accept=TABLE)
    get("get a table with objects", MAPS + "/a?includeObject=Object", accept=TABLE)
    get("get a table without objects", MAPS + "/a?includeObject=None", accept=TABLE)
    get("get a table with nonsense", MAPS + "/a?includeObject=Nonsense", accept=TABLE)
    for what, path in {"a path": "/nope", "a group": "/apis/nope.example.com/v1/nopes", "a version": "/apis/apps/v9/deployments",
                       "a resource": f"/api/v1/namespaces/{NS}/nopes", "a subresource": MAPS + "/a/nope", "a deep path": MAPS + "/a/b/c",
                       "a group's root": "/apis/nope.example.com", "a root": "/api/v9"}.items():
        get(f"get {what} that is not served", path)
    row("post where nothing is", "POST", "/nope", {})
    row("put a collection", "PUT", MAPS, config_map("a"))
    row("patch a collection", "PATCH", MAPS, {}, type=MERGE)
    row("delete a subresource", "DELETE", DEPLOYMENTS + "/web/status")
    row("an unknown method", "BREW", MAPS)
    get("get by another scope", f"/api/v1/namespaces/{NS}/nodes")


def lists():
    query = {
        "by name": "fieldSelector=metadata.name%3Da", "by not name": "fieldSelector=metadata.name!%3Da", "by namespace": f"fieldSelector=metadata.namespace%3D{NS}",
        "by two fields": f"fieldSelector=metadata.name%3Da,metadata.namespace%3D{NS}", "by a field that cannot be asked for": "fieldSelector=data.k%3D1",
        "by half a field": "fieldSelector=metadata.name", "by label": "labelSelector=app%3Dx", "by label set": "labelSelector=app%20in%20(x,y),!nope",
        "by label exists": "labelSelector=app", "by not label": "labelSelector=app!%3Dx", "by notin": "labelSelector=app%20notin%20(x)",
        "by more than": "labelSelector=app%20gt%201", "by a bad selector": "labelSelector=a%20in%20b", "by a bad value": "labelSelector=a%3Db%20c",
        "by a bad key": "labelSelector=-a%3Db", "by a half set": "labelSelector=a%20in%20(", "by two equals": "labelSelector=a%3D%3Db%3Dc",
        "limit": "limit=2", "limit zero": "limit=0", "bad limit": "limit=x", "negative limit": "limit=-1",
        "version zero": "resourceVersion=0", "bad version": "resourceVersion=x", "negative version": "resourceVersion=-1",
        "future version": "resourceVersion=99999999999&timeoutSeconds=1", "exact": "resourceVersion={@create:metadata.resourceVersion}&resourceVersionMatch=Exact",
        "not older": "resourceVersion={@create:metadata.resourceVersion}&resourceVersionMatch=NotOlderThan", "match alone": "resourceVersionMatch=Exact",
        "bad match": "resourceVersion=1&resourceVersionMatch=Somehow", "exact zero": "resourceVersion=0&resourceVersionMatch=Exact",
        "bad token": "continue=bogus", "token and version": "continue=bogus&resourceVersion=1", "initial events": "sendInitialEvents=true&timeoutSeconds=1",
        "bad timeout": "timeoutSeconds=x", "bad watch": "watch=perhaps&timeoutSeconds=1", "unknown parameter": "nope=1", "pretty": "pretty=true",
        "bad bookmarks": "allowWatchBookmarks=perhaps", "match with a token": "continue=bogus&resourceVersionMatch=Exact",
        "watch with a bad version": "watch=1&resourceVersion=x&timeoutSeconds=1", "watch with a bad selector": "watch=1&timeoutSeconds=1&labelSelector=a%20in%20b",
        "watch with a match": "watch=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=1",
        "watch initial without match": "watch=1&sendInitialEvents=true&timeoutSeconds=1",
        "watch by a bad field": "watch=1&timeoutSeconds=1&fieldSelector=data.k%3D1"}
    for name, parameters in query.items():
        get(f"list {name}", f"{MAPS}?{parameters}")
    get("list a page", MAPS + "?limit=3")
    get("list the next page", MAPS + "?limit=3&continue={@list a page:metadata.continue}")
    get("list the next page with a version", MAPS + "?limit=3&continue={@list a page:metadata.continue}&resourceVersion=1")
    get("list the next page with another selector", MAPS + "?limit=3&continue={@list a page:metadata.continue}&labelSelector=app%3Dx")
    get("list as a table", MAPS, accept=TABLE)
    get("list metadata only", MAPS, accept=PARTIAL_LIST)
    get("list deployments as a table", DEPLOYMENTS, accept=TABLE)
    get("list everywhere by label", "/api/v1/configmaps?labelSelector=app%3Dx")
    get("list in a missing namespace", "/api/v1/namespaces/missing/configmaps")
    get("list namespaces by name", f"/api/v1/namespaces?fieldSelector=metadata.name%3D{NS}")
    get("list namespaces by phase", f"/api/v1/namespaces?fieldSelector=status.phase%3DActive,metadata.name%3D{NS}")
    get("list secrets by type", SECRETS + "?fieldSelector=type%3DOpaque")
    get("list services by type", SERVICES + "?fieldSelector=spec.type%3DClusterIP")
    get("list deployments by a field", DEPLOYMENTS + "?fieldSelector=spec.replicas%3D2")


def updates():
    row("update", "PUT", MAPS + "/a", config_map("a", {"k": "2"}, labels={"app": "x"}, resourceVersion="@create:metadata.resourceVersion"))
    row("update what changed", "PUT", MAPS + "/a", config_map("a", {"k": "3"}, resourceVersion="@create:metadata.resourceVersion"))
    row("update without a version", "PUT", MAPS + "/a", config_map("a", {"k": "4"}, labels={"app": "x"}))
    row("update to the same", "PUT", MAPS + "/a", config_map("a", {"k": "4"}, labels={"app": "x"}))
    row("update another uid", "PUT", MAPS + "/a", config_map("a", {"k": "5"}, uid="00000000-0000-0000-0000-000000000000"))
    row("update under another name", "PUT", MAPS + "/b", config_map("a"))
    row("update in another namespace", "PUT", MAPS + "/a", config_map("a", namespace="other"))
    row("update what is not there", "PUT", MAPS + "/missing", config_map("missing"))
    row("update without a name", "PUT", MAPS + "/a", {"apiVersion": "v1", "kind": "ConfigMap"})
    row("update with a bad version", "PUT", MAPS + "/a", config_map("a", resourceVersion="x"))
    row("update as a dry run", "PUT", MAPS + "/a?dryRun=All", config_map("a", {"k": "dry"}))
    row("update broken", "PUT", MAPS + "/a", "{")
    row("update immutable", "PUT", MAPS + "/immutable", {**config_map("immutable", {"k": "w"}), "immutable": True})
    row("update not immutable", "PUT", MAPS + "/immutable", {**config_map("immutable", {"k": "v"}), "immutable": False})
    row("update by a manager", "PUT", MAPS + "/a?fieldManager=other", config_map("a", {"k": "6"}, labels={"app": "x"}))
    row("update a selector", "PUT", DEPLOYMENTS + "/web", {**deployment("web"), "spec": {**deployment("web")["spec"], "selector": {"matchLabels": {"app": "z"}}}})
    row("update a service's IP", "PUT", SERVICES + "/missing", of_kind("Service", "missing"))
    row("clear managed fields", "PUT", MAPS + "/managed", config_map("managed", {"k": "w"}, managedFields=[{}]))
    row("update an annotation", "PUT", MAPS + "/managed", config_map("managed", {"k": "w"}, annotations={"a": "b"}))


def patches():
    a = MAPS + "/a"
    for name, body in {
            "add": [{"op": "add", "path": "/data/j", "value": "1"}], "test": [{"op": "test", "path": "/data/j", "value": "1"}],
            "failed test": [{"op": "test", "path": "/data/j", "value": "2"}], "replace": [{"op": "replace", "path": "/data/j", "value": "3"}],
            "copy": [{"op": "copy", "from": "/data/j", "path": "/data/c"}], "move": [{"op": "move", "from": "/data/c", "path": "/data/m"}],
            "remove": [{"op": "remove", "path": "/data/m"}], "missing remove": [{"op": "remove", "path": "/data/zzz"}],
            "missing parent": [{"op": "add", "path": "/nope/x", "value": "1"}],
            "unknown op": [{"op": "explode", "path": "/data/j"}], "no path": [{"op": "add", "value": "1"}], "an object": {"op": "remove"},
            "bad pointer": [{"op": "add", "path": "data", "value": "1"}], "wrong type": [{"op": "add", "path": "/data", "value": 7}],
            "a new name": [{"op": "replace", "path": "/metadata/name", "value": "z"}], "nothing": [], "unknown field": [{"op": "add", "path": "/nope", "value": 1}],
            "null value": [{"op": "add", "path": "/data/n", "value": None}], "all": [{"op": "replace", "path": "", "value": {}}]}.items():
        patch(f"JSON patch: {name}", a, JSON_PATCH, body)
    for name, body in {
            "set": {"data": {"m": "one"}}, "remove": {"data": {"m": None}}, "same": {"data": {"k": "6"}}, "wrong type": {"data": [1]},
            "number": {"data": {"k": 1}}, "name": {"metadata": {"name": "z"}}, "namespace": {"metadata": {"namespace": "z"}},
            "version": {"metadata": {"resourceVersion": "1"}, "data": {"m": "two"}}, "uid": {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}},
            "kind": {"kind": "Secret"}, "api version": {"apiVersion": "v2"}, "unknown": {"nope": {"a": 1}}, "list": [1], "text": "nope", "label": {"metadata": {"labels": {"a b": "c"}}},
            "null": "null", "creation": {"metadata": {"creationTimestamp": None}}, "deletion": {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}}}.items():
        patch(f"merge patch: {name}", a, MERGE, body)
    patch("JSON patch: missing replace", a + "?dryRun=All", JSON_PATCH, [{"op": "replace", "path": "/data/zzz", "value": "1"}])
    patch("merge patch strictly", a + "?fieldValidation=Strict", MERGE, {"nope": 1})
    patch("merge patch as a dry run", a + "?dryRun=All", MERGE, {"data": {"f": "f"}})
    patch("merge patch of what is not there", MAPS + "/missing", MERGE, {"data": {"f": "f"}})
    patch("merge patch with force", a + "?force=true", MERGE, {"data": {"f": "f"}})
    patch("patch of a type that is none", a, "application/json", {"data": {"f": "f"}})
    patch("patch of a type unheard of", a, "application/x-patch", {"data": {"f": "f"}})
    patch("patch of no type", a, "", {"data": {"f": "f"}})
    web = DEPLOYMENTS + "/web"
    container = {"spec": {"template": {"spec": {"containers": None}}}}

    def containers(value, **more):
        return {"spec": {"template": {"spec": {**container["spec"]["template"]["spec"], "containers": value, **more}}}}
    for name, body in {
            "environment": containers([{"name": "main", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}]),
            "second container": containers([{"name": "side", "image": "side:1"}]), "delete a container": containers([{"name": "side", "$patch": "delete"}]),
            "replace a list": containers([{"name": "main", "env": [{"$patch": "replace"}, {"name": "C", "value": "3"}]}]),
            "order": containers([{"name": "z", "image": "z"}], **{"$setElementOrder/containers": [{"name": "z"}, {"name": "main"}]}),
            "no merge key": containers([{"image": "x"}]), "bad directive": containers([{"name": "main", "$patch": "explode"}]),
            "wrong type": containers({"name": "main"}), "negative": {"spec": {"replicas": -5}}, "text": {"spec": {"replicas": "many"}},
            "unknown": {"spec": {"nope": 1}}, "selector": {"spec": {"selector": {"matchLabels": {"app": "z"}}}}, "null spec": {"spec": None},
            "list": [1], "finalizers": {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}},
            "delete one": {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}, "retain": {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
            "no finalizers": {"metadata": {"finalizers": None}}}.items():
        patch(f"strategic patch: {name}", web, STRATEGIC, body)


def applies():
    one = MAPS + "/applied?fieldManager=one"
    two = MAPS + "/applied?fieldManager=two"
    patch("apply: create", one, APPLY, config_map("applied", {"k": "1", "l": "1"}))
    patch("apply: again", one, APPLY, config_map("applied", {"k": "1", "l": "1"}))
    patch("apply: less", one, APPLY, config_map("applied", {"k": "1"}))
    patch("apply: conflict", two, APPLY, config_map("applied", {"k": "2"}))
    patch("apply: two conflicts", two, APPLY, config_map("applied", {"k": "2", "z": "1"}, labels={"a": "b"}))
    patch("apply: shared", two, APPLY, config_map("applied", {"k": "1"}))
    patch("apply: change shared", two, APPLY, config_map("applied", {"k": "3"}))
    patch("apply: force", two + "&force=true", APPLY, config_map("applied", {"k": "3"}))
    patch("apply: give up", two, APPLY, config_map("applied"))
    patch("apply: no manager", MAPS + "/applied", APPLY, config_map("applied", {"k": "1"}))
    patch("apply: another name", one, APPLY, config_map("other", {"k": "1"}))
    patch("apply: no name", one, APPLY, {"apiVersion": "v1", "kind": "ConfigMap"})
    patch("apply: no kind", one, APPLY, {"apiVersion": "v1", "metadata": {"name": "applied"}})
    patch("apply: no version", one, APPLY, {"kind": "ConfigMap", "metadata": {"name": "applied"}})
    patch("apply: another kind", one, APPLY, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "applied"}})
    patch("apply: managed fields", one, APPLY, config_map("applied", managedFields=[{"manager": "x", "operation": "Apply", "apiVersion": "v1"}]))
    patch("apply: wrong version", one, APPLY, config_map("applied", resourceVersion="1"))
    patch("apply: uid for a new one", MAPS + "/applied-3?fieldManager=one", APPLY, config_map("applied-3", uid="00000000-0000-0000-0000-000000000000"))
    patch("apply: wrong type", one, APPLY, config_map("applied", {"k": 1}))
    patch("apply: unknown field", one, APPLY, {**config_map("applied", {"k": "5"}), "nope": 1})
    patch("apply: unknown field strictly", one + "&fieldValidation=Strict", APPLY, {**config_map("applied", {"k": "5"}), "nope": 1})
    patch("apply: broken", one, APPLY, "{a: [")
    patch("apply: list", one, APPLY, "[]")
    patch("apply: YAML", one, APPLY, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {d: z}\n")
    patch("apply: key twice", one, APPLY, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {d: z, d: z}\n")
    patch("apply: deployment", DEPLOYMENTS + "/applied?fieldManager=one", APPLY, deployment("applied", spec={"replicas": 1}))
    patch("apply: container twice", DEPLOYMENTS + "/applied?fieldManager=one", APPLY,
          deployment("applied", template={"containers": pod_spec()["containers"] * 2}))
    patch("apply: scale conflict", DEPLOYMENTS + "/applied?fieldManager=two", APPLY, deployment("applied", spec={"replicas": 5}))
    patch("apply: status", DEPLOYMENTS + "/applied/status?fieldManager=three", APPLY,
          {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "applied"}, "status": {"replicas": 1}})
    row("apply: update takes a field", "PUT", MAPS + "/applied?fieldManager=upd", config_map("applied", {"d": "changed"}))
    patch("apply: conflict with an update", one, APPLY, config_map("applied", {"d": "mine"}))


def subresources():
    web = DEPLOYMENTS + "/web"
    get("scale", web + "/scale")
    row("update scale", "PUT", web + "/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web", "namespace": NS}, "spec": {"replicas": 3}})
    row("update scale below zero", "PUT", web + "/scale", {"metadata": {"name": "web", "namespace": NS}, "spec": {"replicas": -3}})
    row("update scale with another kind", "PUT", web + "/scale", deployment("web"))
    row("update scale with a wrong version", "PUT", web + "/scale", {"metadata": {"name": "web", "namespace": NS, "resourceVersion": "1"}, "spec": {"replicas": 1}})
    patch("patch scale", web + "/scale", MERGE, {"spec": {"replicas": 4}})
    patch("patch scale with text", web + "/scale", MERGE, {"spec": {"replicas": "x"}})
    patch("strategic patch of scale", web + "/scale", STRATEGIC, {"spec": {"replicas": 2}})
    get("scale of nothing", DEPLOYMENTS + "/missing/scale")
    get("scale of what has none", MAPS + "/a/scale")
    get("status", web + "/status")
    patch("patch status", web + "/status", MERGE, {"status": {"observedGeneration": 2, "replicas": 1}, "spec": {"replicas": 9}})
    patch("patch status wrongly", web + "/status?dryRun=All", MERGE, {"status": {"replicas": -1, "availableReplicas": 5}})
    patch("patch a condition", web + "/status", STRATEGIC, {"status": {"conditions": [
        {"type": "Available", "status": "True", "lastUpdateTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
    row("update status of nothing", "PUT", DEPLOYMENTS + "/missing/status", deployment("missing"))
    create("post a status", web + "/status", {})
    row("status in a plain update", "PUT", web, {**deployment("web"), "status": {"replicas": 77}})
    account = f"/api/v1/namespaces/{NS}/serviceaccounts"
    create("token of nobody", account + "/missing/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    create("review: access", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
           {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}})
    create("review: both", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
           {"spec": {"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"verb": "get"}}})
    create("review: neither", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {}})
    create("review: of somebody", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
           {"spec": {"user": "ann", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": NS}}})
    create("review: of nobody", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "get"}}})
    create("review: token", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "nope"}})


def crd(name="widgets.differential.example.com", schema=None, versions=None, **spec):
    schema = schema if schema is not None else {
        "type": "object", "required": ["spec"], "properties": {
            "spec": {"type": "object", "required": ["size"], "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 10}, "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5}, "ratio": {"type": "number", "multipleOf": 0.5},
                "tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "when": {"type": "string", "format": "date-time"}, "port": {"x-kubernetes-int-or-string": True},
                "rows": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
                         "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "v": {"type": "integer"}}}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, "maybe": {"type": "string", "nullable": True},
                "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
                "map": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}}}},
            "status": {"type": "object", "properties": {"ready": {"type": "integer"}, "replicas": {"type": "integer"}}}}}
    group = name.split(".", 1)[1] if "." in name else ""
    versions = versions if versions is not None else [{
        "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"}},
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]}]
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
                     "versions": versions, **spec}}


def version(name="v1", storage=True, schema=None, **more):
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema or {"type": "object"}}, **more}


def bad_crds():
    bad = {
        "name": crd("other.differential.example.com", group="x.example.com"), "scope": crd(scope="Everywhere"), "no versions": crd(versions=[]),
        "two stored": crd(versions=[version(), version("v2")]), "none stored": crd(versions=[version(storage=False)]), "same twice": crd(versions=[version(), version(storage=False)]),
        "version name": crd(versions=[version("V_1")]), "no schema": crd(versions=[{"name": "v1", "served": True, "storage": True}]),
        "untyped": crd(schema={"type": "object", "properties": {"a": {}}}), "string root": crd(schema={"type": "string"}), "unknown type": crd(schema={"type": "object", "properties": {"a": {"type": "nope"}}}),
        "array without items": crd(schema={"type": "object", "properties": {"a": {"type": "array"}}}),
        "bad default": crd(schema={"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}),
        "unique items": crd(schema={"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}}}),
        "map without keys": crd(schema={"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}}}}),
        "pattern": crd(schema={"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
        "additional false": crd("widgets.additional.example.com", schema={"type": "object", "properties": {"a": {"type": "object", "additionalProperties": False}}}),
        "properties and additional": crd(schema={"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": {"type": "string"}}}}),
        "column type": crd(versions=[version(additionalPrinterColumns=[{"name": "x", "type": "nope", "jsonPath": ".a"}])]),
        "column path": crd(versions=[version(additionalPrinterColumns=[{"name": "x", "type": "string", "jsonPath": "a["}])]),
        "scale path": crd(versions=[version(subresources={"scale": {"specReplicasPath": "x", "statusReplicasPath": ".status.r"}})]),
        "preserve": crd(preserveUnknownFields=True), "kind name": crd(names={"plural": "widgets", "kind": "wid get"}), "empty": {"metadata": {"name": "widgets.differential.example.com"}, "spec": {}}}
    for name, body in bad.items():
        create(f"bad CRD: {name}", CRDS, body)


def custom():
    create("CRD", CRDS, crd())
    ROWS[-1]["wait"] = WIDGETS

    def widget(name, spec=None, **more):
        return {"apiVersion": "differential.example.com/v1", "kind": "Widget", "metadata": {"name": name}, **({} if spec is None else {"spec": spec}), **more}
    create("widget", WIDGETS, widget("w", {"size": 3}, status={"ready": 1}))
    get("widget: get", WIDGETS + "/w")
    for name, spec in {
            "no spec": None, "no size": {}, "small": {"size": 0}, "large": {"size": 11}, "text size": {"size": "3"}, "fraction": {"size": 1.5}, "color": {"size": 1, "color": "green"},
            "name": {"size": 1, "name": "Abc"}, "long name": {"size": 1, "name": "abcdef"}, "ratio": {"size": 1, "ratio": 0.3}, "tags": {"size": 1, "tags": ["a", "b", "c"]},
            "same tags": {"size": 1, "tags": ["a", "a"]}, "number tag": {"size": 1, "tags": [1]}, "time": {"size": 1, "when": "noon"}, "port": {"size": 1, "port": []},
            "good port": {"size": 1, "port": "http"}, "rows": {"size": 1, "rows": [{"id": "a"}, {"id": "a"}]}, "row without id": {"size": 1, "rows": [{"v": 1}]},
            "null size": {"size": None}, "null color": {"size": 1, "color": None}, "null maybe": {"size": 1, "maybe": None}, "free": {"size": 1, "free": {"a": [1, {"b": None}]}},
            "pruned": {"size": 1, "nope": {"a": 1}}, "one of none": {"size": 1, "one": {}}, "one of both": {"size": 1, "one": {"a": "", "b": ""}},
            "map": {"size": 1, "map": {"a": 1, "b": 2}}, "map of text": {"size": 1, "map": {"a": "x"}}, "list spec": [1], "many": {"size": 0, "color": "x", "name": "1", "tags": "x"}}.items():
        create(f"widget: {name}", WIDGETS, widget("w-" + name.replace(" ", "-"), spec))
    create("widget: strictly pruned", WIDGETS + "?fieldValidation=Strict", widget("w-strict", {"size": 1, "nope": 1}))
    create("widget: no kind", WIDGETS, {"metadata": {"name": "w2"}, "spec": {"size": 1}})
    create("widget: another kind", WIDGETS, {**widget("w2", {"size": 1}), "kind": "Gadget"})
    create("widget: another version", WIDGETS, {**widget("w2", {"size": 1}), "apiVersion": "differential.example.com/v2"})
    patch("widget: merge patch", WIDGETS + "/w", MERGE, {"spec": {"size": 5}})
    patch("widget: merge patch wrongly", WIDGETS + "/w", MERGE, {"spec": {"size": 50}})
    patch("widget: JSON patch", WIDGETS + "/w", JSON_PATCH, [{"op": "add", "path": "/spec/tags", "value": ["x"]}])
    patch("widget: strategic patch", WIDGETS + "/w", STRATEGIC, {"spec": {"size": 6}})
    patch("widget: apply", WIDGETS + "/w?fieldManager=a", APPLY, widget("w", {"rows": [{"id": "a", "v": 1}], "size": 5}))
    patch("widget: apply conflict", WIDGETS + "/w?fieldManager=b", APPLY, widget("w", {"rows": [{"id": "a", "v": 2}], "size": 5}))
    patch("widget: apply wrongly", WIDGETS + "/w?fieldManager=a", APPLY, widget("w", {"size": "x"}))
    row("widget: update without a version", "PUT", WIDGETS + "/w", widget("w", {"size": 4}))
    row("widget: update", "PUT", WIDGETS + "/w", {**widget("w", {"size": 4}), "metadata": {"name": "w", "resourceVersion": "@widget: apply:metadata.resourceVersion"}})
    patch("widget: status", WIDGETS + "/w/status", MERGE, {"status": {"ready": 2, "replicas": 1}, "spec": {"size": 9}})
    patch("widget: wrong status", WIDGETS + "/w/status", MERGE, {"status": {"ready": "x"}})
    get("widget: scale", WIDGETS + "/w/scale")
    patch("widget: patch scale", WIDGETS + "/w/scale", MERGE, {"spec": {"replicas": 2}})
    get("widget: table", WIDGETS + "/w", accept=TABLE)
    get("widget: list table", WIDGETS + "?fieldSelector=metadata.name%3Dw", accept=TABLE)
    get("widget: list", WIDGETS + "?limit=1")
    get("widget: list by a field", WIDGETS + "?fieldSelector=spec.size%3D2")
    get("widget: missing", WIDGETS + "/missing")
    get("widget: no version", "/apis/differential.example.com/v9/widgets")
    get("widget: discovery", "/apis/differential.example.com/v1")
    get("widget: group", "/apis/differential.example.com")
    create("CRD again", CRDS, crd())
    patch("CRD: new kind", f"{CRDS}/widgets.differential.example.com", MERGE, {"spec": {"scope": "Cluster"}})
    patch("CRD: a plain finalizer", f"{CRDS}/widgets.differential.example.com?dryRun=All", MERGE, {"metadata": {"finalizers": ["plain.example.com"]}})
    row("widget: delete", "DELETE", WIDGETS + "/w")
    row("widget: delete all", "DELETE", WIDGETS + "?fieldSelector=metadata.name%3Dw-port")


def deletes():
    row("delete another uid", "DELETE", MAPS + "/a", {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})
    row("delete another version", "DELETE", MAPS + "/a", {"preconditions": {"resourceVersion": "1"}})
    row("delete as a dry run", "DELETE", MAPS + "/a?dryRun=All")
    row("delete as a dry run in the body", "DELETE", MAPS + "/a", {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]})
    row("delete with both policies", "DELETE", MAPS + "/a", {"orphanDependents": True, "propagationPolicy": "Orphan"})
    row("delete with a policy that is none", "DELETE", MAPS + "/a", {"propagationPolicy": "Nope"})
    row("delete with a policy that is none in the query", "DELETE", MAPS + "/a?propagationPolicy=Nope")
    row("delete with a negative grace", "DELETE", MAPS + "/a?dryRun=All&gracePeriodSeconds=-1")
    row("delete with a bad grace", "DELETE", MAPS + "/a?gracePeriodSeconds=x")
    row("delete with a broken body", "DELETE", MAPS + "/a", "{")
    row("delete with another body", "DELETE", MAPS + "/a", config_map("a"))
    row("delete with an unknown option", "DELETE", MAPS + "/a", {"nope": 1, "dryRun": ["All"]})
    row("delete its uid", "DELETE", MAPS + "/a", {"preconditions": {"uid": "@create:metadata.uid"}})
    row("delete what is gone", "DELETE", MAPS + "/a")
    create("held", MAPS, config_map("held", finalizers=["example.com/hold"]))
    row("delete what is held", "DELETE", MAPS + "/held")
    row("delete what is held again", "DELETE", MAPS + "/held")
    patch("add a finalizer to what is going", MAPS + "/held", MERGE, {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})
    patch("change what is going", MAPS + "/held", MERGE, {"data": {"k": "v"}})
    create("create what is going", MAPS, config_map("held"))
    patch("let it go", MAPS + "/held", MERGE, {"metadata": {"finalizers": None}})
    create("orphan: create", MAPS, config_map("orphan"))
    row("delete and orphan", "DELETE", MAPS + "/orphan?propagationPolicy=Orphan&dryRun=All")
    row("delete with a query beside a body", "DELETE", MAPS + "/orphan?dryRun=All", {"propagationPolicy": "Background"})
    get("get what was deleted in spite of its query", MAPS + "/orphan")
    row("delete in the foreground", "DELETE", DEPLOYMENTS + "/applied?propagationPolicy=Foreground&dryRun=All")
    row("delete with a grace", "DELETE", DEPLOYMENTS + "/applied?gracePeriodSeconds=30")
    row("delete a collection as a dry run", "DELETE", MAPS + "?dryRun=All&labelSelector=app%3Dnobody")
    row("delete a collection", "DELETE", MAPS + "?fieldSelector=metadata.name%3Dbinary")
    row("delete a collection by a bad selector", "DELETE", MAPS + "?labelSelector=a%20in%20b")
    row("delete a collection by a bad field", "DELETE", MAPS + "?fieldSelector=data.k%3D1")
    row("delete a collection that is not served", "DELETE", f"/api/v1/namespaces/{NS}/nopes")
    row("delete services of a kind", "DELETE", SERVICES + "?labelSelector=nobody%3Dx")
    get("what is left", MAPS + "?fieldSelector=metadata.name!%3Dkube-root-ca.crt")


for part in (namespaces, creates, bad_metadata, reads, updates, lists, kinds, invalid, patches, applies, subresources, bad_crds, custom, deletes):
    part()
