#!/usr/bin/env python3
"""Writes json_patch.json: what `kubectl patch --local --type=json` makes of an object. See kubectl_patch.py."""

import kubectl_patch

OBJECT = {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "it", "labels": {"app": "a", "x/y": "slash", "m~n": "tilde"}, "annotations": {}},
    "spec": {
        "containers": [{"name": "a", "image": "a:1", "args": ["1", "2", "3"]}, {"name": "b", "image": "b:1"}],
        "hostNetwork": False, "priority": 0, "tolerations": [],
    },
}

CASES = []


def case(name, *operations):
    CASES.append((name, OBJECT, list(operations)))


def op(kind, path, **fields):
    return {"op": kind, "path": path, **fields}


def add(path, value):
    return op("add", path, value=value)


def remove(path):
    return op("remove", path)


def replace(path, value):
    return op("replace", path, value=value)


def test(path, value):
    return op("test", path, value=value)


def move(source, path):
    return {"op": "move", "from": source, "path": path}


def copy(source, path):
    return {"op": "copy", "from": source, "path": path}


case("no operations")
case("add: a member", add("/spec/nodeName", "n"))
case("add: over a member", add("/spec/priority", 7))
case("add: an object", add("/spec/nodeSelector", {"a": "b"}))
case("add: a null", add("/spec/nodeName", None))
case("add: an escaped slash", add("/metadata/labels/a~1b", "c"))
case("add: an escaped tilde", add("/metadata/labels/a~0b", "c"))
case("add: an empty key", add("/metadata/labels/", "c"))
case("add: at the front of an array", add("/spec/containers/0", {"name": "z"}))
case("add: in the middle of an array", add("/spec/containers/0/args/1", "x"))
case("add: at the end by index", add("/spec/containers/2", {"name": "z"}))
case("add: at the end by -", add("/spec/containers/-", {"name": "z"}))
case("add: into an empty array", add("/spec/tolerations/0", {"key": "k"}))
case("add: past the end", add("/spec/containers/3", {"name": "z"}))
case("add: parent missing", add("/spec/nodeSelector/a", "b"))
case("add: into a string", add("/metadata/name/x", "b"))
case("add: not an index", add("/spec/containers/x", {}))
case("add: a leading zero", add("/spec/containers/01", {"name": "z"}))
case("add: a negative index", add("/spec/containers/-1", {"name": "z"}))
case("add: without a value", op("add", "/spec/nodeName"))
case("add: a path without slash", add("spec/nodeName", "n"))
case("remove: a member", remove("/spec/hostNetwork"))
case("remove: an escaped member", remove("/metadata/labels/x~1y"))
case("remove: an item", remove("/spec/containers/0"))
case("remove: a whole list", remove("/spec/containers"))
case("remove: a missing member", remove("/spec/nodeName"))
case("remove: under a missing member", remove("/spec/nodeSelector/a"))
case("remove: past the end", remove("/spec/containers/2"))
case("remove: -", remove("/spec/containers/-"))
case("remove: a negative index", remove("/spec/containers/-1"))
case("remove: twice", remove("/spec/containers/0"), remove("/spec/containers/0"))
case("replace: a member", replace("/spec/containers/0/image", "a:2"))
case("replace: an item", replace("/spec/containers/1", {"name": "c"}))
case("replace: with another kind of value", replace("/metadata/labels", None))
case("replace: a missing member", replace("/spec/nodeName", "n"))
case("replace: past the end", replace("/spec/containers/2", {}))
case("replace: the whole object", replace("", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}}))
case("move: a member", move("/metadata/labels/app", "/metadata/annotations/app"))
case("move: an item to the front", move("/spec/containers/1", "/spec/containers/0"))
case("move: an item to the end", move("/spec/containers/0/args/0", "/spec/containers/0/args/-"))
case("move: to the same place", move("/metadata/labels/app", "/metadata/labels/app"))
case("move: from nowhere", move("/metadata/labels/none", "/metadata/labels/app"))
case("move: to nowhere", move("/metadata/labels/app", "/spec/nodeSelector/app"))
case("copy: a member", copy("/metadata/labels/app", "/metadata/annotations/app"))
case("copy: an item", copy("/spec/containers/0", "/spec/containers/-"))
case("copy: and change the copy", copy("/spec/containers/0", "/spec/containers/-"), replace("/spec/containers/2/name", "c"))
case("copy: from nowhere", copy("/metadata/labels/none", "/metadata/labels/app"))
case("test: equal", test("/metadata/labels/app", "a"), replace("/metadata/labels/app", "b"))
case("test: an equal object", test("/spec/containers/1", {"image": "b:1", "name": "b"}))
case("test: other value", test("/metadata/labels/app", "b"), replace("/metadata/labels/app", "c"))
case("test: other kind of value", test("/spec/priority", "0"))
case("test: false is not null", test("/spec/hostNetwork", None))
case("test: a missing member", test("/spec/nodeName", "n"))
case("test: a missing member is null", test("/spec/nodeName", None))
case("test: other order in an array", test("/spec/containers/0/args", ["2", "1", "3"]))
case("test: after a change", replace("/metadata/name", "new"), test("/metadata/name", "new"))
case("all or nothing", replace("/metadata/name", "new"), test("/metadata/name", "it"))
case("unknown op", op("frobnicate", "/spec"))
case("no op", {"path": "/spec"})
case("no path", {"op": "remove"})
case("unknown members are ignored", {**add("/spec/nodeName", "n"), "comment": "why"})

if __name__ == "__main__":
    kubectl_patch.write("json", CASES, "json_patch.json")
