#!/usr/bin/env python3
"""What kubectl does with each case of the public yaml-test-suite: writes yaml_suite.json beside this file.

  scripts/fetch-test-suites && tests/golden/yaml_suite_golden.py       needs kubectl (1.32), no cluster; takes a minute

yaml_suite.json   {id: verdict}, and nothing of the suite's own content. The verdicts:
  accepts   kubectl reads it as YAML; that it is no Kubernetes object is complained about later
  differs   it reads it, as another value than the suite's (known only where all documents are objects)
  rejects   a YAML error, or no JSON for that value
"""
import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = os.environ.get("BATON_TEST_SUITES", os.path.join(HERE, "../../build/test-suites"))
SEEN = re.compile(r"Object 'Kind' is missing in '(.*)'$", re.MULTILINE)


def verdict(case):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.yaml")
        with open(path, "wb") as file:
            file.write(case["yaml"].encode())
        done = subprocess.run(["kubectl", "label", "--local", "-f", path, "a=b", "-o", "json"], capture_output=True,
                              env={**os.environ, "KUBECONFIG": "/dev/null"}, timeout=60)
    errors = done.stderr.decode("utf-8", "replace")
    if "error parsing" in errors:
        return "rejects"
    wanted = [json.loads(text) for text in case.get("json", [])]
    seen = [json.loads(text) for text in SEEN.findall(errors)]
    if seen and len(seen) == len(wanted) and seen != wanted:
        return "differs"
    return "accepts"


def main():
    with open(os.path.join(SUITES, "yaml.json"), encoding="utf-8") as file:
        cases = json.load(file)
    with ThreadPoolExecutor(2) as pool:
        verdicts = dict(zip((case["id"] for case in cases), pool.map(verdict, cases)))
    with open(os.path.join(HERE, "yaml_suite.json"), "w", encoding="utf-8") as file:
        json.dump(verdicts, file, indent=0, sort_keys=True)
        file.write("\n")
    print({name: list(verdicts.values()).count(name) for name in ("accepts", "differs", "rejects")})


main()
