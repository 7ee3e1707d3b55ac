#!/usr/bin/env python3
"""Makes builtin.json: what a real kube-apiserver does to objects of built-in kinds.

    gen_builtin.py https://127.0.0.1:6443 TOKEN builtin.json

The server should be fresh and bare: no controllers, with --allow-privileged, and without the admission plugins that change objects
(--disable-admission-plugins=ServiceAccount,Priority,DefaultTolerationSeconds,StorageObjectInUseProtection,
TaintNodesByCondition,DefaultStorageClass,DefaultIngressClass,LimitRanger,RuntimeClass,ResourceQuota,PersistentVolumeClaimResize).

A row is a case of builtin_cases.py: the object that was sent ("in"), and then one of
  "stored": the object as the server answered,      "errors": the causes of its refusal (or "refused": its message);
  "table":  {"columns", "cells", "object", "now"}   a row as `kubectl get` asks for it;
  "update": {"in", "stored" or "errors"}            the object with a merge patch, sent again.
The server's own choices (uid, times, versions, managed fields, addresses) are left out or replaced.
"""
import copy
import datetime
import json
import re
import ssl
import sys
import urllib.error
import urllib.request

from builtin_cases import CASES, FIELDS

UID = "00000000-0000-4000-8000-000000000001"
ANY_UID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # also in messages and cells
CONTEXT = ssl._create_unverified_context()  # the test server's own certificate, on loopback
PLURALS = {
    "Endpoints": "endpoints", "Ingress": "ingresses", "NetworkPolicy": "networkpolicies",
    "StorageClass": "storageclasses", "PriorityClass": "priorityclasses", "IngressClass": "ingressclasses",
    "RuntimeClass": "runtimeclasses",
}
CLUSTER = {
    "Namespace", "Node", "PersistentVolume", "StorageClass", "ClusterRole", "ClusterRoleBinding", "PriorityClass",
    "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "CustomResourceDefinition", "IngressClass",
    "CSIDriver", "RuntimeClass", "VolumeAttachment",
}


class Server:
    def __init__(self, url, token):
        self.url, self.token = url, token

    def ask(self, method, path, body=None, accept="application/json"):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Bearer " + self.token, "Accept": accept, "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, context=CONTEXT, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


def collection(obj):
    version = obj["apiVersion"]
    root = "/apis/" + version if "/" in version else "/api/" + version
    kind = obj["kind"]
    plural = PLURALS.get(kind, kind.lower() + "s")
    if kind in CLUSTER:
        return f"{root}/{plural}"
    return f"{root}/namespaces/{obj['metadata'].get('namespace', 'default')}/{plural}"


def merge(target, patch):
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = copy.deepcopy(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def cleaned(obj, keep_time=False):
    """Without what only the server knows."""
    obj = copy.deepcopy(obj)
    metadata = obj.get("metadata", {})
    for key in ("resourceVersion", "generation", "managedFields", "selfLink") + (() if keep_time else ("creationTimestamp",)):
        metadata.pop(key, None)
    return obj


def answer(code, body):
    if code < 300:
        return {"stored": cleaned(body)}
    causes = (body.get("details") or {}).get("causes")
    if code == 422 and causes:
        return {"errors": sorted(([c.get("field", ""), c.get("reason", ""), c["message"]] for c in causes))}
    if code == 409:
        raise SystemExit("the server is not fresh: " + body.get("message", ""))
    return {"refused": f"{code} {body.get('message', '')}"}


def run(server, case):
    obj = case["object"]
    row = {"name": case["name"], "in": obj}
    path = collection(obj)
    code, body = server.ask("POST", path, obj)
    row.update(answer(code, body))
    if code >= 300:
        return row
    own = f"{path}/{body['metadata']['name']}"
    if "status" in case:
        code, body = server.ask("PUT", own + "/status", merge(body, {"status": case["status"]}))
        if code >= 300:
            raise SystemExit(f"{case['name']}: status: {code} {body}")
    if "table" in case or "status" in case:
        _, table = server.ask("GET", own + "?includeObject=Object", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
        columns = [[c["name"], c["type"], c["format"], c["priority"]] for c in table["columnDefinitions"]]
        first = table["rows"][0]
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        row["table"] = {"columns": columns, "cells": first["cells"], "object": cleaned(first["object"], True), "now": now}
    if "update" in case:
        _, current = server.ask("GET", own)
        changed = merge(current, case["update"])
        old = cleaned(current)
        code, body = server.ask("PUT", own, changed)
        row["update"] = {"old": old, "in": cleaned(changed), **answer(code, body)}
    server.ask("DELETE", own + "?gracePeriodSeconds=0&propagationPolicy=Background")
    return row


def selectable(server, obj, field):
    """Whether a field selector may name it."""
    code, _ = server.ask("GET", f"{collection(obj)}?fieldSelector={field}=x")
    return code == 200


def main():
    url, token, out = sys.argv[1:4]
    server = Server(url, token)
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names)), "a case's name came twice"
    rows = [run(server, case) for case in CASES]
    kinds = {}
    for case in CASES:
        kinds.setdefault((case["object"]["apiVersion"], case["object"]["kind"]), case["object"])
    for (version, kind), obj in kinds.items():
        fields = [field for field in FIELDS if selectable(server, obj, field)]
        rows.append({"name": f"{kind} fields", "in": {"apiVersion": version, "kind": kind}, "fields": fields})
    with open(out, "w", encoding="utf-8") as file:
        text = "[\n" + ",\n".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows) + "\n]\n"
        file.write(ANY_UID.sub(UID, text))


main()
