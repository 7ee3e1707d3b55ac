#!/usr/bin/env python3
"""Writes selector.json: label and field selectors and what the real kubectl makes of them.

labels:  {text, out | error}: the string form that `kubectl top -l` sends to the server, or its message.
fields:  {text, out | error}: the same for --field-selector.
objects: {selector, out}: how `kubectl describe` shows a metav1.LabelSelector; "<none>" selects everything or nothing,
         "<error>" is not valid.
matches: {text, names}: which of "things" (name to labels) `kubectl create -l` picks.
"""

import json
import os
import sys
import tempfile
import urllib.parse

from fake_apiserver import FakeApiServer

HERE = os.path.dirname(os.path.abspath(__file__))
NAMESPACE = "/namespaces/default/"
LONG = "a" * 63

LABELS = r"""
a=b
a==b
a!=b
a
!a
! a
a in (b)
a in (b,c)
a in (c,b)
a in (b,b)
a in ( b , c )
a in(b,c)
a in (b,c),d
a notin (b,c)
a notin (c , b)
a>1
a<5
a > 1
a >1,a< 5
a=b,c!=d,e in (f,g),h notin (i),j,!k
z=1,y=2,x=3
b,a
a=1,a=2
a=2,a=1,a!=3,a
!b,!a
a=
a==
a!=
a=,b=
a in ()
a in (,)
a in (,b)
a in (b,)
a in (b,,c)
a in (b,,)
a in (b,,,)
a in (,,)
a in (,,,)
a in (,,b)
a notin ()
a notin (,)
  a = b  ,  c = d  
a=b ,c=d
in in (in)
notin notin (notin)
in
notin
!in
in=notin
in=in,notin=in
a=in
a in (in,notin)
a=true
example.com/a=b
example.com/a in (b)
a.b/c
a.b-c/d_e.f
1=1
A_b.c=D-e_f
app.kubernetes.io/name=shop,tier in (front,back),!legacy

,
,a
a,
a,,b
a=b,
a=b,,c=d
=
=b
==b
!=b
!
!!a
!a=b
!a in (b)
a!
a!b
a b
a b c
a=b c
a=b=c
a===b
a=!b
a!==b
a!=!b
a>=1
a<=1
a=>1
a<>1
a><1
a>
a<
a>b
a>1.5
a>-1
a>01
a>9223372036854775807
a>9223372036854775808
a>1,a>2
a>(1)
a in
a in b
a in (
a in (b
a in (b,
a in (b,,
a in (b c)
a in (b=c)
a in (b))
a in )b(
a in (=)
a in ((b))
a in (b,(c))
a in (b,=)
a notin b
a notin
in (a)
(a)
()
a()
a(b)
a=(b)
a=)
a=,
a,b=
-a
a-
.a
_a=b
a/
/a
a//b
a/b/c
A.B/c
a_b/c
-a.b/c
a..b/c
.a/b
a=-b
a=b-
a=.b
a=b_
a in (-b,c)
a in (b,-c,_d)
a notin (b/c)
a=b/c
a/b=c/d
a=b:c
a:b
a=b@c
a=b*c
*
a=*
a=b"c"
"a"=b
'a'=b
a='b'
a=é
é=a
a\=b
a=b\
a=b;c=d
a&&b
a=b|c
a	=	b
a~b
a#b
"""

FIELDS = r"""
metadata.name=x
metadata.name==x
metadata.name!=x
metadata.name=x,status.phase!=Running
status.phase!=Running,metadata.name=x
spec.nodeName=
spec.nodeName!=
a=b,a=c
a=c,a=b
a==c,a=b
a=b,a!=b,a==b
a!=z,a=a,a==y
a=b,
,a=b
a=b,,c=d
,
=
==
!=
=b
!=b
=,a=b
a=b\,c
a=b\=c
a=b\\c
a=b\\\,c,d=e
a=\,
a=\=
a=\\
a\,b=c
a\=b
a\=b=c
a\b=c
a=b=c
a==b=c
a===b
a!==b
a=!b
a!b=c
a!b
a!!=b
a=b\
a=b\x
a=b\é
a=b\\\
a
a,b
a=b,c
 a = b , c = d 
a=é
é!=a
a>1
a in (b)
a=(b),c
a=b c
metadata.namespace=default,metadata.name=web-0
"""

OBJECTS = [
    None,
    {},
    {"matchLabels": {}},
    {"matchLabels": None, "matchExpressions": None},
    {"matchExpressions": []},
    {"matchLabels": {"a": "b"}},
    {"matchLabels": {"b": "2", "a": "1"}},
    {"matchLabels": {"a": ""}},
    {"matchLabels": {"a": None}},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["c", "b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": [""]}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": [None, "b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["c", "b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "a", "operator": "Exists", "values": []}]},
    {"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": None}]},
    {"matchLabels": {"m": "1"}, "matchExpressions": [{"key": "z", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"}]},
    {"matchLabels": {"m": "1"}, "matchExpressions": [{"key": "m", "operator": "In", "values": ["1", "2"]}]},
    {"matchExpressions": [{"key": "m", "operator": "Exists"}, {"key": "m", "operator": "NotIn", "values": ["1"]}]},
    {"matchLabels": {"app.kubernetes.io/name": "shop"}},
    {"matchLabels": {"-a": "b"}},
    {"matchLabels": {"a": "-b"}},
    {"matchLabels": {"": "b"}},
    {"matchLabels": {"a/b/c": "b"}},
    {"matchLabels": {"a": LONG}},
    {"matchLabels": {"a": LONG + "a"}},
    {"matchLabels": {LONG: "b"}},
    {"matchLabels": {LONG + "a": "b"}},
    {"matchExpressions": [{"key": "a", "operator": "In"}]},
    {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": []}]},
    {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": ["b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]},
    {"matchExpressions": [{"key": "a", "operator": "in", "values": ["1"]}]},
    {"matchExpressions": [{"key": "a", "operator": "=", "values": ["1"]}]},
    {"matchExpressions": [{"key": "a", "values": ["1"]}]},
    {"matchExpressions": [{"operator": "Exists"}]},
    {"matchExpressions": [{"key": "a b", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]},
    {"matchExpressions": [{}]},
    {"matchExpressions": [None]},
]

THINGS = {
    "none": {},
    "web": {"app": "web", "tier": "front", "n": "3"},
    "api": {"app": "api", "tier": "back", "n": "12"},
    "db": {"app": "db", "n": "007", "legacy": ""},
    "odd": {"app": "", "n": "-4", "example.com/x": "y"},
    "word": {"app": "in", "n": "three", "in": "notin"},
    "big": {"n": "9223372036854775807", "tier": "front"},
    "huge": {"n": "9223372036854775808"},
    "plus": {"n": "+5"},
    "under": {"n": "1_0"},
    "space": {"n": " 5"},
}

MATCHES = r"""
app
!app
app=web
app==web
app!=web
app=
app!=
app in (web,api)
app in (web,api,web,db,in)
app notin (web,api)
app in ()
app in (,web)
app notin ()
app notin (,web)
n>3
n>2
n<3
n<12
n>0
n<0
n>9223372036854775806
n<9223372036854775807
n>7,n<13
n!=3
n=007
n=7
in
in=notin
app=in
!legacy
legacy
legacy=
example.com/x=y
example.com/x
!example.com/x
app=web,tier=front
app=web,tier=back
tier=front,!app
tier!=front,app
app,app=web
app=web,app=api
app in (web,api),tier notin (back)
missing
!missing
missing!=x
missing=x
missing=
missing in (x)
missing notin (x)
missing>1
missing<1
tier in (front,back),n>5
"""


def lines(text):
    return text.strip("\n").split("\n")


def heart(message):
    return message.removeprefix("error: ").removesuffix("\n")


def ask_top(server, flag, key, text):
    del server.requests[:]
    code, _, err = server.kubectl("top", "pod", flag + "=" + text)
    if code != 0:
        return {"text": text, "error": heart(err)}
    asked = [r for r in server.requests if "/metrics.k8s.io/v1beta1" + NAMESPACE + "pods" in r]
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(asked[-1]).query)
    return {"text": text, "out": query.get(key, [""])[0]}


def describe(server, selector):
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
              "metadata": {"name": "b", "namespace": "default"}, "spec": {"minAvailable": 1, "selector": selector}}
    server.pages["/apis/policy/v1" + NAMESPACE + "poddisruptionbudgets/b"] = budget
    code, out, err = server.kubectl("describe", "poddisruptionbudgets", "b")
    assert code == 0, err
    shown = [line for line in out.splitlines() if line.startswith("Selector:")]
    return {"selector": selector, "out": shown[0].removeprefix("Selector:").strip() if shown else "<none>"}


def pick(server, file, text):
    code, out, err = server.kubectl("create", "--validate=false", "--dry-run=client", "-o=name", "-f", file, "-l", text)
    assert code == 0 or "no objects passed" in err, (text, err)
    return {"text": text, "names": [line.removeprefix("configmap/") for line in out.splitlines()]}


def main():
    metrics = {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {},
               "items": [{"metadata": {"name": "x"}, "containers": []}]}
    pages = {"/apis/metrics.k8s.io/v1beta1" + NAMESPACE + "pods": metrics,
             "/api/v1" + NAMESPACE + "events": {"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": []}}
    long_texts = [LONG, LONG + "a", "a=" + LONG, "a=" + LONG + "a", "b" * 250 + ".cc/d", "b" * 251 + ".cc/d",
                  "a." * 126 + "a/" + LONG, "a in (%s)" % (LONG + "aa"), LONG + "-", "a=" + LONG + "-", "a>" + "1" * 64]
    things = {"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}}
        for name, labels in THINGS.items()]}
    with FakeApiServer(pages) as server, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "things.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(things, out)
        tables = {
            "labels": [ask_top(server, "--selector", "labelSelector", t) for t in lines(LABELS) + long_texts],
            "fields": [ask_top(server, "--field-selector", "fieldSelector", t) for t in lines(FIELDS)],
            "objects": [describe(server, selector) for selector in OBJECTS],
            "matches": [pick(server, file, t) for t in lines(MATCHES)],
        }
    line = lambda value: json.dumps(value, ensure_ascii=True, sort_keys=True)
    with open(os.path.join(HERE, "selector.json"), "w", encoding="utf-8") as out:
        out.write('{"things": ' + line(THINGS))
        for name, rows in tables.items():
            out.write(',\n"%s": [\n' % name + ",\n".join(map(line, rows)) + "]")
        out.write("}\n")
    print({name: len(rows) for name, rows in tables.items()}, file=sys.stderr)


if __name__ == "__main__":
    main()
