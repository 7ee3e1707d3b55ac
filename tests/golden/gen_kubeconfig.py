#!/usr/bin/env python3
"""Writes kubeconfig.json: what `kubectl config view --raw` makes of kubeconfig files, merged by KUBECONFIG.

A row: files (name, text; in the order of KUBECONFIG), context ("" = the whole merge, else --minify for that context),
and kubectl's answer as `merged` or `error` (only that there was one: its text is Go's). All files are in /cfg, for kubectl shows paths as they were written.
"""
import json
import os
import subprocess
import tempfile

A = """apiVersion: v1
kind: Config
clusters:
- name: red
  cluster: {server: "https://red:6443", certificate-authority: ca/red.crt}
- name: shared
  cluster: {server: "https://first:6443/base/", insecure-skip-tls-verify: true}
users:
- name: red-user
  user: {client-certificate: red.crt, client-key: ../keys/red.key}
- name: shared-user
  user: {token: first}
contexts:
- name: red
  context: {cluster: red, user: red-user, namespace: team-red}
- name: shared
  context: {cluster: shared, user: shared-user}
"""
B = """current-context: blue
clusters:
- name: blue
  cluster: {server: "https://[::1]:7443", certificate-authority: /abs/blue.crt, tls-server-name: blue.example, proxy-url: "http://p:3128"}
- name: shared
  cluster: {server: "https://second:6443", certificate-authority: second.crt}
users:
- name: blue-user
  user: {tokenFile: ./t/../blue.token, as: jane, as-groups: [a, b], as-uid: "7", as-user-extra: {k: [p, q]}}
- name: shared-user
  user: {username: second, password: secret}
- name: exec-user
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: bin/login, args: [a, ""], env: [{name: NAME, value: v}]}
contexts:
- name: blue
  context: {cluster: blue, user: blue-user}
- name: shared
  context: {cluster: blue, user: blue-user, namespace: other}
- name: exec
  context: {cluster: red, user: exec-user}
"""
C = json.dumps({"current-context": "nobody", "contexts": [{"name": "nobody", "context": {"cluster": "red"}}]})

CASES = [
    ([("a", A)], ""), ([("b", B)], ""),
    ([("a", A), ("b", B)], ""), ([("b", B), ("a", A)], ""),
    ([("a", A), ("b", B), ("c.json", C)], ""), ([("c.json", C), ("b", B), ("a", A)], ""),
    ([("a", A), ("b", B)], "shared"), ([("b", B), ("a", A)], "shared"),
    ([("a", A), ("b", B)], "exec"), ([("a", A), ("b", B)], "absent"),
    ([("empty", "")], ""), ([("comment", "# nothing\n")], ""), ([("null", "null\n")], ""),
    ([("f", "unknown: 1\nclusters:\n- name: a\n  other: x\n")], ""),
    ([("f", "kind: Pod\n")], ""), ([("f", "apiVersion: v2\nkind: Config\n")], ""), ([("f", "apiVersion: v1\n")], ""),
    ([("f", "users:\n- name: a\n  user: {token: 12}\n")], ""),
    ([("f", "users:\n- name: a\n  user: {client-key-data: '?'}\n")], ""),
    ([("f", "users:\n- name: a\n  user: {client-key-data: eA==}\n")], ""),
    ([("f", "users:\n- name: a\n- name: a\n")], ""), ([("f", "clusters:\n-\n")], ""),
    ([("f", "clusters: {}\n")], ""), ([("f", "users:\n- name: a\n  user: {as-groups: x}\n")], ""),
    ([("f", "users:\n- name: a\n  user: {as-groups: [null]}\n")], ""),
    ([("f", "clusters:\n- name: a\n  cluster: {insecure-skip-tls-verify: 'true'}\n")], ""),
    ([("f", "clusters:\n- name: a\n  cluster: {insecure-skip-tls-verify: yes}\n")], ""),
    ([("f", "current-context: [a]\n")], ""), ([("f", "clusters: 7\n")], ""), ([("f", "[]\n")], ""),
    ([("f", "{")], ""), ([("f", "contexts:\n- name: a\n  context: null\n")], ""),
]


def main():
    rows = []
    for files, context in CASES:
        with tempfile.TemporaryDirectory() as root:
            root = os.path.realpath(root)
            for name, text in files:
                with open(os.path.join(root, name), "w") as out:
                    out.write(text)
            command = ["kubectl", "config", "view", "--raw", "-o", "json"]
            if context:
                command += ["--minify", "--context", context]
            env = dict(os.environ, KUBECONFIG=":".join(os.path.join(root, name) for name, _ in files))
            done = subprocess.run(command, env=env, capture_output=True, text=True)
            row = {"files": [{"name": "/cfg/" + name, "text": text} for name, text in files], "context": context}
            if done.returncode == 0:
                row["merged"] = json.loads(done.stdout.replace(root, "/cfg"))
            else:
                row["error"] = True
            rows.append(row)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "kubeconfig.json"), "w") as out:
        json.dump(rows, out, indent=1, sort_keys=True)
        out.write("\n")


main()
