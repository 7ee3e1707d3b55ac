"""Runs `kubectl patch --local` over cases and writes what it gave as a golden table.

No cluster is needed. A row is {"name", "object", "patch", and "result" or "error"}. Used by gen_strategic_merge.py,
gen_json_patch.py and gen_merge_patch.py; Python's standard library only.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run(kind, obj, patch):
    """The patched object, or kubectl's error text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "object.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(obj, file)
        done = subprocess.run(
            ["kubectl", "patch", "--local", "--type", kind, "-f", path, "-p", json.dumps(patch), "-o", "json", "--show-managed-fields"],
            capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"], "HOME": folder})
    if done.returncode == 0:
        return {"result": json.loads(done.stdout)}
    error = done.stderr.strip().removeprefix("error: ").replace(path, "object.json")
    return {"error": error.splitlines()[0] if error.startswith("panic: ") else error}  # a stack trace is never the same


def write(kind, cases, file_name):
    """Runs every (name, object, patch) and writes tests/golden/<file_name>, one row a line."""
    names = [name for name, _, _ in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        sys.exit(f"names given twice: {twice}")
    rows = []
    for name, obj, patch in cases:
        rows.append({"name": name, "object": obj, "patch": patch, **run(kind, obj, patch)})
    with open(os.path.join(HERE, file_name), "w", encoding="utf-8") as file:
        file.write("[\n")
        file.write(",\n".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows))
        file.write("\n]\n")
    print(f"{file_name}: {len(rows)} rows, {sum('error' in row for row in rows)} of them errors")
