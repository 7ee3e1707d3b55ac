#!/usr/bin/env python3
"""Writes strategic_merge.json: what `kubectl patch --local --type=strategic` makes of objects. See kubectl_patch.py.

Cases in which Kubernetes' answer depends on the random order of a Go map are not asked for.
"""

import kubectl_patch

CASES = []


def case(name, obj, patch):
    CASES.append((name, obj, patch))


def obj(api_version, kind, **fields):
    made = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it", "namespace": "ns"}}
    metadata = fields.pop("metadata", None)
    if metadata:
        made["metadata"].update(metadata)
    made.update(fields)
    return made


def pod(**spec):
    return obj("v1", "Pod", spec=spec)


def deployment(template_spec, **spec):
    return obj("apps/v1", "Deployment", spec={"template": {"spec": template_spec}, **spec})


def named(*names):
    return [{"name": name} for name in names]


def images(*names):
    return [{"name": name, "image": name + ":1"} for name in names]


def spec(**fields):
    return {"spec": fields}


def metadata(**fields):
    return {"metadata": fields}


def maps():
    cm = obj("v1", "ConfigMap", data={"a": "1", "b": "2"}, metadata={"labels": {"x": "1", "y": "2"}})
    case("map: set a member", cm, {"data": {"a": "9"}})
    case("map: add a member", cm, {"data": {"c": "3"}})
    case("map: null removes a member", cm, {"data": {"a": None}})
    case("map: null for what is not there", cm, {"data": {"z": None}})
    case("map: null removes a map", cm, {"data": None})
    case("map: null removes a map that is not there", cm, {"binaryData": None})
    case("map: a new map", cm, {"binaryData": {"k": "AA=="}})
    case("map: a new map with a null", cm, {"binaryData": {"k": "AA==", "l": None}})
    case("map: an empty patch", cm, {})
    case("map: an empty map as patch", cm, {"data": {}})
    case("map: a new empty map", cm, {"binaryData": {}})
    case("map: a scalar in place of a map", cm, {"data": "x"})
    case("map: a map in place of a scalar", cm, {"data": {"a": {"b": "c"}}})
    case("map: a number in place of a string", cm, {"data": {"a": 1}})
    case("map: labels", cm, metadata(labels={"x": None, "z": "3"}))
    case("map: the key has a slash and a tilde", cm, metadata(labels={"a/b": "1", "c~d": "2"}))
    case("map: replace", cm, {"data": {"$patch": "replace", "c": "3"}})
    case("map: replace with nothing", cm, {"data": {"$patch": "replace"}})
    case("map: replace with a null", cm, {"data": {"$patch": "replace", "c": None, "d": "4"}})
    case("map: delete", cm, {"data": {"$patch": "delete"}})
    case("map: delete ignores the rest", cm, {"data": {"$patch": "delete", "c": "3"}})
    case("map: replace of what is not there", cm, {"binaryData": {"$patch": "replace", "k": "AA=="}})
    case("map: delete of what is not there", cm, {"binaryData": {"$patch": "delete"}})
    case("map: merge is no directive here", cm, {"data": {"$patch": "merge", "c": "3"}})
    case("map: an unknown directive", cm, {"data": {"$patch": "bogus", "c": "3"}})
    case("map: a directive that is a number", cm, {"data": {"$patch": 7}})
    case("map: a directive that is null", cm, {"data": {"$patch": None}})
    case("map: a directive that is true", cm, {"data": {"$patch": True}})
    case("map: a directive that is a list", cm, {"data": {"$patch": ["replace"]}})
    case("map: a directive deep inside a new map", cm, {"binaryData": {"k": {"$patch": "delete"}, "l": "x"}})
    case("top: replace", cm, {"$patch": "replace", "apiVersion": "v1", "kind": "ConfigMap",
                              "metadata": {"name": "new"}, "data": {"only": "this"}})
    secret = obj("v1", "Secret", data={"p": "cA=="}, type="Opaque")
    case("secret: stringData beside data", secret, {"stringData": {"q": "r"}, "data": {"p": "cQ=="}})
    case("secret: an immutable flag", secret, {"immutable": True})


def retain_keys():
    recreate = deployment({"containers": images("a")}, strategy={"type": "Recreate"})
    rolling = deployment({"containers": images("a")}, strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}})
    case("retainKeys: switch the strategy", rolling, spec(strategy={"$retainKeys": ["type"], "type": "Recreate"}))
    case("retainKeys: without it both stay", rolling, spec(strategy={"type": "Recreate"}))
    case("retainKeys: the other way", recreate, spec(strategy={
        "$retainKeys": ["type", "rollingUpdate"], "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}))
    case("retainKeys: a member that is not retained", rolling, spec(strategy={
        "$retainKeys": ["type"], "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}))
    case("retainKeys: no list", rolling, spec(strategy={"$retainKeys": "type", "type": "Recreate"}))
    case("retainKeys: empty", rolling, spec(strategy={"$retainKeys": []}))
    case("retainKeys: null for a member that goes anyway", rolling, spec(strategy={
        "$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}))
    case("retainKeys: names what is not there", rolling, spec(strategy={"$retainKeys": ["type", "foo"]}))
    case("retainKeys: an item that is a number", rolling, spec(strategy={"$retainKeys": ["type", 1]}))
    case("retainKeys: works on every map", recreate, metadata(**{"$retainKeys": ["name"], "name": "it"}))
    volumes = pod(containers=images("a"), volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/w"}}])
    case("volumes: another source without retainKeys", volumes, spec(volumes=[{"name": "v", "configMap": {"name": "c"}}]))
    case("volumes: another source with retainKeys", volumes, spec(volumes=[
        {"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "c"}}]))
    case("volumes: retainKeys without the name", volumes, spec(volumes=[
        {"name": "v", "$retainKeys": ["configMap"], "configMap": {"name": "c"}}]))
    case("volumes: null for the old source", volumes, spec(volumes=[
        {"name": "v", "emptyDir": None, "configMap": {"name": "c"}}]))
    case("volumes: a new one with retainKeys", volumes, spec(volumes=[
        {"name": "n", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}]))
    case("volumes: replace one", volumes, spec(volumes=[
        {"name": "v", "$patch": "delete"}, {"name": "v", "secret": {"secretName": "s"}}]))
    case("volumes: merge inside one", volumes, spec(volumes=[{"name": "w", "hostPath": {"type": "Directory"}}]))
    claim = pod(containers=images("a"), volumes=[{"name": "e", "ephemeral": {"volumeClaimTemplate": {
        "metadata": {"finalizers": ["x/y"]}, "spec": {"accessModes": ["ReadWriteOnce"]}}}}])
    case("volumes: finalizers of an ephemeral claim", claim, spec(volumes=[{"name": "e", "ephemeral": {
        "volumeClaimTemplate": {"metadata": {"finalizers": ["z/z"]}, "spec": {"accessModes": ["ReadOnlyMany"]}}}}]))


def containers():
    two = pod(containers=images("a", "b"))
    case("containers: change one", two, spec(containers=[{"name": "b", "image": "b:2"}]))
    case("containers: change all, other order", two, spec(containers=[
        {"name": "b", "image": "b:2"}, {"name": "a", "image": "a:2"}]))
    case("containers: add one", two, spec(containers=[{"name": "c", "image": "c:1"}]))
    case("containers: add one before a known one", two, spec(containers=[{"name": "c"}, {"name": "b"}]))
    case("containers: add one after a known one", two, spec(containers=[{"name": "b"}, {"name": "c"}]))
    case("containers: add one after the first", two, spec(containers=[{"name": "a"}, {"name": "c"}]))
    case("containers: an empty list", two, spec(containers=[]))
    case("containers: null", two, spec(containers=None))
    case("containers: delete one", two, spec(containers=[{"name": "a", "$patch": "delete"}]))
    case("containers: delete all", two, spec(containers=[
        {"name": "a", "$patch": "delete"}, {"name": "b", "$patch": "delete"}]))
    case("containers: delete what is not there", two, spec(containers=[{"name": "z", "$patch": "delete"}]))
    case("containers: delete and add the same", two, spec(containers=[
        {"name": "a", "$patch": "delete"}, {"name": "a", "image": "new"}]))
    case("containers: delete without the key", two, spec(containers=[{"$patch": "delete"}]))
    case("containers: replace all", two, spec(containers=[{"$patch": "replace"}, {"name": "z", "image": "z:1"}]))
    case("containers: replace by nothing", two, spec(containers=[{"$patch": "replace"}]))
    case("containers: replace, mark at the end", two, spec(containers=[{"name": "z", "image": "z:1"}, {"$patch": "replace"}]))
    case("containers: replace by some in any order", two, spec(containers=[
        {"$patch": "replace"}, {"name": "z"}, {"name": "a"}, {"name": "k"}]))
    case("containers: merge cannot be said", two, spec(containers=[{"$patch": "merge", "name": "a"}]))
    case("containers: an unknown directive", two, spec(containers=[{"$patch": "bogus", "name": "a"}]))
    case("containers: no merge key", two, spec(containers=[{"image": "x"}]))
    case("containers: no merge key, a nested item", two, spec(containers=[
        {"env": [{"name": "A", "value": "1"}], "resources": {"limits": {"cpu": 1}}, "tty": True}]))
    case("containers: the same twice in the patch", two, spec(containers=[
        {"name": "c", "image": "c:1"}, {"name": "c", "tty": True}]))
    case("containers: not a list", two, spec(containers={"name": "a"}))
    case("containers: a list of strings", two, spec(containers=["a"]))
    case("containers: a list of lists", two, spec(containers=[["a"]]))
    case("containers: mixed items", two, spec(containers=[{"name": "a"}, "b"]))
    case("containers: the merge key has another type", two, spec(containers=[{"name": 1, "image": "x"}]))
    case("containers: strings into an empty list", pod(containers=[]), spec(containers=["a"]))
    case("containers: into an empty list", pod(containers=[]), spec(containers=images("a")))
    case("containers: into nothing", pod(), spec(containers=images("a")))
    case("containers: into nothing, with a deletion", pod(), spec(containers=images("a") + [
        {"name": "b", "$patch": "delete"}]))
    case("containers: into nothing, with a replace", pod(), spec(containers=[{"$patch": "replace"}] + images("a")))
    case("containers: into nothing, nested nulls", pod(), spec(containers=[{"name": "a", "tty": None, "env": [
        {"name": "A", "value": None}]}]))
    case("containers: a new one with nulls and directives", two, spec(containers=[{"name": "c", "tty": None, "env": [
        {"name": "A", "value": "1"}, {"name": "B", "$patch": "delete"}], "resources": {"$patch": "replace", "limits": {"cpu": 1}}}]))
    case("containers: one live item without the key", pod(containers=[{"image": "x"}, {"name": "b"}]),
         spec(containers=[{"name": "b", "image": "y"}]))
    case("containers: live items with the same key", pod(containers=[
        {"name": "a", "image": "1"}, {"name": "b"}, {"name": "a", "image": "2"}]), spec(containers=[{"name": "a", "image": "3"}]))
    case("containers: delete live items with the same key", pod(containers=[
        {"name": "a", "image": "1"}, {"name": "b"}, {"name": "a", "image": "2"}]), spec(containers=[
            {"name": "a", "$patch": "delete"}]))
    five = pod(containers=images("a", "b", "c", "d", "e"))
    case("containers: five, two changed in reverse", five, spec(containers=named("d", "b")))
    case("containers: five, three changed, one new", five, spec(containers=named("e", "x", "a", "c")))
    case("containers: five, new ones between", five, spec(containers=named("x", "b", "y", "d", "z")))
    case("containers: five, delete two, add two", five, spec(containers=[
        {"name": "b", "$patch": "delete"}, {"name": "x"}, {"name": "d", "$patch": "delete"}, {"name": "y"}]))
    init = pod(initContainers=images("i", "j"), containers=images("a"), ephemeralContainers=images("d"))
    case("initContainers: change one", init, spec(initContainers=[{"name": "j", "restartPolicy": "Always"}]))
    case("ephemeralContainers: env of one", init, spec(ephemeralContainers=[
        {"name": "d", "env": [{"name": "A", "value": "1"}]}, {"name": "f", "image": "f:1"}]))
    case("containers: probes merge", pod(containers=[{"name": "a", "livenessProbe": {
        "httpGet": {"path": "/", "port": 80}, "periodSeconds": 5}}]), spec(containers=[
            {"name": "a", "livenessProbe": {"httpGet": {"path": "/live"}}}]))
    case("containers: one probe for another", pod(containers=[{"name": "a", "livenessProbe": {
        "httpGet": {"path": "/", "port": 80}, "periodSeconds": 5}}]), spec(containers=[
            {"name": "a", "livenessProbe": {"$patch": "replace", "exec": {"command": ["true"]}}}]))
    case("containers: command is atomic", pod(containers=[{"name": "a", "command": ["x", "y"], "args": ["1"]}]),
         spec(containers=[{"name": "a", "command": ["z"]}]))
    case("containers: resources", pod(containers=[{"name": "a", "resources": {
        "limits": {"cpu": "1", "memory": "1Gi"}}}]), spec(containers=[{"name": "a", "resources": {
            "limits": {"cpu": "2", "memory": None}, "requests": {"cpu": "1"}}}]))
    case("containers: envFrom is atomic", pod(containers=[{"name": "a", "envFrom": [{"prefix": "A"}]}]),
         spec(containers=[{"name": "a", "envFrom": [{"prefix": "B"}]}]))


def inside_containers():
    env = pod(containers=[{"name": "a", "env": [
        {"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "C", "value": "3"}]}])

    def in_a(**fields):
        return spec(containers=[{"name": "a", **fields}])

    case("env: change", env, in_a(env=[{"name": "C", "value": "4"}]))
    case("env: from valueFrom to value", env, in_a(env=[{"name": "B", "valueFrom": None, "value": "2"}]))
    case("env: both value and valueFrom stay", env, in_a(env=[{"name": "B", "value": "2"}]))
    case("env: new ones around", env, in_a(env=[{"name": "Z", "value": "0"}, {"name": "B"}, {"name": "Y", "value": "9"}]))
    case("env: delete", env, in_a(env=[{"name": "B", "$patch": "delete"}]))
    case("env: replace", env, in_a(env=[{"$patch": "replace"}, {"name": "N", "value": "n"}]))
    case("env: set order", env, in_a(**{"$setElementOrder/env": named("C", "B", "A")}))
    case("env: set order of a part", env, in_a(**{"$setElementOrder/env": named("C", "A")}))
    case("env: no merge key", env, in_a(env=[{"value": "4"}]))
    ports = pod(containers=[{"name": "a", "ports": [
        {"containerPort": 80, "protocol": "TCP", "name": "http"}, {"containerPort": 443}, {"containerPort": 80, "protocol": "UDP"}]}])
    case("ports: change", ports, in_a(ports=[{"containerPort": 443, "name": "https"}]))
    case("ports: two with one number", ports, in_a(ports=[{"containerPort": 80, "name": "web"}]))
    case("ports: delete both with one number", ports, in_a(ports=[{"containerPort": 80, "$patch": "delete"}]))
    case("ports: add", ports, in_a(ports=[{"containerPort": 8080}]))
    case("ports: no merge key", ports, in_a(ports=[{"name": "x"}]))
    case("ports: a number as string is another key", ports, in_a(ports=[{"containerPort": "443", "name": "s"}]))
    mounts = pod(containers=[{"name": "a", "volumeMounts": [
        {"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b", "subPath": "b"}],
        "volumeDevices": [{"name": "d", "devicePath": "/dev/x"}]}])
    case("volumeMounts: by path, not by name", mounts, in_a(volumeMounts=[{"name": "w", "mountPath": "/b"}]))
    case("volumeMounts: add", mounts, in_a(volumeMounts=[{"name": "v", "mountPath": "/c"}]))
    case("volumeMounts: delete", mounts, in_a(volumeMounts=[{"mountPath": "/a", "$patch": "delete"}]))
    case("volumeMounts: no merge key", mounts, in_a(volumeMounts=[{"name": "v"}]))
    case("volumeDevices: by path", mounts, in_a(volumeDevices=[{"name": "e", "devicePath": "/dev/x"}, {"name": "f", "devicePath": "/dev/y"}]))
    case("env: null removes the list", env, in_a(env=None))
    case("env: in two containers at once", pod(containers=[
        {"name": "a", "env": [{"name": "A", "value": "1"}]}, {"name": "b", "env": [{"name": "A", "value": "1"}]}]),
        spec(containers=[{"name": "b", "env": [{"name": "A", "value": "2"}]}, {"name": "a", "env": [{"name": "X", "value": "3"}]}]))


def element_order():
    abc = pod(containers=images("a", "b", "c"))

    def order(*names, **fields):
        return spec(**{"$setElementOrder/containers": named(*names)}, **fields)

    case("order: only the order", abc, order("c", "a", "b"))
    case("order: a part of it", abc, order("c", "a"))
    case("order: one", abc, order("b"))
    case("order: names what is not there", abc, order("x", "c", "a"))
    case("order: with a change", abc, order("c", "b", "a", containers=[{"name": "b", "image": "b:2"}]))
    case("order: with an addition in front", abc, order("x", "a", "b", "c", containers=images("x")))
    case("order: with an addition at the end", abc, order("a", "b", "c", "x", containers=images("x")))
    case("order: with an addition, live items not named", abc, order("a", "x", containers=images("x")))
    case("order: only the addition is named", abc, order("x", containers=images("x")))
    case("order: a deletion", abc, order("c", "a", containers=[{"name": "b", "$patch": "delete"}]))
    case("order: a deletion and an addition", abc, order("x", containers=images("x") + [{"name": "a", "$patch": "delete"}]))
    case("order: the last deleted, one added", abc, order("x", containers=images("x") + [{"name": "c", "$patch": "delete"}]))
    case("order: two deleted, one added", abc, order("x", containers=images("x") + [
        {"name": "a", "$patch": "delete"}, {"name": "b", "$patch": "delete"}]))
    case("order: one deleted, two added", abc, order("x", "y", containers=images("x", "y") + [{"name": "a", "$patch": "delete"}]))
    case("order: one deleted, two added around a live one", abc, order("x", "b", "y", containers=images("x", "y") + [
        {"name": "a", "$patch": "delete"}]))
    case("order: deleted and added again", abc, order("a", containers=[{"name": "a", "$patch": "delete"}, {"name": "a", "image": "new"}]))
    case("order: the patch's order does not fit", abc, order("a", "b", containers=images("b", "a")))
    case("order: the patch has one more", abc, order("a", containers=images("a", "x")))
    case("order: an empty order", abc, order())
    case("order: an empty order with an addition", abc, order(containers=images("x")))
    case("order: an empty order with two additions", abc, order(containers=images("x", "y")))
    case("order: an empty order, additions around a live one", abc, order(containers=images("x", "b", "y")))
    case("order: replace", abc, order("x", "y", containers=[{"$patch": "replace"}] + images("x", "y")))
    case("order: replace with the mark at the end", abc, order("x", "y", containers=images("x", "y") + [{"$patch": "replace"}]))
    case("order: replace, the mark at the end, a longer order", abc, order("x", "y", "z", containers=images("x", "y") + [{"$patch": "replace"}]))
    case("order: no list", abc, spec(**{"$setElementOrder/containers": "a"}))
    case("order: null", abc, spec(**{"$setElementOrder/containers": None}))
    case("order: without the field", abc, spec(**{"$setElementOrder": named("a")}))
    case("order: a longer name", abc, spec(**{"$setElementOrderX/containers": named("a")}))
    case("order: items without the key", abc, spec(**{"$setElementOrder/containers": [{"image": "a"}]}))
    case("order: items that are strings", abc, spec(**{"$setElementOrder/containers": ["a"]}))
    case("order: items without the key, with a change", abc, order(containers=images("a"), **{}) | spec(
        containers=images("a"), **{"$setElementOrder/containers": [{"image": "a"}]}))
    case("order: the list is null in the patch", abc, order("a", containers=None))
    case("order: the list is a map in the patch", abc, order("a", containers={"name": "a"}))
    case("order: the live list is a map", pod(containers={"name": "a"}), order("a"))
    case("order: no live list", pod(), order("b", "a", containers=images("b", "a")))
    case("order: no live list, deletions go", pod(), order("b", "a", containers=images("b", "a") + [{"name": "c", "$patch": "delete"}]))
    case("order: no list at all", pod(), order("b", "a"))
    case("order: the live list is empty", pod(containers=[]), order("b", "a"))
    case("order: the live list is empty, an addition", pod(containers=[]), order("b", "a", containers=images("b", "a")))
    many = pod(containers=images(*(f"c{i:02}" for i in range(30))))
    case("order: thirty, every third named in reverse", many, order(*(f"c{i:02}" for i in range(27, -1, -3))))
    case("order: thirty, some new, some deleted", many, order("x", "c20", "y", "c03", "z", containers=images("x", "y", "z") + [
        {"name": "c05", "$patch": "delete"}, {"name": "c29", "$patch": "delete"}]))
    case("order: thirty, an empty order with thirty additions", many, order(containers=images(
        *(f"x{i:02}" for i in range(15)), "c10", "c04", *(f"y{i:02}" for i in range(15)))))
    case("order: atomic list with an order", pod(containers=images("a"), tolerations=[{"key": "a"}, {"key": "b"}]),
         spec(**{"$setElementOrder/tolerations": []}))
    nested = pod(containers=[{"name": "a", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}, {"name": "b"}])
    case("order: nested in one another", nested, order("b", "a", containers=[
        {"name": "b", "image": "b:2"},
        {"name": "a", "$setElementOrder/env": named("B", "C", "A"), "env": [{"name": "C", "value": "3"}]}]))


def primitives():
    finalizers = obj("v1", "Namespace", metadata={"finalizers": ["a/a", "b/b", "c/c"]})
    case("finalizers: add", finalizers, metadata(finalizers=["d/d"]))
    case("finalizers: add known ones", finalizers, metadata(finalizers=["c/c", "a/a"]))
    case("finalizers: known and new", finalizers, metadata(finalizers=["x/x", "b/b", "y/y"]))
    case("finalizers: twice in the patch", finalizers, metadata(finalizers=["x/x", "x/x"]))
    case("finalizers: empty", finalizers, metadata(finalizers=[]))
    case("finalizers: null", finalizers, metadata(finalizers=None))
    case("finalizers: numbers among strings", finalizers, metadata(finalizers=[1]))
    case("finalizers: objects among strings", finalizers, metadata(finalizers=[{"name": "x"}]))
    case("finalizers: lists among strings", finalizers, metadata(finalizers=[["x"]]))
    case("finalizers: delete", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": ["b/b"]}))
    case("finalizers: delete two", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": ["c/c", "a/a"]}))
    case("finalizers: delete all", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": ["a/a", "b/b", "c/c"]}))
    case("finalizers: delete what is not there", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": ["z/z"]}))
    case("finalizers: delete nothing", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": []}))
    case("finalizers: delete and add", finalizers, metadata(
        finalizers=["d/d"], **{"$deleteFromPrimitiveList/finalizers": ["a/a"]}))
    case("finalizers: delete, add and order", finalizers, metadata(finalizers=["d/d"], **{
        "$deleteFromPrimitiveList/finalizers": ["a/a"], "$setElementOrder/finalizers": ["d/d", "c/c", "b/b"]}))
    case("finalizers: order", finalizers, metadata(**{"$setElementOrder/finalizers": ["c/c", "a/a"]}))
    case("finalizers: order with an addition", finalizers, metadata(finalizers=["x/x"], **{
        "$setElementOrder/finalizers": ["c/c", "x/x", "a/a"]}))
    case("finalizers: the order lacks the addition", finalizers, metadata(finalizers=["x/x"], **{
        "$setElementOrder/finalizers": ["c/c", "a/a"]}))
    case("finalizers: empty order with additions", finalizers, metadata(finalizers=["x/x", "y/y"], **{
        "$setElementOrder/finalizers": []}))
    case("finalizers: the directive without a field", finalizers, metadata(**{"$deleteFromPrimitiveList": ["b/b"]}))
    case("finalizers: the directive with an empty field", finalizers, metadata(**{"$deleteFromPrimitiveList/": ["b/b"]}))
    case("finalizers: the directive is a string", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": "b/b"}))
    case("finalizers: the directive is null", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": None}))
    case("finalizers: the directive has numbers", finalizers, metadata(**{"$deleteFromPrimitiveList/finalizers": [1]}))
    case("finalizers: no live list", obj("v1", "Namespace"), metadata(finalizers=["b/b", "a/a"]))
    case("finalizers: delete without a live list", obj("v1", "Namespace"), metadata(**{"$deleteFromPrimitiveList/finalizers": ["b/b"]}))
    case("a list that is not merged: delete from it", obj("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}), spec(**{"$deleteFromPrimitiveList/accessModes": ["ReadOnlyMany"]}))
    case("a list that is not merged: replaced", obj("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}), spec(accessModes=["ReadWriteMany"]))
    case("a list that is not merged: the same", obj("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["ReadWriteOnce"]}), spec(accessModes=["ReadWriteOnce"]))
    node = obj("v1", "Node", spec={"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]})
    case("podCIDRs: add", node, spec(podCIDRs=["fd00::/64"]))


def other_lists():
    owned = obj("v1", "ConfigMap", metadata={"ownerReferences": [
        {"uid": "1", "kind": "A", "name": "a", "apiVersion": "v1"}, {"uid": "2", "kind": "B", "name": "b", "apiVersion": "v1"}]})
    case("ownerReferences: by uid", owned, metadata(ownerReferences=[{"uid": "2", "controller": True}]))
    case("ownerReferences: another uid", owned, metadata(ownerReferences=[{"uid": "3", "kind": "C", "name": "a", "apiVersion": "v1"}]))
    case("ownerReferences: delete", owned, metadata(ownerReferences=[{"uid": "1", "$patch": "delete"}]))
    case("ownerReferences: no uid", owned, metadata(ownerReferences=[{"name": "a"}]))
    managed = obj("v1", "ConfigMap", metadata={"managedFields": [{"manager": "a"}, {"manager": "b"}]})
    case("managedFields: replaced", managed, metadata(managedFields=[{"manager": "c"}]))
    case("managedFields: emptied", managed, metadata(managedFields=[{}]))
    service = obj("v1", "Service", spec={"selector": {"app": "a"}, "externalIPs": ["1.1.1.1"], "ports": [
        {"port": 80, "name": "http", "targetPort": 8080}, {"port": 443, "name": "https"}]})
    case("service: change a port", service, spec(ports=[{"port": 80, "targetPort": "web"}]))
    case("service: add a port", service, spec(ports=[{"port": 22, "name": "ssh"}]))
    case("service: delete a port", service, spec(ports=[{"port": 443, "$patch": "delete"}]))
    case("service: replace the ports", service, spec(ports=[{"$patch": "replace"}, {"port": 1}]))
    case("service: order of ports", service, spec(**{"$setElementOrder/ports": [{"port": 443}, {"port": 80}]}))
    case("service: a port without number", service, spec(ports=[{"name": "http"}]))
    case("service: selector", service, spec(selector={"app": None, "tier": "x"}))
    case("service: externalIPs are atomic", service, spec(externalIPs=["2.2.2.2"]))
    case("service: status conditions", obj("v1", "Service", status={"conditions": [{"type": "A", "status": "True"}]}),
         {"status": {"conditions": [{"type": "B", "status": "True"}, {"type": "A", "status": "False"}]}})
    account = obj("v1", "ServiceAccount", secrets=named("a", "b"), imagePullSecrets=named("x"))
    case("serviceaccount: secrets merge", account, {"secrets": named("c")})
    case("serviceaccount: delete a secret", account, {"secrets": [{"name": "a", "$patch": "delete"}]})
    case("serviceaccount: imagePullSecrets are atomic", account, {"imagePullSecrets": named("y")})
    specs = pod(containers=images("a"), imagePullSecrets=named("x", "y"), tolerations=[{"key": "k", "operator": "Exists"}],
                hostAliases=[{"ip": "1.1.1.1", "hostnames": ["a"]}], schedulingGates=named("g"),
                topologySpreadConstraints=[{"topologyKey": "zone", "maxSkew": 1}, {"topologyKey": "host", "maxSkew": 2}],
                resourceClaims=[{"name": "r", "resourceClaimName": "x"}], nodeSelector={"a": "b"},
                readinessGates=[{"conditionType": "c"}], affinity={"nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}})
    case("pod: imagePullSecrets merge", specs, spec(imagePullSecrets=named("z")))
    case("pod: tolerations are atomic", specs, spec(tolerations=[{"key": "l"}]))
    case("pod: tolerations, a marked item", specs, spec(tolerations=[{"key": "k", "$patch": "delete"}]))
    case("pod: hostAliases by ip", specs, spec(hostAliases=[{"ip": "1.1.1.1", "hostnames": ["b"]}]))
    case("pod: schedulingGates", specs, spec(schedulingGates=[{"name": "g", "$patch": "delete"}]))
    case("pod: topologySpreadConstraints by key", specs, spec(topologySpreadConstraints=[{"topologyKey": "host", "maxSkew": 3}]))
    case("pod: resourceClaims with retainKeys", specs, spec(resourceClaims=[
        {"name": "r", "$retainKeys": ["name", "resourceClaimTemplateName"], "resourceClaimTemplateName": "t"}]))
    case("pod: readinessGates are atomic", specs, spec(readinessGates=[{"conditionType": "d"}]))
    case("pod: affinity terms are atomic", specs, spec(affinity={"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 2}]}, "podAffinity": {}}))
    case("pod: nodeSelector", specs, spec(nodeSelector={"c": "d"}))
    status = obj("v1", "Pod", status={"conditions": [{"type": "Ready", "status": "False"}, {"type": "Init", "status": "True"}],
                                      "podIPs": [{"ip": "10.0.0.1"}], "hostIPs": [{"ip": "1.1.1.1"}],
                                      "containerStatuses": [{"name": "a"}, {"name": "b"}],
                                      "resourceClaimStatuses": [{"name": "r", "resourceClaimName": "x"}]})
    case("pod status: conditions by type", status, {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    case("pod status: IPs", status, {"status": {"podIPs": [{"ip": "fd00::1"}], "hostIPs": [{"ip": "1.1.1.1"}]}})
    case("pod status: containerStatuses are atomic", status, {"status": {"containerStatuses": [{"name": "b", "ready": True}]}})
    case("pod status: resourceClaimStatuses", status, {"status": {"resourceClaimStatuses": [{"name": "q"}]}})
    node = obj("v1", "Node", spec={"taints": [{"key": "a"}]}, status={
        "addresses": [{"type": "InternalIP", "address": "1"}, {"type": "Hostname", "address": "h"}],
        "conditions": [{"type": "Ready", "status": "True"}], "images": [{"names": ["a"]}]})
    case("node: taints are atomic", node, spec(taints=[{"key": "b"}]))
    case("node: addresses by type", node, {"status": {"addresses": [{"type": "Hostname", "address": "i"}, {"type": "ExternalIP", "address": "2"}]}})
    case("node: conditions and images", node, {"status": {"conditions": [{"type": "Disk", "status": "x"}], "images": []}})


def other_kinds():
    app = deployment({"containers": images("a", "b"), "volumes": [{"name": "v", "emptyDir": {}}]}, replicas=1,
                     selector={"matchLabels": {"app": "a"}})
    case("deployment: image", app, spec(template={"spec": {"containers": [{"name": "a", "image": "a:2"}]}}))
    case("deployment: replicas", app, spec(replicas=3))
    case("deployment: template annotations", app, spec(template={"metadata": {"annotations": {"restartedAt": "now"}}}))
    case("deployment: matchExpressions are atomic", app, spec(selector={"matchExpressions": [{"key": "x"}]}))
    case("deployment: conditions", obj("apps/v1", "Deployment", status={"conditions": [{"type": "A"}, {"type": "B"}]}),
         {"status": {"conditions": [{"type": "B", "status": "True"}, {"type": "C"}]}})
    case("deployment: as kubectl apply would send it", app, spec(
        template={"spec": {"$setElementOrder/containers": named("b", "c"), "$setElementOrder/volumes": named("w"), "containers": [
            {"name": "c", "image": "c:1"}, {"name": "a", "$patch": "delete"}], "volumes": [
                {"$retainKeys": ["name", "secret"], "name": "w", "secret": {"secretName": "s"}}, {"name": "v", "$patch": "delete"}]}}))
    for kind in ("StatefulSet", "DaemonSet", "ReplicaSet"):
        workload = obj("apps/v1", kind, spec={"template": {"spec": {"containers": images("a", "b")}}},
                       status={"conditions": [{"type": "A"}]})
        case(f"{kind}: image and condition", workload, {
            "spec": {"template": {"spec": {"containers": [{"name": "b", "image": "b:2"}]}}}, "status": {"conditions": [{"type": "B"}]}})
    case("StatefulSet: volumeClaimTemplates are atomic", obj("apps/v1", "StatefulSet", spec={
        "volumeClaimTemplates": [{"metadata": {"name": "d"}}, {"metadata": {"name": "e"}}]}), spec(
            volumeClaimTemplates=[{"metadata": {"name": "f"}}]))
    case("ReplicationController: image", obj("v1", "ReplicationController", spec={"template": {"spec": {"containers": images("a", "b")}}}),
         spec(template={"spec": {"containers": [{"name": "b", "image": "b:2"}]}}))
    case("PodTemplate: image", obj("v1", "PodTemplate", template={"spec": {"containers": images("a", "b")}}),
         {"template": {"spec": {"containers": [{"name": "b", "image": "b:2"}]}}})
    case("Job: image", obj("batch/v1", "Job", spec={"template": {"spec": {"containers": images("a", "b")}}}, status={
        "conditions": [{"type": "Complete"}]}), {"spec": {"template": {"spec": {"containers": [{"name": "b", "image": "b:2"}]}}},
                                                 "status": {"conditions": [{"type": "Failed"}]}})
    case("CronJob: image", obj("batch/v1", "CronJob", spec={"jobTemplate": {"spec": {"template": {"spec": {
        "containers": images("a", "b")}}}}}), spec(jobTemplate={"metadata": {"finalizers": ["x/x"]}, "spec": {"template": {
            "spec": {"containers": [{"name": "b", "image": "b:2"}]}}}}))
    budget = obj("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}})
    case("PodDisruptionBudget: selector is replaced", budget, spec(selector={"matchLabels": {"c": "d"}}))
    case("PodDisruptionBudget: selector with a null", budget, spec(selector={"matchLabels": None, "matchExpressions": []}))
    case("PodDisruptionBudget: selector with a directive", budget, spec(selector={"$patch": "delete"}))
    case("Ingress: rules are atomic", obj("networking.k8s.io/v1", "Ingress", spec={"rules": [{"host": "a"}], "tls": [{"secretName": "s"}]}),
         spec(rules=[{"host": "b"}]))
    case("NetworkPolicy: ingress is atomic", obj("networking.k8s.io/v1", "NetworkPolicy", spec={
        "podSelector": {"matchLabels": {"a": "b"}}, "ingress": [{}]}), spec(ingress=[], podSelector={"matchLabels": {"c": "d"}}))
    case("Role: rules are atomic", obj("rbac.authorization.k8s.io/v1", "Role", rules=[{"verbs": ["get"]}]), {"rules": [{"verbs": ["list"]}]})
    case("RoleBinding: subjects are atomic", obj("rbac.authorization.k8s.io/v1", "RoleBinding", subjects=named("a")), {"subjects": named("b")})
    case("Endpoints: subsets are atomic", obj("v1", "Endpoints", subsets=[{"addresses": [{"ip": "1"}]}]), {"subsets": [{"ports": [{"port": 1}]}]})
    scaler = obj("autoscaling/v2", "HorizontalPodAutoscaler", spec={"maxReplicas": 3, "metrics": [{"type": "Resource"}]}, status={
        "conditions": [{"type": "AbleToScale"}]})
    case("HorizontalPodAutoscaler: metrics atomic, conditions merged", scaler, {
        "spec": {"metrics": [{"type": "Pods"}]}, "status": {"conditions": [{"type": "ScalingActive"}]}})
    hooks = obj("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks=[
        {"name": "a", "rules": [{"operations": ["CREATE"]}], "matchConditions": [{"name": "m", "expression": "true"}]}, {"name": "b"}])
    case("webhooks: by name", hooks, {"webhooks": [{"name": "a", "rules": [{"operations": ["*"]}], "matchConditions": [
        {"name": "n", "expression": "false"}]}]})
    case("CSINode: drivers by name", obj("storage.k8s.io/v1", "CSINode", spec={"drivers": named("a", "b")}),
         spec(drivers=[{"name": "b", "nodeID": "x"}]))
    case("PersistentVolumeClaim: conditions", obj("v1", "PersistentVolumeClaim", status={"conditions": [{"type": "Resizing"}]}),
         {"status": {"conditions": [{"type": "FileSystemResizePending"}], "capacity": {"storage": "2Gi"}}})
    case("PersistentVolume: mountOptions are atomic", obj("v1", "PersistentVolume", spec={"mountOptions": ["a"]}), spec(mountOptions=["b"]))
    case("ResourceQuota: scopes are atomic", obj("v1", "ResourceQuota", spec={"scopes": ["A"], "hard": {"pods": "1"}}),
         spec(scopes=["B"], hard={"cpu": "2"}))
    case("LimitRange: limits are atomic", obj("v1", "LimitRange", spec={"limits": [{"type": "Pod"}]}), spec(limits=[{"type": "Container"}]))
    case("Event: a series", obj("v1", "Event", count=1, involvedObject={"kind": "Pod"}), {"count": 2, "involvedObject": {"name": "x"}})
    case("a kind that is not built in", obj("example.com/v1", "Widget", spec={"a": 1}), spec(a=2))


for group in (maps, retain_keys, containers, inside_containers, element_order, primitives, other_lists, other_kinds):
    group()

if __name__ == "__main__":
    kubectl_patch.write("strategic", CASES, "strategic_merge.json")
