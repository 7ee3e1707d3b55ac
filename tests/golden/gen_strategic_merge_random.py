#!/usr/bin/env python3
"""Writes strategic_merge_random.json: random pods and random patches with directives, and what kubectl made of them.

The numbers are drawn from a fixed seed. Not asked for is what depends on the random order of a Go map: an item that is
both added to and deleted from one list. Which of several errors comes first depends on it too, so only that there is
one can be compared. An argument is the number of rows, for a longer run by hand.
"""

import random
import sys

import kubectl_patch

ROWS = 250
RANDOM = random.Random(20240607)
NAMES = "abcdefgh"


def chance(percent):
    return RANDOM.randrange(100) < percent


def some(choices, most):
    return RANDOM.sample(choices, RANDOM.randrange(min(most, len(choices)) + 1))


def order(key, names):
    return [{key: name} for name in names]


def env(patch):
    items = [{"name": name, "value": str(RANDOM.randrange(3))} for name in some("xyz", 3)]
    if patch:
        items += [{"name": name, "$patch": "delete"} for name in some("xyz", 1)]
    return items


def containers(patch):
    items = []
    for name in some(NAMES, 5):
        item = {"name": name}
        if chance(50):
            item["image"] = f"{name}:{RANDOM.randrange(3)}"
        if chance(40):
            item["env"] = env(patch)
        if patch and chance(15):
            item["env"] = None
        if patch and chance(15):
            item["$setElementOrder/env"] = order("name", some("xyz", 3))
        items.append(item)
    if patch:
        items += [{"name": name, "$patch": "delete"} for name in some(NAMES, 3)]
        if chance(5):
            items.append({"$patch": "replace"})
        if chance(3):
            items.append({"image": "no name"})
        if chance(50):
            RANDOM.shuffle(items)
    return items


def volumes(patch):
    items = []
    for name in some(NAMES, 3):
        source = RANDOM.choice(["emptyDir", "secret", "configMap"])
        item = {"name": name, source: {"optional": True} if chance(50) else {}}
        if patch and chance(60):
            item["$retainKeys"] = ["name", source]
        items.append(item)
    return items


def finalizers(patch):
    names = [f"{name}/f" for name in some(NAMES, 8)]
    if not patch:
        return {"finalizers": names}
    half = len(names) // 2
    made = {"finalizers": names[:half]}
    if chance(50):
        made["$deleteFromPrimitiveList/finalizers"] = names[half:]
    if chance(40):
        made["$setElementOrder/finalizers"] = [name for name in names if name in names[:half] or chance(40)]
    return made


def pod(patch):
    spec = {}
    if chance(80):
        spec["containers"] = containers(patch)
    if chance(40):
        spec["volumes"] = volumes(patch)
    if chance(30):
        spec["tolerations"] = order("key", some(NAMES, 2))
    if chance(40):
        spec["nodeSelector"] = {name: str(RANDOM.randrange(3)) for name in some(NAMES, 3)}
        if patch and chance(30):
            spec["nodeSelector"].update({name: None for name in some(NAMES, 2)})
        if patch and chance(10):
            spec["nodeSelector"]["$patch"] = RANDOM.choice(["replace", "delete", "merge"])
    if patch and chance(40):
        in_patch = [item["name"] for item in spec.get("containers") or [] if "name" in item and "$patch" not in item]
        names = some(NAMES, 8)
        spec["$setElementOrder/containers"] = order("name", in_patch + [name for name in names if name not in in_patch]
                                                    if chance(70) else names)
    return {"spec": spec, "metadata": finalizers(patch)}


def cases(count):
    made = []
    for i in range(count):
        live = {"apiVersion": "v1", "kind": "Pod", **pod(False)}
        live["metadata"]["name"] = "it"
        made.append((str(i), live, pod(True)))
    return made


if __name__ == "__main__":
    kubectl_patch.write("strategic", cases(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS), "strategic_merge_random.json")
