"""Writes karmada_crds.json: the shape of Karmada's own CustomResourceDefinitions, without their words, to hold ours against.

    tests/golden/gen_karmada_crds.py DIR        # DIR: a checkout of github.com/karmada-io/karmada (v1.19)

Each row is a definition as kubectl reads it: names, scope, and of its newest version the subresources, columns and schema. Left out: what
has no effect (descriptions, list type atomic) and anyOf, which Karmada has beside x-kubernetes-int-or-string.
"""
import json
import pathlib
import subprocess
import sys

DROPPED = ("description", "anyOf")
GROUPS = ("apps", "config", "policy", "work")  # those with kinds that we serve
NOT_SERVED = ("federatedresourcequotas.policy.karmada.io",)


def shape(schema):
    made = {key: value for key, value in schema.items() if key not in DROPPED}
    if made.get("x-kubernetes-list-type") == "atomic":
        del made["x-kubernetes-list-type"]
    if "properties" in made:
        made["properties"] = {key: shape(value) for key, value in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = shape(made[key])
    if "required" in made:
        made["required"] = sorted(made["required"])
    return made


def main():
    bases = pathlib.Path(sys.argv[1]) / "charts/karmada/_crds/bases"
    rows = []
    for path in sorted(path for group in GROUPS for path in (bases / group).glob("*.yaml")):
        read = subprocess.run(["kubectl", "patch", "--local", "--type=merge", "-p", "{}", "-f", str(path), "-o", "json"], capture_output=True,
                              text=True, check=True)
        crd = json.loads(read.stdout)
        if crd["metadata"]["name"] in NOT_SERVED:
            continue
        version = crd["spec"]["versions"][-1]
        rows.append({"name": crd["metadata"]["name"], "names": crd["spec"]["names"], "scope": crd["spec"]["scope"], "version": version["name"],
                     "subresources": version.get("subresources", {}), "columns": version.get("additionalPrinterColumns", []),
                     "schema": shape(version["schema"]["openAPIV3Schema"])})
    target = pathlib.Path(__file__).with_name("karmada_crds.json")
    lines = ",\n".join(json.dumps(row, sort_keys=True, separators=(",", ":")) for row in rows)
    target.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
