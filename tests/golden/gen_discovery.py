#!/usr/bin/env python3
"""Writes discovery.json: the discovery documents that kube-apiserver 1.35 gives, from its own source tree.

Usage: gen_discovery.py   (needs go, to find the module k8s.io/kubernetes)
"""

import json
import pathlib
import subprocess

MODULE = "k8s.io/kubernetes@v1.35.8"


def main() -> None:
    found = subprocess.run(["go", "mod", "download", "-json", MODULE], check=True, capture_output=True, text=True)
    folder = pathlib.Path(json.loads(found.stdout)["Dir"]) / "api" / "discovery"
    documents = {}
    for path in sorted(folder.glob("*.json")):
        documents["/" + path.stem.replace("__", "/")] = json.loads(path.read_text())
    out = pathlib.Path(__file__).with_name("discovery.json")
    with open(out, "w", encoding="utf-8") as file:
        file.write("{\n")
        lines = [json.dumps(key) + ": " + json.dumps(value, sort_keys=True, separators=(",", ":")) for key, value in sorted(documents.items())]
        file.write(",\n".join(lines))
        file.write("\n}\n")


if __name__ == "__main__":
    main()
