"""The cases of builtin.json: small objects that between them touch every default, rule and column."""

LONG_AGO = "2010-01-01T00:00:00Z"  # ages of many years do not change while the table is made
CASES = []

# Fields that field selectors of one kind or another may name.
FIELDS = """spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork status.phase status.podIP
status.podIPs status.nominatedNodeName status.replicas spec.clusterIP spec.type type spec.unschedulable status.successful
involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid involvedObject.apiVersion
involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent source spec.replicas name
spec.signerName spec.driver spec.volumeName""".split()


def case(name, api_version, kind, body, metadata=None, **more):
    meta = {"name": name, **(metadata or {})}
    CASES.append({"name": f"{kind} {name}", "object": {"apiVersion": api_version, "kind": kind, "metadata": meta, **body}, **more})


def container(**more):
    return {"name": "c", "image": "nginx", **more}


def template(labels=None, **spec):
    return {"metadata": {"labels": {"app": "x"} if labels is None else labels}, "spec": {"containers": [container()], **spec}}


SELECTOR = {"matchLabels": {"app": "x"}}


def pod(name, spec=None, containers=None, **more):
    case(name, "v1", "Pod", {"spec": {"containers": [container()] if containers is None else containers, **(spec or {})}}, **more)


# ---- pods: defaults ----
pod("small", table=True)
for image in ("nginx:latest", "nginx:1.2", "nginx@sha256:" + "a" * 64, "reg.example.com:5000/a/b", "Bad//Name", "localhost/x"):
    pod("image-" + "".join(c if c.isalnum() else "-" for c in image.lower())[:20].rstrip("-"), containers=[container(image=image)])
pod("probes", containers=[container(
    livenessProbe={"httpGet": {"port": 80}}, readinessProbe={"tcpSocket": {"port": "http"}, "periodSeconds": 5},
    startupProbe={"grpc": {"port": 9}}, lifecycle={"preStop": {"httpGet": {"port": 1, "scheme": "HTTPS"}}},
    ports=[{"containerPort": 80, "name": "http"}, {"containerPort": 53, "protocol": "UDP"}])])
pod("resources", containers=[container(resources={
    "limits": {"cpu": "1000m", "memory": "1024Mi", "ephemeral-storage": "0.5"}, "requests": {"cpu": "0.1234567"}})])
pod("guaranteed", containers=[container(resources={"limits": {"cpu": 1, "memory": "1Gi"}})])
pod("env", containers=[container(env=[
    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}])])
pod("volumes", spec={"serviceAccountName": "me", "volumes": [
    {"name": "a"}, {"name": "b", "secret": {"secretName": "s"}}, {"name": "c", "configMap": {"name": "m"}},
    {"name": "d", "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    {"name": "e", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}, {"secret": {"name": "s"}}]}},
    {"name": "f", "hostPath": {"path": "/x"}}, {"name": "g", "image": {"reference": "a/b"}},
    {"name": "h", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:storage", "lun": 0}},
    {"name": "i", "ephemeral": {"volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}]})
pod("host-network", spec={"hostNetwork": True}, containers=[container(ports=[{"containerPort": 80}])])
pod("service-account", spec={"serviceAccountName": "me"})
pod("gated", spec={"schedulingGates": [{"name": "example.com/wait"}]}, table=True)
pod("init", spec={"initContainers": [{"name": "i", "image": "b:1"}, {"name": "s", "image": "b:1", "restartPolicy": "Always"}]}, table=True)
pod("own-status", metadata={}, **{"update": {"metadata": {"labels": {"a": "b"}}}})

# ---- pods: rules ----
pod("no-containers", containers=[])
pod("no-name", containers=[{"image": "x"}])
pod("no-image", containers=[{"name": "x"}])
pod("bad-name", containers=[container(name="Bad_Name")])
pod("twice", containers=[container(), container()])
pod("bad-ports", containers=[container(ports=[{"containerPort": 0}, {"containerPort": 70000, "name": "Bad"}, {"containerPort": 1, "protocol": "ICMP", "hostPort": -1}])])
pod("bad-policies", spec={"restartPolicy": "Sometimes", "dnsPolicy": "Maybe"}, containers=[container(imagePullPolicy="Later", terminationMessagePolicy="None")])
pod("bad-env", containers=[container(env=[{"name": ""}, {"name": "A=B"}, {"name": "C", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "D", "valueFrom": {}}])])
pod("bad-mounts", containers=[container(volumeMounts=[{"name": "none", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}, {"name": "v", "mountPath": "/b"}, {"name": "v"}])], spec={"volumes": [{"name": "v"}]})
pod("bad-volumes", spec={"volumes": [{"name": "a"}, {"name": "a"}, {"name": "B"}, {"emptyDir": {}}, {"name": "c", "emptyDir": {}, "secret": {"secretName": "x"}}, {"name": "d", "secret": {}}, {"name": "e", "persistentVolumeClaim": {"claimName": ""}}]})
pod("bad-resources", containers=[container(resources={"limits": {"cpu": "1", "foo": "1"}, "requests": {"cpu": "2", "memory": "-1"}})])
pod("bad-probe", containers=[container(livenessProbe={}, readinessProbe={"exec": {"command": []}}, startupProbe={"httpGet": {"port": 0}, "tcpSocket": {"port": 1}, "failureThreshold": -1})])
pod("bad-init-probe", spec={"initContainers": [{"name": "i", "image": "b", "livenessProbe": {"exec": {"command": ["x"]}}}]})
pod("bad-init-name", spec={"initContainers": [{"name": "c", "image": "b"}]})
pod("bad-names", spec={"serviceAccountName": "A", "hostname": "a.b", "subdomain": "A", "nodeSelector": {"a b": "c d"}, "activeDeadlineSeconds": 0})
pod("bad-tolerations", spec={"tolerations": [{"operator": "Equal"}, {"key": "a", "operator": "Exists", "value": "b"}, {"key": "a", "operator": "Like"}, {"key": "a", "tolerationSeconds": 1, "effect": "NoSchedule"}, {"key": "a", "effect": "Bad"}]})
pod("update-image", update={"spec": {"containers": [container(image="other:2", imagePullPolicy="Always", terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File", resources={})]}})
pod("update-command", update={"spec": {"hostNetwork": True}})
pod("update-containers", update={"spec": {"containers": [container(), container(name="d")]}})

# ---- pods: how the table says it ----
RUNNING = {"name": "c", "ready": True, "restartCount": 0, "image": "", "imageID": "", "state": {"running": {}}}
READY = [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}]


def shown(name, status, spec=None, **more):
    pod("shown-" + name, spec=spec, status={"phase": "Running", **status}, **more)


shown("running", {"containerStatuses": [RUNNING], "conditions": READY, "podIP": "10.1.1.1", "podIPs": [{"ip": "10.1.1.1"}]}, spec={"nodeName": "n1"})
shown("restarts", {"containerStatuses": [{**RUNNING, "restartCount": 3, "lastState": {"terminated": {"exitCode": 1, "finishedAt": LONG_AGO}}}]})
shown("waiting", {"containerStatuses": [{**RUNNING, "ready": False, "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]})
shown("completed", {"phase": "Succeeded", "containerStatuses": [{**RUNNING, "ready": False, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]})
shown("signal", {"containerStatuses": [{**RUNNING, "ready": False, "state": {"terminated": {"exitCode": 137, "signal": 9}}}]})
shown("exit-code", {"containerStatuses": [{**RUNNING, "ready": False, "state": {"terminated": {"exitCode": 2}}}]})
shown("evicted", {"phase": "Failed", "reason": "Evicted"})
shown("gates", {"conditions": [{"type": "a", "status": "True"}]}, spec={"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]})
INIT = {"initContainers": [{"name": "i", "image": "b"}, {"name": "j", "image": "b"}]}
WAIT = {**RUNNING, "ready": False, "state": {"waiting": {"reason": "PodInitializing"}}}
shown("init-step", {"phase": "Pending", "initContainerStatuses": [{**WAIT, "name": "i", "state": {"terminated": {"exitCode": 0}}}, {**WAIT, "name": "j"}], "containerStatuses": [WAIT]}, spec=INIT)
shown("init-error", {"phase": "Pending", "initContainerStatuses": [{**WAIT, "name": "i", "state": {"terminated": {"exitCode": 3}}}], "containerStatuses": [WAIT]}, spec=INIT)
shown("init-pull", {"phase": "Pending", "initContainerStatuses": [{**WAIT, "name": "i", "state": {"waiting": {"reason": "ErrImagePull"}}}], "containerStatuses": [WAIT]}, spec=INIT)
SIDECAR = {"initContainers": [{"name": "s", "image": "b", "restartPolicy": "Always"}]}
shown("sidecar", {"initContainerStatuses": [{**RUNNING, "name": "s", "started": True, "restartCount": 2}], "containerStatuses": [RUNNING], "conditions": READY}, spec=SIDECAR)
TWO = {"containers": [container(), container(name="d")]}
shown("half-done", {"containerStatuses": [{**RUNNING, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}, "ready": False}, {**RUNNING, "name": "d"}]}, spec=TWO)

# ---- workloads ----
for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"):
    low = kind.lower()
    case(low, "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": template()}}, table=True)
    case(low + "-no-selector", "apps/v1", kind, {"spec": {"template": template()}})
    case(low + "-empty-selector", "apps/v1", kind, {"spec": {"selector": {}, "template": template()}})
    case(low + "-no-match", "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": template({"app": "y"})}})
    case(low + "-no-labels", "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": {"spec": {"containers": [container()]}}}})
    case(low + "-bad-selector", "apps/v1", kind, {"spec": {"selector": {"matchLabels": {"a b": "c"}, "matchExpressions": [{"key": "x", "operator": "In"}, {"key": "y", "operator": "Like"}]}, "template": template()}})
    case(low + "-restart", "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": template(restartPolicy="Never", activeDeadlineSeconds=5)}})
    case(low + "-negative", "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": template(), "minReadySeconds": -1, **({} if kind == "DaemonSet" else {"replicas": -1})}})
    case(low + "-new-selector", "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": template({"app": "x", "b": "c"})}}, update={"spec": {"selector": {"matchLabels": {"b": "c"}}}})
    case(low + "-new-template", "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": template()}}, update={"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})
case("deployment-shown", "apps/v1", "Deployment", {"spec": {"replicas": 3, "selector": SELECTOR, "template": template()}}, status={"replicas": 3, "readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2})
case("deployment-recreate", "apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "strategy": {"type": "Recreate"}, "template": template()}})
case("deployment-recreate-rolling", "apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}, "template": template()}})
case("deployment-zero", "apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}, "template": template()}})
case("deployment-percent", "apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "strategy": {"rollingUpdate": {"maxSurge": "x", "maxUnavailable": "101%"}}, "template": template()}})
case("deployment-strategy", "apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "strategy": {"type": "Magic"}, "template": template()}})
case("deployment-deadline", "apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "minReadySeconds": 600, "template": template()}})
CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
case("stateful-claims", "apps/v1", "StatefulSet", {"spec": {"serviceName": "s", "selector": SELECTOR, "volumeClaimTemplates": [CLAIM], "template": template(containers=[container(volumeMounts=[{"name": "data", "mountPath": "/d"}])])}}, update={"spec": {"serviceName": "other"}})
case("stateful-shown", "apps/v1", "StatefulSet", {"spec": {"replicas": 2, "selector": SELECTOR, "template": template()}}, status={"replicas": 2, "readyReplicas": 1})
case("stateful-ondelete", "apps/v1", "StatefulSet", {"spec": {"selector": SELECTOR, "updateStrategy": {"type": "OnDelete"}, "template": template()}}, update={"spec": {"replicas": 5}})
case("stateful-bad", "apps/v1", "StatefulSet", {"spec": {"podManagementPolicy": "Wild", "serviceName": "A", "selector": SELECTOR, "updateStrategy": {"type": "Magic"}, "template": template()}})
case("daemon-shown", "apps/v1", "DaemonSet", {"spec": {"selector": SELECTOR, "template": template(nodeSelector={"a": "b"})}}, status={"desiredNumberScheduled": 3, "currentNumberScheduled": 3, "numberReady": 2, "updatedNumberScheduled": 1, "numberAvailable": 2, "numberMisscheduled": 0})
case("daemon-surge", "apps/v1", "DaemonSet", {"spec": {"selector": SELECTOR, "updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}, "template": template()}})
case("daemon-zero", "apps/v1", "DaemonSet", {"spec": {"selector": SELECTOR, "updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}, "template": template()}})
case("replica-shown", "apps/v1", "ReplicaSet", {"spec": {"replicas": 2, "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "y"]}]}, "template": template()}}, status={"replicas": 2, "readyReplicas": 1})
case("revision", "apps/v1", "ControllerRevision", {"revision": 3, "data": {"a": 1}}, metadata={"ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}]}, table=True, update={"data": {"a": 2}})
case("revision-no-data", "apps/v1", "ControllerRevision", {"revision": 3})
case("controller", "v1", "ReplicationController", {"spec": {"template": template()}}, table=True)
case("controller-bad", "v1", "ReplicationController", {"spec": {"selector": {"a": "b"}, "replicas": -1, "template": template()}})
case("controller-none", "v1", "ReplicationController", {"spec": {}})
case("pod-template", "v1", "PodTemplate", {"template": template()}, table=True)

# ---- jobs ----
JOB = {"spec": {"containers": [container()], "restartPolicy": "Never"}}
case("job", "batch/v1", "Job", {"spec": {"template": JOB}}, table=True)
case("job-labels", "batch/v1", "Job", {"spec": {"template": {**JOB, "metadata": {"labels": {"a": "b"}}}}})
case("job-parallel", "batch/v1", "Job", {"spec": {"parallelism": 3, "template": JOB}}, table=True)
case("job-completions", "batch/v1", "Job", {"spec": {"completions": 3, "template": JOB}}, update={"spec": {"completions": 4}})
case("job-manual", "batch/v1", "Job", {"spec": {"manualSelector": True, "selector": SELECTOR, "template": {**JOB, "metadata": {"labels": {"app": "x"}}}}})
case("job-selector", "batch/v1", "Job", {"spec": {"selector": SELECTOR, "template": {**JOB, "metadata": {"labels": {"app": "x"}}}}})
case("job-restart", "batch/v1", "Job", {"spec": {"template": {"spec": {"containers": [container()]}}}})
case("job-restart-odd", "batch/v1", "Job", {"spec": {"template": {"spec": {"containers": [container()], "restartPolicy": "Odd"}}}})
case("job-bad", "batch/v1", "Job", {"spec": {"parallelism": -1, "completions": -1, "backoffLimit": -1, "completionMode": "Odd", "maxFailedIndexes": 1, "template": JOB}})
case("job-indexed", "batch/v1", "Job", {"spec": {"completionMode": "Indexed", "template": JOB, "parallelism": 2}})
case("job-per-index", "batch/v1", "Job", {"spec": {"completionMode": "Indexed", "completions": 2, "backoffLimitPerIndex": 1, "template": JOB}})
case("job-policy", "batch/v1", "Job", {"spec": {"template": JOB, "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}}})
case("job-template", "batch/v1", "Job", {"spec": {"template": JOB}}, update={"spec": {"template": {"spec": {"containers": [container(image="y")]}}}})
case("job-suspend", "batch/v1", "Job", {"spec": {"template": JOB}}, update={"spec": {"suspend": True, "parallelism": 2}})
case("job-done", "batch/v1", "Job", {"spec": {"template": JOB}}, status={"succeeded": 1, "startTime": LONG_AGO, "completionTime": "2010-01-01T00:02:30Z", "conditions": [{"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]})
case("job-failed", "batch/v1", "Job", {"spec": {"template": JOB}}, status={"failed": 1, "startTime": LONG_AGO, "conditions": [{"type": "FailureTarget", "status": "True"}, {"type": "Failed", "status": "True"}]})
for name, schedule in {"ok": "*/5 1-3,7 * jan-DEC mon", "every": "@every 1h30m", "daily": "@daily", "few": "* * *", "range": "61 * * * *", "low": "* * 0 * *", "back": "5-1 * * * *", "step": "*/0 * * * *", "word": "x * * * *", "hyphens": "1-2-3 * * * *", "slashes": "1/2/3 * * * *", "odd": "@sometimes", "bad-every": "@every x", "empty": "", "zone": "TZ=UTC * * * * *", "negative": "-1 * * * *", "question": "? ? ? ? ?", "sunday": "0 0 * * 7"}.items():
    case("cron-" + name, "batch/v1", "CronJob", {"spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": JOB}}}}, table=True)
case("cron-shown", "batch/v1", "CronJob", {"spec": {"schedule": "@daily", "timeZone": "Etc/UTC", "suspend": True, "jobTemplate": {"spec": {"template": JOB}}}}, status={"lastScheduleTime": LONG_AGO, "active": [{"kind": "Job", "name": "a"}]})
case("cron-bad", "batch/v1", "CronJob", {"spec": {"schedule": "@daily", "concurrencyPolicy": "Odd", "startingDeadlineSeconds": -1, "timeZone": "", "jobTemplate": {"spec": {"selector": SELECTOR, "manualSelector": True, "template": {"spec": {"containers": [container()]}}}}}})
case("cron-" + "long" * 13, "batch/v1", "CronJob", {"spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": JOB}}}})
TARGET = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}
case("hpa", "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**TARGET, "maxReplicas": 3}}, table=True)
case("hpa-behaviour", "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**TARGET, "maxReplicas": 3, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}}}})
case("hpa-bad", "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {"scaleTargetRef": {"kind": "", "name": ""}, "minReplicas": 3, "maxReplicas": 0}})
case("hpa-order", "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**TARGET, "minReplicas": 3, "maxReplicas": 2}})
case("hpa-shown", "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**TARGET, "maxReplicas": 3, "metrics": [
    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
    {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}}}]}},
    status={"currentReplicas": 2, "desiredReplicas": 2, "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 40, "averageValue": "1"}}}]})
case("pdb", "policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": "50%", "selector": SELECTOR}}, table=True)
case("pdb-max", "policy/v1", "PodDisruptionBudget", {"spec": {"maxUnavailable": 1}}, status={"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2})
case("pdb-bad", "policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": "101%", "unhealthyPodEvictionPolicy": "Odd"}})

# ---- services and networking ----
case("service", "v1", "Service", {"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}, table=True)
case("service-headless", "v1", "Service", {"spec": {"clusterIP": "None"}}, table=True)
case("service-node-port", "v1", "Service", {"spec": {"type": "NodePort", "ports": [{"port": 80, "name": "a", "targetPort": "http"}, {"port": 53, "protocol": "UDP", "name": "b"}]}}, table=True)
case("service-balancer", "v1", "Service", {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}, table=True)
case("service-balanced", "v1", "Service", {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}, status={"loadBalancer": {"ingress": [{"ip": "9.9.9.9"}, {"hostname": "a.example.com"}]}})
case("service-external", "v1", "Service", {"spec": {"type": "ExternalName", "externalName": "a.example.com"}}, table=True)
case("service-client-ip", "v1", "Service", {"spec": {"sessionAffinity": "ClientIP", "ports": [{"port": 80}], "externalIPs": ["8.8.8.8"]}}, table=True)
case("service-no-ports", "v1", "Service", {"spec": {}})
case("service-bad", "v1", "Service", {"spec": {"type": "Magic", "sessionAffinity": "Odd", "selector": {"a b": "c d"}, "ports": [{"port": 0}, {"port": 70000, "name": "Bad", "protocol": "ICMP"}, {"port": 1, "name": "a", "targetPort": "Bad_Port!"}, {"port": 1, "name": "a"}]}})
case("service-node-port-bad", "v1", "Service", {"spec": {"ports": [{"port": 1, "nodePort": 30000}]}})
case("service-no-name", "v1", "Service", {"spec": {"type": "ExternalName"}})
case("service-policy", "v1", "Service", {"spec": {"ports": [{"port": 1}], "externalTrafficPolicy": "Local", "internalTrafficPolicy": "Odd", "externalIPs": ["x"]}})
case("endpoints", "v1", "Endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}], "ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]}]}, table=True)
case("endpoints-empty", "v1", "Endpoints", {}, table=True)
case("endpoints-bad", "v1", "Endpoints", {"subsets": [{"addresses": [{"ip": "x"}], "ports": [{"port": 0}]}, {"ports": [{"port": 1}]}]})
case("slice", "discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "ports": [{"port": 80}], "endpoints": [{"addresses": ["10.0.0.1"]}, {"addresses": ["10.0.0.2"]}, {"addresses": ["10.0.0.3"]}, {"addresses": ["10.0.0.4"]}]}, table=True)
case("slice-bad", "discovery.k8s.io/v1", "EndpointSlice", {"addressType": "Odd", "endpoints": [{"addresses": []}]})
BACKEND = {"service": {"name": "s", "port": {"number": 80}}}
case("ingress", "networking.k8s.io/v1", "Ingress", {"spec": {"ingressClassName": "nginx", "tls": [{"hosts": ["a.example.com"], "secretName": "t"}], "rules": [{"host": f"{h}.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}} for h in "abcd"]}}, table=True)
case("ingress-default", "networking.k8s.io/v1", "Ingress", {"spec": {"defaultBackend": BACKEND}}, status={"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}})
case("ingress-empty", "networking.k8s.io/v1", "Ingress", {"spec": {}})
case("ingress-bad", "networking.k8s.io/v1", "Ingress", {"spec": {"rules": [{"host": "1.2.3.4", "http": {"paths": [{"path": "x", "pathType": "Exact", "backend": BACKEND}, {"path": "/", "backend": BACKEND}, {"path": "/a/../b", "pathType": "Prefix", "backend": {}}, {"pathType": "Odd", "path": "/", "backend": {"service": {"name": "S", "port": {}}}}]}}, {"host": "*.*", "http": {"paths": []}}]}})
case("ingress-class", "networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "example.com/c", "parameters": {"apiGroup": "k.example.com", "kind": "P", "name": "p"}}}, table=True, update={"spec": {"controller": "example.com/d"}})
case("policy", "networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": SELECTOR, "egress": [{"ports": [{"port": 80}]}]}}, table=True)
case("policy-all", "networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}}}, table=True)
case("policy-bad", "networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}, "policyTypes": ["Odd"], "ingress": [{"from": [{}, {"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}], "ports": [{"port": 0}, {"protocol": "ICMP"}, {"endPort": 5}, {"port": 9, "endPort": 5}, {"port": "x", "endPort": 5}]}]}})

# ---- configuration ----
case("config", "v1", "ConfigMap", {"data": {"a": "b"}, "binaryData": {"c": "AAEC"}}, table=True)
case("config-bad", "v1", "ConfigMap", {"data": {"a b": "", "..": "", "c": ""}, "binaryData": {"c": ""}})
case("config-frozen", "v1", "ConfigMap", {"data": {"a": "b"}, "immutable": True}, update={"data": {"a": "c"}, "immutable": False})
case("secret", "v1", "Secret", {"stringData": {"a": "b", "c": "d\u00e9"}, "data": {"a": "eA==", "z": "eA=="}}, table=True)
case("secret-frozen", "v1", "Secret", {"data": {"a": "eA=="}, "immutable": True}, update={"data": {"b": "eA=="}, "type": "other"})
for kind in ("dockercfg", "dockerconfigjson", "basic-auth", "ssh-auth", "tls", "service-account-token"):
    case("secret-" + kind, "v1", "Secret", {"type": "kubernetes.io/" + kind})
case("secret-docker", "v1", "Secret", {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{\"auths\":{}}"}})
case("secret-bad", "v1", "Secret", {"data": {"a/b": ""}})
case("space", "v1", "Namespace", {}, table=True, update={"metadata": {"labels": {"a": "b"}}})
case("space-own", "v1", "Namespace", {"spec": {"finalizers": ["example.com/f"]}, "status": {"phase": "Terminating"}}, metadata={"labels": {"kubernetes.io/metadata.name": "lie"}})
case("node", "v1", "Node", {"spec": {"unschedulable": True, "podCIDR": "10.9.0.0/24"}, "status": {"capacity": {"cpu": "2000m", "memory": "4096Mi"}}}, table=True, metadata={"labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": ""}})
case("node-shown", "v1", "Node", {}, status={"conditions": [{"type": "Ready", "status": "True"}], "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}], "nodeInfo": {"kubeletVersion": "v1.35.0", "osImage": "Linux", "kernelVersion": "6.1", "containerRuntimeVersion": "containerd://2", "machineID": "", "systemUUID": "", "bootID": "", "kubeProxyVersion": "", "operatingSystem": "", "architecture": ""}})
case("node-bad", "v1", "Node", {"spec": {"taints": [{"key": "a b", "effect": "Odd"}, {"key": "a"}]}})
case("quota", "v1", "ResourceQuota", {"spec": {"hard": {"pods": 5, "limits.cpu": "1000m"}}}, status={"hard": {"pods": 5, "limits.cpu": "1", "requests.memory": "1Gi"}, "used": {"pods": 1, "limits.cpu": "100m"}})
case("quota-bad", "v1", "ResourceQuota", {"spec": {"hard": {"pods": "-1", "a b": "1"}}})
case("limits", "v1", "LimitRange", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2000m"}, "min": {"memory": "1Mi"}}]}}, table=True)
case("limits-bad", "v1", "LimitRange", {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}, "min": {"cpu": "2"}, "default": {"cpu": "1"}}, {"type": "Pod"}, {"type": "PersistentVolumeClaim"}]}})
case("account", "v1", "ServiceAccount", {}, table=True)
case("event", "v1", "Event", {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "default", "fieldPath": "spec"}, "reason": "R", "message": " hello ", "type": "Normal", "source": {"component": "c", "host": "h"}, "firstTimestamp": LONG_AGO, "lastTimestamp": LONG_AGO, "count": 3}, table=True)
case("event-micro", "v1", "Event", {"involvedObject": {"kind": "Pod", "namespace": "default"}, "reason": "R", "action": "A", "type": "Warning", "eventTime": "2010-01-01T00:00:00.000000Z", "reportingComponent": "example.com/c", "reportingInstance": "i", "series": {"count": 4, "lastObservedTime": "2010-01-01T00:00:00.000000Z"}}, table=True)
case("event-bad", "v1", "Event", {"involvedObject": {"kind": "Pod", "namespace": "other"}})
case("event-micro-bad", "v1", "Event", {"involvedObject": {"kind": "Pod"}, "eventTime": "2010-01-01T00:00:00.000000Z"})
case("lease", "coordination.k8s.io/v1", "Lease", {"spec": {"holderIdentity": "me"}}, table=True)
case("lease-bad", "coordination.k8s.io/v1", "Lease", {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1, "preferredHolder": "x"}})
case("priority", "scheduling.k8s.io/v1", "PriorityClass", {"value": 7}, table=True, update={"value": 8})
case("priority-bad", "scheduling.k8s.io/v1", "PriorityClass", {"value": 2000000000, "preemptionPolicy": "Odd"})

# ---- storage ----
PVC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}
case("claim", "v1", "PersistentVolumeClaim", {"spec": PVC}, table=True)
case("claim-bound", "v1", "PersistentVolumeClaim", {"spec": {**PVC, "volumeName": "v", "storageClassName": "fast"}}, status={"phase": "Bound", "accessModes": ["ReadWriteOnce", "ReadOnlyMany"], "capacity": {"storage": "1Gi"}}, update={"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
case("claim-change", "v1", "PersistentVolumeClaim", {"spec": {**PVC, "storageClassName": "fast"}}, update={"spec": {"storageClassName": "slow"}})
case("claim-source", "v1", "PersistentVolumeClaim", {"spec": {**PVC, "dataSource": {"kind": "PersistentVolumeClaim", "name": "x"}}})
case("claim-bad", "v1", "PersistentVolumeClaim", {"spec": {"accessModes": ["Odd", "ReadWriteOnce", "ReadWriteOncePod"], "volumeMode": "Odd", "storageClassName": "A"}})
case("claim-none", "v1", "PersistentVolumeClaim", {"spec": {}})
PV = {"capacity": {"storage": "1024Mi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
case("volume", "v1", "PersistentVolume", {"spec": {**PV, "storageClassName": "fast", "claimRef": {"namespace": "a", "name": "b"}}}, table=True, update={"spec": {"hostPath": {"path": "/y"}}})
case("volume-bad", "v1", "PersistentVolume", {"spec": {"persistentVolumeReclaimPolicy": "Odd"}})
case("class", "storage.k8s.io/v1", "StorageClass", {"provisioner": "example.com/p"}, metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, table=True, update={"provisioner": "example.com/q", "parameters": {"a": "b"}, "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"})
case("class-bad", "storage.k8s.io/v1", "StorageClass", {"provisioner": "", "reclaimPolicy": "Odd", "volumeBindingMode": "Odd"})
case("driver.example.com", "storage.k8s.io/v1", "CSIDriver", {"spec": {}}, table=True)

# ---- access and extension ----
RBAC = "rbac.authorization.k8s.io/v1"
case("role", RBAC, "Role", {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}, table=True)
case("role-none", RBAC, "Role", {})
case("role-bad", RBAC, "Role", {"rules": [{"verbs": []}, {"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["a"]}]})
case("cluster-role-bad", RBAC, "ClusterRole", {"rules": [{"verbs": ["get"]}], "aggregationRule": {}})
case("binding", RBAC, "RoleBinding", {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}, {"kind": "User", "name": "v"}, {"kind": "Group", "name": "g"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]}, table=True, update={"roleRef": {"name": "other"}})
case("binding-bad", RBAC, "RoleBinding", {"roleRef": {"kind": "Odd", "name": "", "apiGroup": "x"}, "subjects": [{"kind": "Odd"}, {"kind": "User", "name": "u", "apiGroup": "x"}, {"kind": "ServiceAccount", "name": "S"}]})
case("cluster-binding-bad", RBAC, "ClusterRoleBinding", {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "ServiceAccount", "name": "s"}]})
HOOK = {"name": "a.b.example.com", "clientConfig": {"service": {"namespace": "n", "name": "s"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [{"operations": ["CREATE"], "apiGroups": ["none.example.com"], "apiVersions": ["v1"], "resources": ["none"]}]}
for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
    case("hooks-" + kind[:3].lower(), "admissionregistration.k8s.io/v1", kind, {"webhooks": [HOOK]}, table=True)
    case("hooks-bad-" + kind[:3].lower(), "admissionregistration.k8s.io/v1", kind, {"webhooks": [{"name": "a", "clientConfig": {}, "timeoutSeconds": 31, "failurePolicy": "Odd", "matchPolicy": "Odd", "rules": [{"operations": ["*", "CREATE", "ODD"]}]}, {**HOOK, "sideEffects": "Some", "clientConfig": {"url": "http://x"}, "admissionReviewVersions": ["v9"]}]})
case("things.example.com", "apiextensions.k8s.io/v1", "CustomResourceDefinition", {"spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}, table=True)

# ---- whole manifests, as people write them: nothing in them may be refused ----
case("web-app", "apps/v1", "Deployment", {"spec": {"replicas": 2, "selector": SELECTOR, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}, "template": {
    "metadata": {"labels": {"app": "x", "app.kubernetes.io/name": "web"}, "annotations": {"prometheus.io/scrape": "true", "checksum/config": "abc"}},
    "spec": {
        "serviceAccountName": "web", "automountServiceAccountToken": False, "priorityClassName": "high",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "fsGroup": 2000, "seccompProfile": {"type": "RuntimeDefault"}},
        "imagePullSecrets": [{"name": "pull"}], "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}, {"operator": "Exists"}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": {"labelSelector": SELECTOR, "topologyKey": "kubernetes.io/hostname"}}]},
                     "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": SELECTOR}],
        "initContainers": [{"name": "wait", "image": "busybox:1.36", "command": ["sh", "-c", "true"]}],
        "containers": [{
            "name": "web", "image": "ghcr.io/example/web:v1.2.3", "args": ["--port=8080"], "workingDir": "/",
            "ports": [{"name": "http", "containerPort": 8080}, {"name": "metrics", "containerPort": 9090}],
            "env": [{"name": "A", "value": "1"}, {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}, {"name": "P", "valueFrom": {"secretKeyRef": {"name": "s", "key": "p", "optional": True}}}],
            "envFrom": [{"configMapRef": {"name": "c"}}, {"prefix": "S_", "secretRef": {"name": "s"}}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi", "nvidia.com/gpu": 1}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http", "httpHeaders": [{"name": "X-A", "value": "b"}]}, "initialDelaySeconds": 5},
            "readinessProbe": {"exec": {"command": ["true"]}, "successThreshold": 2}, "startupProbe": {"grpc": {"port": 5, "service": "s"}},
            "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}},
            "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
            "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "config", "mountPath": "/etc/config", "readOnly": True}, {"name": "config", "mountPath": "/etc/one", "subPath": "one"}]},
            {"name": "sidecar", "image": "sidecar", "stdin": True, "tty": True}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "config", "configMap": {"name": "c", "items": [{"key": "one", "path": "one"}], "optional": True}},
                    {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}, {"name": "csi", "csi": {"driver": "d.example.com", "readOnly": True}}, {"name": "nfs", "nfs": {"server": "s", "path": "/p"}}],
        "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]}, "hostAliases": [{"ip": "10.0.0.9", "hostnames": ["a.b"]}],
        "terminationGracePeriodSeconds": 60, "enableServiceLinks": False, "shareProcessNamespace": True, "runtimeClassName": "gvisor"}}}}, table=True)
case("database", "apps/v1", "StatefulSet", {"spec": {"serviceName": "db", "replicas": 3, "podManagementPolicy": "Parallel", "minReadySeconds": 5, "revisionHistoryLimit": 3, "ordinals": {"start": 1},
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}, "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}, "selector": SELECTOR,
    "volumeClaimTemplates": [{"metadata": {"name": "data", "labels": {"a": "b"}}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "10Gi"}}}}],
    "template": template(containers=[container(image="postgres:16", volumeMounts=[{"name": "data", "mountPath": "/var/lib/postgresql"}], resources={"requests": {"cpu": 0.5, "memory": "1.5Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}})])}}, update={"spec": {"replicas": 5}})
case("agent", "apps/v1", "DaemonSet", {"spec": {"selector": SELECTOR, "template": template(hostNetwork=True, hostPID=True, dnsPolicy="ClusterFirstWithHostNet", volumes=[{"name": "root", "hostPath": {"path": "/", "type": "Directory"}}], containers=[container(securityContext={"privileged": True}, ports=[{"containerPort": 9100, "hostPort": 9100}], volumeMounts=[{"name": "root", "mountPath": "/host", "mountPropagation": "HostToContainer", "readOnly": True}])])}})
case("backup", "batch/v1", "CronJob", {"spec": {"schedule": "0 3 * * *", "timeZone": "Europe/Berlin", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": {"backoffLimit": 2, "ttlSecondsAfterFinished": 60, "template": {"spec": {"restartPolicy": "OnFailure", "containers": [container()]}}}}}})
case("web", "v1", "Service", {"spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "loadBalancerSourceRanges": ["10.0.0.0/8"], "selector": {"app": "x"}, "ports": [{"name": "http", "port": 80, "targetPort": "http", "appProtocol": "http"}, {"name": "dns", "port": 53, "targetPort": 5353, "protocol": "UDP"}]}})
case("web-ingress", "networking.k8s.io/v1", "Ingress", {"spec": {"ingressClassName": "nginx", "rules": [{"host": "*.example.com", "http": {"paths": [{"path": "/a", "pathType": "ImplementationSpecific", "backend": {"service": {"name": "web", "port": {"name": "http"}}}}, {"pathType": "ImplementationSpecific", "backend": {"resource": {"apiGroup": "k.example.com", "kind": "B", "name": "b"}}}]}}, {}]}})
case("deny", "networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {"matchLabels": {"a": "b"}}, "policyTypes": ["Ingress", "Egress"], "ingress": [{"from": [{"podSelector": {}, "namespaceSelector": {"matchLabels": {"a": "b"}}}, {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}], "ports": [{"port": "http"}, {"port": 1000, "endPort": 2000, "protocol": "UDP"}]}], "egress": [{}]}})
case("scaler", "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**TARGET, "minReplicas": 2, "maxReplicas": 9, "metrics": [
    {"type": "External", "external": {"metric": {"name": "q", "selector": SELECTOR}, "target": {"type": "AverageValue", "averageValue": "30"}}},
    {"type": "Object", "object": {"metric": {"name": "r"}, "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"}, "target": {"type": "Value", "value": "2k"}}}],
    "behavior": {"scaleUp": {"policies": [{"type": "Pods", "value": 2, "periodSeconds": 60}]}}}}, table=True)
case("rules", RBAC, "ClusterRole", {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["/healthz"], "verbs": ["get"]}], "aggregationRule": {"clusterRoleSelectors": [SELECTOR]}}, table=True)
case("who", RBAC, "ClusterRoleBinding", {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "rules"}, "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "n"}, {"kind": "Group", "name": "system:authenticated"}]}, table=True)
case("ca", "v1", "Secret", {"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}}, update={"data": {"tls.crt": "eA=="}})
case("login", "v1", "Secret", {"type": "kubernetes.io/basic-auth", "stringData": {"username": "u"}})
case("csi-volume", "v1", "PersistentVolume", {"spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Delete", "csi": {"driver": "d.example.com", "volumeHandle": "h", "fsType": "ext4"}, "mountOptions": ["ro"], "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}, "volumeMode": "Block"}}, table=True)
case("fast", "storage.k8s.io/v1", "StorageClass", {"provisioner": "d.example.com", "parameters": {"type": "ssd"}, "allowVolumeExpansion": True, "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Retain", "mountOptions": ["ro"]}, table=True)
case("tainted", "v1", "Node", {"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}], "providerID": "x://y"}}, metadata={"labels": {"kubernetes.io/role": "old"}}, status={"conditions": [{"type": "Ready", "status": "Unknown"}], "addresses": [{"type": "ExternalIP", "address": "9.9.9.9"}]})
case("claim-selector", "v1", "PersistentVolumeClaim", {"spec": {"accessModes": ["ReadWriteOncePod"], "selector": SELECTOR, "storageClassName": "", "volumeMode": "Block", "resources": {"requests": {"storage": "1"}, "limits": {"storage": "2"}}}}, update={"metadata": {"labels": {"a": "b"}}, "spec": {"volumeName": "v"}})
case("claim-shrink", "v1", "PersistentVolumeClaim", {"spec": {**PVC, "volumeName": "v", "storageClassName": "fast"}}, status={"phase": "Bound", "capacity": {"storage": "1Gi"}}, update={"spec": {"resources": {"requests": {"storage": "512Mi"}}}})
case("account-secrets", "v1", "ServiceAccount", {"secrets": [{"name": "a", "namespace": "x"}], "imagePullSecrets": [{"name": "b"}], "automountServiceAccountToken": False})
case("runtime", "node.k8s.io/v1", "RuntimeClass", {"handler": "runc"}, table=True)
case("attachment", "storage.k8s.io/v1", "VolumeAttachment", {"spec": {"attacher": "d.example.com", "nodeName": "n", "source": {"persistentVolumeName": "p"}}}, table=True)
pod("env-names", containers=[container(env=[{"name": "a.b-c"}, {"name": "1 x"}])])
pod("mixed-requests", containers=[container(resources={"requests": {"cpu": "1"}}), container(name="d")])
pod("best-effort-zero", containers=[container(resources={"requests": {"cpu": "0"}})])
pod("pod-level", spec={"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}})
pod("gpu", containers=[container(resources={"limits": {"example.com/gpu": "2"}})])
pod("gpu-bad", containers=[container(resources={"requests": {"example.com/gpu": "2"}, "limits": {"example.com/gpu": "1"}})])

# ---- more that is refused ----
pod("bad-env-from", containers=[container(envFrom=[{}, {"configMapRef": {"name": ""}}, {"configMapRef": {"name": "a"}, "secretRef": {"name": "b"}}])])
pod("bad-env-ref", containers=[container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "", "key": "a b"}}}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "a", "key": ""}, "fieldRef": {"fieldPath": ""}}}, {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "spec.odd"}}}, {"name": "D", "valueFrom": {"resourceFieldRef": {"resource": "odd"}}}])])
pod("bad-hooks", containers=[container(lifecycle={"postStart": {}, "preStop": {"httpGet": {"path": "", "port": "Bad_Port!"}}})])
pod("bad-sidecar", spec={"initContainers": [{"name": "i", "image": "b", "restartPolicy": "Odd"}]})
pod("host-ports-twice", containers=[container(ports=[{"containerPort": 1, "hostPort": 9}]), container(name="d", ports=[{"containerPort": 2, "hostPort": 9}])])
pod("host-network-ports", spec={"hostNetwork": True}, containers=[container(ports=[{"containerPort": 1, "hostPort": 9}])])
pod("bad-priority", spec={"priorityClassName": "A", "runtimeClassName": "A", "preemptionPolicy": "Odd", "nodeName": "A_"})
pod("bad-mount-paths", containers=[container(volumeMounts=[{"name": "v", "mountPath": "/b", "subPath": "../x"}, {"name": "v", "mountPath": "/c", "subPath": "/abs"}])], spec={"volumes": [{"name": "v"}]})
pod("bad-sources", spec={"volumes": [{"name": "a", "hostPath": {"path": ""}}, {"name": "b", "nfs": {"server": "", "path": "x"}}, {"name": "c", "configMap": {"name": "", "defaultMode": 1000}}, {"name": "d", "emptyDir": {"sizeLimit": "-1"}}, {"name": "e", "csi": {"driver": ""}}, {"name": "f", "hostPath": {"path": "../x", "type": "Odd"}}]})
pod("bad-pull-secret", spec={"imagePullSecrets": [{}], "readinessGates": [{"conditionType": "a b"}], "schedulingGates": [{"name": "a b"}]})
pod("bad-grace", spec={"terminationGracePeriodSeconds": -5, "hostAliases": [{"ip": "x", "hostnames": ["A"]}], "dnsConfig": {"nameservers": ["x"]}})
pod("bad-affinity", spec={"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]}, "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}})
pod("bad-spread", spec={"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Odd"}]})
pod("bad-image-space", containers=[container(image=" x ")])
pod("update-tolerations", spec={"tolerations": [{"key": "a", "operator": "Exists"}]}, update={"spec": {"tolerations": [{"key": "b", "operator": "Exists"}]}})
pod("update-deadline", spec={"activeDeadlineSeconds": 10}, update={"spec": {"activeDeadlineSeconds": 20}})
for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"):
    case(kind.lower() + "-nothing", "apps/v1", kind, {})
    case(kind.lower() + "-bad-template", "apps/v1", kind, {"spec": {"selector": SELECTOR, "template": {"metadata": {"labels": {"app": "x", "b c": "d e"}, "annotations": {"e f": ""}}, "spec": {"containers": []}}}})
case("stateful-bad-claim", "apps/v1", "StatefulSet", {"spec": {"selector": SELECTOR, "ordinals": {"start": -1}, "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Odd"}, "updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}, "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {}}], "template": template()}})
case("job-nothing", "batch/v1", "Job", {})
case("cron-nothing", "batch/v1", "CronJob", {})
case("job-too-parallel", "batch/v1", "Job", {"spec": {"completionMode": "Indexed", "completions": 2, "maxFailedIndexes": 3, "backoffLimitPerIndex": 1, "podReplacementPolicy": "Odd", "parallelism": 100001, "template": JOB}})
case("job-name-label", "batch/v1", "Job", {"spec": {"template": {**JOB, "metadata": {"labels": {"job-name": "other"}}}}})
case("job-policy-bad", "batch/v1", "Job", {"spec": {"podReplacementPolicy": "TerminatingOrFailed", "template": {"spec": {"containers": [container()], "restartPolicy": "OnFailure"}}, "podFailurePolicy": {"rules": []}}})
case("cron-zone-bad", "batch/v1", "CronJob", {"spec": {"schedule": "@daily", "timeZone": "a b", "jobTemplate": {"spec": {"template": JOB}}}})
case("cron-local", "batch/v1", "CronJob", {"spec": {"schedule": "@daily", "timeZone": "local", "jobTemplate": {"spec": {"template": JOB}}}})
case("hpa-metrics-bad", "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**TARGET, "minReplicas": 0, "maxReplicas": 3, "metrics": [{"type": "Odd"}, {"type": ""}, {"type": "Resource"}, {"type": "Resource", "resource": {"name": "", "target": {"type": "Odd"}}}]}})
case("pdb-both", "policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": -1, "maxUnavailable": "x"}})
case("ingress-class-bad", "networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "nope", "parameters": {}}})
case("ingress-class-none", "networking.k8s.io/v1", "IngressClass", {"spec": {}})
case("slice-ip-bad", "discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}], "ports": [{"name": "A_", "protocol": "ICMP"}]})
case("slice-type", "discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": []}, update={"addressType": "IPv6"})
case("endpoints-names", "v1", "Endpoints", {"subsets": [{"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": 1}, {"port": 2, "name": "B"}]}]})
case("service-change-ip", "v1", "Service", {"spec": {"ports": [{"port": 80}]}}, update={"spec": {"clusterIP": "10.0.0.77", "clusterIPs": ["10.0.0.77"]}})
case("service-to-node-port", "v1", "Service", {"spec": {"ports": [{"port": 80}]}}, update={"spec": {"type": "NodePort"}})
case("service-affinity", "v1", "Service", {"spec": {"ports": [{"port": 80, "appProtocol": "a b"}], "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}, "allocateLoadBalancerNodePorts": True, "loadBalancerSourceRanges": ["10.0.0.0/8"]}})
case("volume-two", "v1", "PersistentVolume", {"spec": {**PV, "nfs": {"server": "a", "path": "/b"}, "volumeMode": "Odd", "storageClassName": "A", "capacity": {"storage": "0", "cpu": "1"}}})
case("claim-zero", "v1", "PersistentVolumeClaim", {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "0"}}, "selector": {"matchLabels": {"a b": "c"}}}})
case("limits-order", "v1", "LimitRange", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "100m"}, "default": {"cpu": "2"}, "defaultRequest": {"cpu": "50m"}}, {"type": ""}]}})
case("quota-scopes", "v1", "ResourceQuota", {"spec": {"hard": {"pods": "1.5", "odd": "1", "count/things.example.com": "1"}, "scopes": ["Odd"]}})
case("quota-change", "v1", "ResourceQuota", {"spec": {"hard": {"pods": "1"}}}, update={"spec": {"hard": {"pods": "2"}}})
case("secret-type", "v1", "Secret", {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{}"}}, update={"type": "Opaque"})
case("priority-system", "scheduling.k8s.io/v1", "PriorityClass", {"value": 1}, metadata={"name": "system-mine"})
case("binding-no-role", RBAC, "RoleBinding", {})
case("odd/name:of%role", RBAC, "Role", {}, metadata={"name": "a:b"}, table=True)
case("hooks-none", "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {}, table=True)
case("hooks-rules", "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {"webhooks": [{**HOOK, "rules": [{}], "clientConfig": {"service": {}}}, {**HOOK, "name": "", "rules": [{**HOOK["rules"][0], "apiGroups": ["*", "a"], "scope": "Odd"}], "clientConfig": {"url": "x"}}]})
case("replicas-zero", "apps/v1", "Deployment", {"spec": {"replicas": 0, "paused": True, "selector": SELECTOR, "template": template()}}, table=True)
