#!/usr/bin/env python3
"""Writes quantity_kubectl.json: quantities, and what the real kubectl makes of them.

{in, canonical | error}: the value that `kubectl create quota --hard=x=IN --dry-run=client -o json` prints, or its message. The
inputs are those of quantity.json, which has more columns than kubectl shows (made by scalars/, with the library kubectl uses).
"""

import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def quota(values):
    hard = ",".join(f"x{i}={value}" for i, value in enumerate(values))
    return subprocess.run(["kubectl", "create", "quota", "q", f"--hard={hard}", "--dry-run=client", "-o", "json"],
                          capture_output=True, text=True, check=False)


def row(value):
    done = quota([value])
    if done.returncode != 0:
        return {"in": value, "error": done.stderr.strip().removeprefix("error: ")}
    return {"in": value, "canonical": json.loads(done.stdout)["spec"]["hard"]["x0"]}


def rows(values):
    """All at once where all are right; halves where one is not."""
    if len(values) == 1:
        return [row(values[0])]
    done = quota(values)
    if done.returncode == 0:
        hard = json.loads(done.stdout)["spec"]["hard"]
        return [{"in": value, "canonical": hard[f"x{i}"]} for i, value in enumerate(values)]
    half = len(values) // 2
    return rows(values[:half]) + rows(values[half:])


def main():
    with open(os.path.join(HERE, "quantity.json"), encoding="utf-8") as file:
        inputs = [parsed["in"] for parsed in json.load(file)["parse"]]
    # The flag's own syntax: these cannot be given to it, or not as they are.
    inputs = [text for text in inputs if text and text == text.strip() and not set(text) & set(',="\n')]
    with open(os.path.join(HERE, "quantity_kubectl.json"), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in rows(inputs)) + "\n]\n")


if __name__ == "__main__":
    main()
