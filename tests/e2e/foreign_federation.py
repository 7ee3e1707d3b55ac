"""A federation that is not ours: as much of Karmada as a move meets, written from what Karmada does and without a line of Baton's, so that
`baton controllers --controllers=rollout` can be held against somebody else's hub.

    foreign = Foreign(hub, members).start()

What it does is level-triggered, over and over:
  detector     a ResourceBinding for each FlinkDeployment that a PropagationPolicy selects; an edit of template or policy rewrites the
               parts of its spec that are the detector's
  scheduler    spec.clusters, unless spec.suspension.scheduling is true; the first cluster of the placement that has it already or is free
  binding      a Work for each cluster of spec.clusters, with the OverridePolicies applied; Works of other clusters go, unless an
               unfinished graceful eviction task keeps them
  execution    the Work's manifest in the member, created or replaced; removed with the Work
  status       the member's status in the Work, the binding and the template; clusters are Ready and tell their kinds

No gate stands between a Work and its member: what the binding and the overrides say is what runs.
"""
import copy
import http.client
import json
import threading
import time
import traceback

FLINK = "/apis/flink.apache.org/v1beta1/namespaces/default/flinkdeployments"
POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies"
OVERRIDES = "/apis/policy.karmada.io/v1alpha1/namespaces/default/overridepolicies"
BINDINGS = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
FINALIZER = "karmada.io/execution-controller"


def works(cluster):
    return f"/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-{cluster}/works"


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Api:
    """JSON over one kept connection."""

    def __init__(self, cluster):
        self.cluster, self.http = cluster, None

    def ask(self, method, path, body=None, kind="application/json"):
        for last in (False, True):
            try:
                if self.http is None:
                    self.http = http.client.HTTPSConnection(self.cluster.url.hostname, self.cluster.url.port, context=self.cluster.tls(), timeout=60)
                self.http.request(method, path, body=None if body is None else json.dumps(body).encode(),
                                  headers={"Content-Type": kind, "User-Agent": "foreign"})
                answer = self.http.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.http = None
                if last:
                    raise
        if answer.status >= 300:
            raise Refused(answer.status, text[:300])
        return json.loads(text)

    def list(self, path):
        return {item["metadata"]["name"]: item for item in self.ask("GET", path)["items"]}

    def find(self, path):
        try:
            return self.ask("GET", path)
        except Refused as refused:
            if refused.code == 404:
                return None
            raise


class Foreign:
    def __init__(self, hub, members):
        self.places, self.hub_place = {place.name: place for place in members}, hub
        self.thread, self.ending, self.problems, self.rounds = None, False, [], 0

    def start(self):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def stop(self):
        self.ending = True
        self.thread.join()
        return self.problems

    def run(self):
        self.hub = Api(self.hub_place.cluster)
        self.members = {name: Api(place.cluster) for name, place in self.places.items()}
        while not self.ending:
            try:
                self.round()
            except Refused as refused:
                # Somebody was faster, or a kind is new: the next round decides anew.
                if refused.code not in (404, 409, 429):
                    self.problems.append(str(refused))
            except (OSError, ValueError, KeyError):
                self.problems.append(traceback.format_exc())
            self.rounds += 1
            time.sleep(0.05)

    def round(self):
        self.tell_clusters()
        if self.hub.find("/apis/flink.apache.org/v1beta1") is None:
            return
        templates, overrides = self.hub.list(FLINK), self.hub.list(OVERRIDES)
        policies, bindings = self.hub.list(POLICIES), self.hub.list(BINDINGS)
        for name, template in templates.items():
            for policy in policies.values():
                self.detect(name, template, policy, bindings)
        for binding in self.hub.list(BINDINGS).values():
            template = templates.get(binding["spec"]["resource"]["name"])
            if template:
                self.schedule(binding)
                self.dispatch(binding, template, overrides)

    # ---- clusters ----

    def tell_clusters(self):
        for name, cluster in self.hub.list(CLUSTERS).items():
            if name not in self.members:
                continue
            flink = self.members[name].find("/apis/flink.apache.org/v1beta1")
            kinds = [{"groupVersion": "flink.apache.org/v1beta1", "resources": [{"name": r["name"], "kind": r["kind"]} for r in flink["resources"]
                                                                                if "/" not in r["name"]]}] if flink else []
            told = cluster.get("status", {})
            if told.get("apiEnablements", []) == kinds and told.get("conditions"):
                continue
            if self.hub.find(f"/api/v1/namespaces/karmada-es-{name}") is None:
                self.hub.ask("POST", "/api/v1/namespaces", {"metadata": {"name": f"karmada-es-{name}"}})
            cluster["status"] = {"kubernetesVersion": "v1.35.8", "apiEnablements": kinds, "conditions": [
                {"type": "Ready", "status": "True", "reason": "ClusterReady", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
                {"type": "CompleteAPIEnablements", "status": "True", "reason": "Complete", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
            self.hub.ask("PUT", f"{CLUSTERS}/{name}/status", cluster)

    # ---- detector and scheduler ----

    def detect(self, name, template, policy, bindings):
        # What the detector owns of a binding's spec; the rest (clusters, eviction tasks, suspension of scheduling) it leaves alone.
        spec = {"resource": {"apiVersion": template["apiVersion"], "kind": template["kind"], "namespace": "default", "name": name,
                             "uid": template["metadata"]["uid"], "resourceVersion": template["metadata"]["resourceVersion"]},
                "placement": policy["spec"]["placement"], "conflictResolution": "Abort", "schedulerName": "default-scheduler"}
        binding = bindings.get(f"{name}-flinkdeployment")
        labels = {"propagationpolicy.karmada.io/permanent-id": policy["metadata"]["uid"]}
        names = {"propagationpolicy.karmada.io/name": policy["metadata"]["name"], "propagationpolicy.karmada.io/namespace": "default"}
        if binding is None:
            self.hub.ask("POST", BINDINGS, {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "spec": spec, "metadata": {
                "name": f"{name}-flinkdeployment", "namespace": "default", "labels": labels, "annotations": names}})
            return
        known = binding["spec"]["resource"]
        if known.get("uid") == template["metadata"]["uid"] and binding["metadata"].get("annotations", {}).get("foreign/generation") == str(
                template["metadata"]["generation"]) and binding["spec"].get("placement") == spec["placement"]:
            return
        changed = copy.deepcopy(binding)
        changed["spec"].update(spec)
        changed["metadata"].setdefault("annotations", {}).update(names, **{"foreign/generation": str(template["metadata"]["generation"])})
        bindings[binding["metadata"]["name"]] = self.hub.ask("PUT", f"{BINDINGS}/{binding['metadata']['name']}", changed)

    def schedule(self, binding):
        if binding["spec"].get("suspension", {}).get("scheduling"):
            return
        placement = binding["spec"]["placement"]
        wanted = placement["clusterAffinity"]["clusterNames"]
        now = [cluster["name"] for cluster in binding["spec"].get("clusters", [])]
        # One cluster, and the one where it is stays if it may.
        best = next((name for name in now if name in wanted), wanted[0])
        path = f"{BINDINGS}/{binding['metadata']['name']}"
        if now != [best]:
            binding["spec"]["clusters"] = [{"name": best}]
            binding.update(self.hub.ask("PUT", path, binding))
        generation = binding["metadata"]["generation"]
        if binding.get("status", {}).get("schedulerObservedGeneration") != generation:
            binding.update(self.hub.ask("PATCH", f"{path}/status", {"status": {"schedulerObservedGeneration": generation, "conditions": [
                {"type": "Scheduled", "status": "True", "reason": "Success", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
                                        "application/merge-patch+json"))

    # ---- binding and execution ----

    def dispatch(self, binding, template, overrides):
        name = binding["metadata"]["name"]
        wanted = {cluster["name"] for cluster in binding["spec"].get("clusters", [])}
        # Karmada counts a cluster with a task as one that has the workload, unless it is to be purged directly.
        kept = {task["fromCluster"] for task in binding["spec"].get("gracefulEvictionTasks", []) if task.get("purgeMode") not in ("Directly", "Immediately")}
        statuses = {}
        for cluster in self.members:
            work = self.hub.find(f"{works(cluster)}/{name}")
            if cluster in wanted:
                work = self.put_work(cluster, name, self.rendered(template, cluster, overrides), work)
            elif work is not None and cluster not in kept and "deletionTimestamp" not in work["metadata"]:
                self.hub.ask("DELETE", f"{works(cluster)}/{name}")
                work = self.hub.find(f"{works(cluster)}/{name}")
            if work is not None:
                status = self.execute(cluster, work)
                if cluster in wanted:
                    statuses[cluster] = status
        self.tell(binding, template, statuses)

    @staticmethod
    def rendered(template, cluster, overrides):
        of = template["metadata"]
        manifest = {"apiVersion": template["apiVersion"], "kind": template["kind"], "spec": copy.deepcopy(template["spec"]), "metadata": {
            "name": of["name"], "namespace": "default", "labels": {**of.get("labels", {}), "karmada.io/managed": "true"},
            "annotations": {k: v for k, v in of.get("annotations", {}).items() if "last-applied" not in k}}}
        for _, override in sorted(overrides.items()):
            if not any(s["kind"] == template["kind"] and s.get("name", of["name"]) == of["name"] for s in override["spec"]["resourceSelectors"]):
                continue
            for rule in override["spec"].get("overrideRules", []):
                names = rule.get("targetCluster", {}).get("clusterNames")
                if names is not None and cluster not in names:
                    continue
                for change in rule["overriders"].get("plaintext", []):
                    patch(manifest, change)
                for change in rule["overriders"].get("annotationsOverrider", []):
                    manifest["metadata"]["annotations"].update(change["value"])
        return manifest

    def put_work(self, cluster, name, manifest, work):
        if work is None:
            return self.hub.ask("POST", works(cluster), {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {
                "name": name, "namespace": f"karmada-es-{cluster}", "finalizers": [FINALIZER]}, "spec": {"workload": {"manifests": [manifest]}}})
        if "deletionTimestamp" in work["metadata"] or work["spec"]["workload"]["manifests"] == [manifest]:
            return work
        work["spec"]["workload"]["manifests"] = [manifest]
        return self.hub.ask("PUT", f"{works(cluster)}/{name}", work)

    def execute(self, cluster, work):
        """The member's status, if there is one."""
        member, manifest = self.members[cluster], work["spec"]["workload"]["manifests"][0]
        path = f"{FLINK}/{manifest['metadata']['name']}"
        there = member.find(path)
        if "deletionTimestamp" in work["metadata"]:
            if there is None:
                work["metadata"]["finalizers"] = []
                self.hub.ask("PUT", f"{works(cluster)}/{work['metadata']['name']}", work)
            elif "deletionTimestamp" not in there["metadata"]:
                member.ask("DELETE", path)
            return None
        if there is None:
            member.ask("POST", FLINK, manifest)
            return None
        same = there["spec"] == manifest["spec"] and manifest["metadata"]["annotations"].items() <= there["metadata"].get("annotations", {}).items()
        if not same and "deletionTimestamp" not in there["metadata"]:
            there["spec"] = manifest["spec"]
            there["metadata"].setdefault("annotations", {}).update(manifest["metadata"]["annotations"])
            member.ask("PUT", path, there)
        return there.get("status")

    def tell(self, binding, template, statuses):
        items = [{"clusterName": cluster, "applied": True, "health": "Unknown", **({"status": status} if status else {})}
                 for cluster, status in sorted(statuses.items())]
        if binding.get("status", {}).get("aggregatedStatus", []) != items:
            self.hub.ask("PATCH", f"{BINDINGS}/{binding['metadata']['name']}/status", {"status": {"aggregatedStatus": items}}, "application/merge-patch+json")
        told = next((status for status in statuses.values() if status), None)
        if told and len(statuses) == 1 and template.get("status") != told:
            template["status"] = told
            self.hub.ask("PUT", f"{FLINK}/{template['metadata']['name']}/status", template)


def patch(manifest, change):
    """A plaintext overrider: JSON patch's add, replace and remove on members of objects."""
    *way, last = [word.replace("~1", "/").replace("~0", "~") for word in change["path"].lstrip("/").split("/")]
    at = manifest
    for word in way:
        at = at[word]
    if change["operator"] == "remove":
        at.pop(last, None)
    else:
        at[last] = copy.deepcopy(change["value"])
