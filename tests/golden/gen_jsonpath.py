#!/usr/bin/env python3
"""Writes jsonpath.json: JSONPath templates and what the real kubectl answers to them.

A row of "templates" is {object, path, missing, out | error | panic, unordered?}. `missing` is
--allow-missing-template-keys; `error` is the heart of kubectl's message. Where kubectl walks a map its order is random:
such rows are marked unordered, and their words (split at spaces) are sorted.
A row of "relaxed" is {object, path, out | error}, from custom columns.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from fake_apiserver import FakeApiServer

HERE = os.path.dirname(os.path.abspath(__file__))

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-0",
        "namespace": "default",
        "generation": 7,
        "labels": {"app": "web", "app.kubernetes.io/name": "shop", "golden": "row", "tier": "front"},
        "annotations": {
            "a.b/c": "dotted",
            "empty": "",
            "html": "x<y>&z",
            "note": "two words",
            "quote": 'say "hi"\\',
            "kubectl.kubernetes.io/last-applied-configuration": '{"a":1}\n',
        },
    },
    "spec": {
        "nodeName": "node-1",
        "hostNetwork": False,
        "containers": [
            {"name": "web", "image": "shop/web:1.2", "ports": [{"containerPort": 80, "name": "http"},
                                                               {"containerPort": 443, "name": "https"}],
             "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}, "env": [{"name": "A", "value": "1"}]},
            {"name": "side", "image": "shop/side:2", "ports": [], "resources": {}, "env": []},
            {"name": "log", "image": "log:3", "ports": [{"containerPort": 9000, "name": "metrics"}], "tty": True},
        ],
        "tolerations": [],
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "Initialized", "status": "True", "lastProbeTime": None},
            {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "lastProbeTime": None},
            {"type": "PodScheduled", "status": "True", "lastProbeTime": None},
        ],
        "containerStatuses": [
            {"name": "web", "ready": True, "restartCount": 0, "state": {"running": {"startedAt": "2024-05-01T00:00:00Z"}}},
            {"name": "side", "ready": False, "restartCount": 12, "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
        ],
    },
}

FLINK = {
    "apiVersion": "flink.apache.org/v1beta1",
    "kind": "FlinkDeployment",
    "metadata": {"name": "orders", "namespace": "default", "labels": {"golden": "row"}},
    "spec": {
        "flinkVersion": "v1_18",
        "flinkConfiguration": {"taskmanager.numberOfTaskSlots": "2", "state.savepoints.dir": "s3://b/sp",
                               "high-availability.type": "kubernetes"},
        "jobManager": {"resource": {"cpu": 1.0, "memory": "2048m"}, "replicas": 1},
        "taskManager": {"resource": {"cpu": 0.5, "memory": "4g"}},
        "job": {"jarURI": "local:///opt/job.jar", "parallelism": 4, "args": ["--in", "a b", "<x>"], "state": "running",
                "upgradeMode": "savepoint", "allowNonRestoredState": None},
        "podTemplate": {"spec": {"containers": [{"name": "flink-main-container"}]}},
    },
    "status": {
        "jobStatus": {"state": "RUNNING", "jobId": "fd72014d4c864993a2e5a9287b4a9c5d", "startTime": "1714521600000",
                      "savepointInfo": {"lastSavepoint": {"timeStamp": 1714521600123, "location": "s3://b/sp/1"},
                                        "savepointHistory": [{"timeStamp": 1, "triggerType": "MANUAL"},
                                                             {"timeStamp": 2, "triggerType": "UPGRADE"}]}},
        "jobManagerDeploymentStatus": "READY",
        "error": None,
    },
}

MISC = {
    "apiVersion": "example.com/v1",
    "kind": "Misc",
    "metadata": {"name": "misc", "labels": {"golden": "row"}},
    "num": {"zero": 0, "neg": -5, "big": 9223372036854775807, "small": -9223372036854775808,
            "over": 9223372036854775808, "uint": 18446744073709551615, "one": 1.0, "half": 0.5, "mega": 1000000.0,
            "odd": 1234567.5, "e20": 1e20, "e21": 1e21, "tiny": 1e-5, "micro": 1.5e-6, "nano": 1e-7, "minus": -0.25,
            "max": 1.7976931348623157e308, "min": 5e-324, "pi": 3.141592653589793, "k": 100000.0, "mk": 0.0001},
    "rows": [
        {"id": 1, "f": 1.5, "s": "a", "b": True, "n": None, "ref": 1, "tags": ["x", "y"], "deep": {"a": {"b": 1}}},
        {"id": 2, "f": 2.0, "s": "b", "b": False, "n": None, "ref": 1, "tags": [], "deep": {"a": {}}},
        {"id": 3, "f": 2.5, "s": "c)d", "b": True, "ref": 3, "tags": ["z"], "deep": {}},
        {"id": 4, "f": -1.0, "s": "it's", "ref": "x", "tags": ["y", "x"]},
    ],
    "mixed": [1, 2.5, None, "s", True, [], {}, [1, [2, [3]]], {"a": 1}],
    "matrix": [[1, 2, 3], [4, 5, 6], [7]],
    "holes": [[1, 2], [], [3]],
    "nulls": [None, {"a": 1}, None],
    "nil": None,
    "yes": True,
    "no": False,
    "empty": {"map": {}, "list": [], "text": ""},
    "text": {"ctrl": "\b\f\n\r\t\u0001\u007f", "uni": "h\u00e9llo \u2028\u2029 \U0001f600", "html": "<a href='x'>&amp;</a>"},
    "keys": {"a.b": 1, "a b": 2, "a\\b": 3, "*": 4, "": 5, "a,b": 6, "a]b": 7, "a'b": 8, "\u00e9": 9, "<&>": 10,
             "$x": 11, "@y": 12, "a=b": 13, "range": 14, "true": 15, "0": 16, "-x": 17, "a[0]": 18, "{x}": 19},
    "one": {"only": {"only": "deep"}},
    "same": [{"n": 1}, {"n": 1}],
}

POD_PATHS = r"""
{.metadata.name}
{.metadata}
{ .metadata.name }
{.metadata.name}{.metadata.namespace}
{.metadata.name} {.metadata.namespace}
{.metadata.name .metadata.namespace}
{$.metadata.name}
{@.metadata.name}
{$}
{@}
{}
{.}
{.metadata.labels}
{.metadata.labels.app}
{.metadata.labels.app\.kubernetes\.io/name}
{.metadata.labels['app\.kubernetes\.io/name']}
{.metadata.labels['app.kubernetes.io/name']}
{.metadata.labels.app.kubernetes.io/name}
{.metadata.labels["app"]}
{.metadata["labels"]}
{['metadata']['name']}
{['metadata'].name}
{.metadata['name','namespace']}
{.metadata['name', 'namespace']}
{.metadata['name' , 'missing', 'namespace']}
{.metadata['name',]}
{.metadata.annotations}
{.metadata.annotations.a\.b/c}
{.metadata.annotations['a\.b/c']}
{.metadata.annotations.empty}
{.metadata.annotations.html}
{.metadata.annotations.note}
{.metadata.annotations.quote}
{.metadata.annotations.kubectl\.kubernetes\.io/last-applied-configuration}
{.metadata.generation}
{.metadata.missing}
{.metadata.missing.deeper}
{.metadata.name.deeper}
{.missing[0]}
{.missing[*].x}
{.spec.containers[0].name}
{.spec.containers[1].name}
{.spec.containers[2].name}
{.spec.containers[3].name}
{.spec.containers[-1].name}
{.spec.containers[-3].name}
{.spec.containers[-4].name}
{.spec.containers[*].name}
{.spec.containers[:].name}
{.spec.containers[0:2].name}
{.spec.containers[0:3].name}
{.spec.containers[0:4].name}
{.spec.containers[1:].name}
{.spec.containers[:1].name}
{.spec.containers[:-1].name}
{.spec.containers[-2:].name}
{.spec.containers[-2:-1].name}
{.spec.containers[::2].name}
{.spec.containers[1::2].name}
{.spec.containers[0:3:2].name}
{.spec.containers[0:3:1].name}
{.spec.containers[0:3:0].name}
{.spec.containers[0:3:-1].name}
{.spec.containers[0:3:9223372036854775807].name}
{.spec.containers[2:1].name}
{.spec.containers[1:1].name}
{.spec.containers[5:5].name}
{.spec.containers[0,2].name}
{.spec.containers[0,2,0].name}
{.spec.containers[0:2,2].name}
{.spec.containers[*,0].name}
{.spec.containers[0,9].name}
{.spec.containers[].name}
{.spec.containers['name']}
{.spec.containers.name}
{.spec.containers[0]}
{.spec.containers[*]}
{.spec.containers}
{.spec.containers[*].ports[*].containerPort}
{.spec.containers[*].ports[0].containerPort}
{.spec.containers[0].ports[*].containerPort}
{.spec.containers[*].ports}
{.spec.containers[*].tty}
{.spec.containers[*]['name','image']}
{.spec.containers[*].resources.limits.cpu}
{.spec.containers[0].resources.limits}
{.spec.tolerations}
{.spec.tolerations[*]}
{.spec.tolerations[0]}
{.spec.hostNetwork}
{.spec.containers[?(@.name=="web")].image}
{.spec.containers[?(@.name=='web')].image}
{.spec.containers[?(@.name == "web")].image}
{.spec.containers[?( @.name=="web" )].image}
{.spec.containers[?(@.name!="web")].name}
{.spec.containers[?(.name=="web")].name}
{.spec.containers[?(@.name>"side")].name}
{.spec.containers[?(@.name>="side")].name}
{.spec.containers[?(@.name<"side")].name}
{.spec.containers[?(@.name<="side")].name}
{.spec.containers[?(@.name=="none")].name}
{.spec.containers[?("web"==@.name)].name}
{.spec.containers[?(@.tty)].name}
{.spec.containers[?(@.tty==true)].name}
{.spec.containers[?(@.tty==false)].name}
{.spec.containers[?(@.tty=="true")].name}
{.spec.containers[?(@.resources.limits.cpu)].name}
{.spec.containers[?(@.resources.limits.cpu=="500m")].name}
{.spec.containers[?(@.ports[0].containerPort==80)].name}
{.spec.containers[?(@.ports[0])].name}
{.spec.containers[?(@.ports[5])].name}
{.spec.containers[?(@.ports[*])].name}
{.spec.containers[?(@.ports[*].name=="http")].name}
{.spec.containers[?(@.ports)].name}
{.spec.containers[0].ports[?(@.containerPort>80)].name}
{.spec.containers[0].ports[?(@.containerPort>=80)].name}
{.spec.containers[0].ports[?(@.containerPort<443)].name}
{.spec.containers[0].ports[?(@.containerPort<=443)].name}
{.spec.containers[0].ports[?(@.containerPort!=443)].name}
{.spec.containers[0].ports[?(@.containerPort==80)]}
{.spec.containers[0].ports[?(@.containerPort=="80")]}
{.spec.containers[*].ports[?(@.name=="http")].containerPort}
{.metadata[?(@.name=="web")]}
{.status.conditions[?(@.type=="Ready")].status}
{.status.conditions[?(@.type=='Ready')].reason}
{.status.conditions[?(@.status=="True")].type}
{.status.conditions[?(@.reason)].type}
{.status.conditions[?(@.lastProbeTime)].type}
{.status.conditions[?(@.lastProbeTime=="x")].type}
{.status.conditions[*].lastProbeTime}
{.status.conditions[?(@.type=="Ready")]}
{.status.containerStatuses[?(@.ready==true)].name}
{.status.containerStatuses[?(@.ready!=true)].name}
{.status.containerStatuses[?(@.restartCount>10)].name}
{.status.containerStatuses[?(@.restartCount>-1)].name}
{.status.containerStatuses[?(@.restartCount==+12)].name}
{.status.containerStatuses[*].state.waiting.reason}
{.status.containerStatuses[*].state.*.reason}
{.status.containerStatuses[*].restartCount}
{range .spec.containers[*]}{.name}{"\n"}{end}
{range .spec.containers[*]}{.name}{"\t"}{.image}{"\n"}{end}
{range .spec.containers[*]}{.name}: {range .ports[*]}{.name}={.containerPort},{end};{end}done
{range .spec.containers[*]}{.name}{range .ports[*]}{.name}{end}{end}{.metadata.name}
{range .spec.tolerations[*]}{.key}{end}after
{range .missing[*]}{.key}{end}after
{range .missing[*]}{range .x[*]}{.y}{end}{end}after
{range .spec.containers[*]}{.missing}{end}
{range .spec.containers[*]}[{.name}]{end}
{range .spec.containers[?(@.ports[0])]}{.name} {end}
{range .spec.containers[*].ports[*]}{.name} {end}
{range .metadata.name}{@}{end}
{range .metadata}{.name}{end}{.kind}
{range .spec.containers[*]}{$.name}{@.name} {end}
{range .spec.containers[*]}{.name}
{range .spec.containers[*]}{.name} {end}{end}
{end}
{range .spec.containers[*]}{.name} {end}{range .status.conditions[*]}{.type} {end}
{range range .spec.containers[*]}{.name} {end}{.kind}
{range .spec.containers[*]}{range .ports[*]}{.name} {end}{.kind}
{range}{.kind}{end}
{ range .spec.containers[*] }{ .name } { end }
{.spec.containers[*].name end}
{foo}
{.spec.containers[?(foo)].name}
{.spec.containers[?(foo=="x")].name}
{.spec.containers[?(end)].name}
plain text
text {.kind} text
{.kind}}
}{.kind}
{.kind}{{
{"{"}{.kind}{"}"}
{"quoted"}
{'quoted'}
{"a'b"}{'a"b'}
{"a\"b"}
{'a\'b'}
{"a\'b"}
{'a\"b'}
{"\\"}
{"tab\tnew\nline\r"}
{"\a\b\f\v"}
{"\x41\101\u0041\U00000041"}
{"\u00e9\U0001F600"}
{"\xc3\xa9"}
{"\q"}
{"\x4"}
{"\400"}
{"\ud800"}
{"\U00110000"}
{"\1"}
{""}
{''}
{"a""b"}
{.kind"x"}
{"x".kind}
{"x"}{.kind}{"y"}
{.missing"x"}
{"abc".*}
{.kind.*}
{.metadata.name[0]}
{.metadata[0]}
{.spec.hostNetwork[0]}
{.metadata.generation[0]}
{1}
{-1}
{+1}
{1.5}
{-.5}
{5.}
{1.2.3}
{-}
{1e5}
{true}{false}
{truex}
{99999999999999999999}
{0.1.2}
{.spec.containers[*].name 1}
{.missing 1}
{.kind
{.kind}{
{
{.metadata.name
{.spec.containers[0}
{.spec.containers[0.name}
{.spec.containers[
{.spec.containers[x]}
{.spec.containers[0x1]}
{.spec.containers[-]}
{.spec.containers[1:2:3:4]}
{.spec.containers[99999999999999999999]}
{.spec.containers[9223372036854775807]}
{.spec.containers[-9223372036854775808]}
{.spec.containers[0:-9223372036854775808]}
{.spec.containers[0:9223372036854775807]}
{.spec.containers['name}
{.spec.containers["name"]}
{.spec.containers[name]}
{.spec.containers[ 0 ]}
{.spec.containers[0 ]}
{.spec.containers[?(@.name=="web"]}
{.spec.containers[?(@.name=="web)]}
{.spec.containers[?(@.name=='web")]}
{.spec.containers[?(@.name=="web")}
{.spec.containers[?(@.name=="web") ]}
{.spec.containers[?(@.name="web")].name}
{.spec.containers[?(@.name==="web")].name}
{.spec.containers[?(@.name=!"web")].name}
{.spec.containers[?(@.name==)].name}
{.spec.containers[?(@.name=)].name}
{.spec.containers[?(=="web")].name}
{.spec.containers[?(@.name=="web" && @.image)].name}
{.spec.containers[?(@.name=="web"||@.name=="log")].name}
{.spec.containers[?(@.name=~"w.*")].name}
{.spec.containers[?(@.name=="web"x)].name}
{.spec.containers[?(@.name=="web""side")].name}
{.spec.containers[?()].name}
{.spec.containers[?(@)].name}
{.spec.containers[?(@.missing)].name}
{.spec.containers[?(@.missing=="x")].name}
{.spec.containers[?(@.missing!="x")].name}
{.spec.containers[?(@.name==@.name)].name}
{.spec.containers[?(@.name==.image)].name}
{.spec.containers[?(@.ports[?(@.name=="http")])].name}
{.spec.containers[?(@['name']=="web")].name}
{.spec.containers[?(@["name"]=="web")].name}
{.spec.containers[?(@.name in "web")].name}
{.spec.containers[?(!@.tty)].name}
{.spec.containers[?@.name=="web"].name}
{.spec.containers[(@.length-1)].name}
{#}
{.metadata.#}
{*}
{.metadata,.kind}
{.kind;}
{.kind|x}
{%}
{.metadata~}
{&}
{(.kind)}
{.metadata..name}
{.. ..name}
{....}
{..*}
{..[0]}
{..ports}
{.spec.containers[*]..containerPort}
{..containerPort}
{..name.}
{.spec..nothing}
"""

FLINK_PATHS = r"""
{.status.jobStatus.state}
{.spec.job.parallelism}
{.spec.jobManager.resource.cpu}
{.spec.taskManager.resource.cpu}
{.spec.jobManager}
{.spec.job}
{.spec.job.args}
{.spec.job.args[*]}
{.spec.job.args[1]}
{range .spec.job.args[*]}{@}{"\n"}{end}
{range .spec.job.args[*]}<{$}>{end}
{.spec.flinkConfiguration}
{.spec.flinkConfiguration.taskmanager\.numberOfTaskSlots}
{.spec.flinkConfiguration['state\.savepoints\.dir']}
{.spec.flinkConfiguration['state\.savepoints\.dir','high-availability\.type']}
{.spec.flinkConfiguration.high-availability\.type}
{.spec.job.allowNonRestoredState}
{.status.error}
{.status.error.deeper}
{.status.error[0]}
{.status.error[*]}
{.status.error[?(@.x)]}
{.status.jobStatus.savepointInfo.lastSavepoint.timeStamp}
{.status.jobStatus.savepointInfo.savepointHistory[-1:].triggerType}
{.status.jobStatus.savepointInfo.savepointHistory[?(@.triggerType=="UPGRADE")].timeStamp}
{.status.jobStatus.savepointInfo.savepointHistory[?(@.timeStamp>1)].triggerType}
{.status.jobStatus.savepointInfo.savepointHistory[?(@.timeStamp>1.5)].triggerType}
{.metadata.name}/{.spec.flinkVersion}: {.status.jobStatus.state}
{.spec.podTemplate.spec.containers[?(@.name=="flink-main-container")]}
{.spec.resource.*}
"""

MISC_PATHS = r"""
{.num.zero} {.num.neg} {.num.big} {.num.small} {.num.over} {.num.uint}
{.num.one} {.num.half} {.num.mega} {.num.odd} {.num.e20} {.num.e21}
{.num.tiny} {.num.micro} {.num.nano} {.num.minus} {.num.max} {.num.min} {.num.pi} {.num.k} {.num.mk}
{.num}
{.rows[?(@.id==1)].s}
{.rows[?(@.id==1.0)].s}
{.rows[?(@.f==1.5)].s}
{.rows[?(@.f==2.0)].s}
{.rows[?(@.f==2)].s}
{.rows[?(@.f>1.5)].s}
{.rows[?(@.f<-0.5)].s}
{.rows[?(@.f<=2.0)].id}
{.rows[?(@.b==true)].id}
{.rows[?(@.b!=false)].id}
{.rows[?(@.b>false)].id}
{.rows[?(@.n==1)].id}
{.rows[?(@.n)].id}
{.rows[?(@.ref==@.id)].id}
{.rows[?(@.id==@.ref)].id}
{.rows[0:3][?(@.ref==@.id)].id}
{.same[?(@.n==1)].n}
{.rows[?(@.s=="c)d")].id}
{.rows[?(@.s=='c)d')].id}
{.rows[?(@.s=="it's")].id}
{.rows[?(@.s=='it\'s')].id}
{.rows[?(@.tags[0]=="x")].id}
{.rows[?(@.tags==1)].id}
{.rows[?(@.deep.a.b)].id}
{.rows[?(@.deep.a.b==1)].id}
{.rows[?(@.deep.a)].id}
{.rows[?(@.tags[*]=="x")].id}
{.rows[?(@.tags[0:1]=="x")].id}
{.rows[*].tags[*]}
{.rows[*].tags[0]}
{.rows[*].tags}
{.rows[*]['id','s']}
{.rows[0,1]['id']}
{.rows[*].deep.a.b}
{.rows[*].n}
{.rows[?(@..b)].id}
{.rows[?(@.id=="1")].id}
{.rows[?(1==@.id)].id}
{.rows[?(1==1)].id}
{.rows[?("a"=="b")].id}
{.rows[?(true)].id}
{.rows[?(true==true)].id}
{.rows[?(@.s)].s}
{.rows[?(@.s<"b")].s}
{.rows[?(@.s>="b")].s}
{.rows[?(range)].id}
{.rows[?(@.id==1)][?(@.id)]}
{.rows[?(@.id==1)].tags[?(@=="x")]}
{.rows[?(@.id==1)].tags[?(@>"w")]}
{.rows[?(@.f=="1.5")].id}
{.mixed}
{.mixed[*]}
{.mixed[2]}
{.mixed[7][1][1][0]}
{.mixed[*].a}
{range .mixed[*]}{@};{end}
{range .mixed[*]}{.a};{end}
{range .mixed[*]}x{end}
{.mixed[?(@.a)]}
{.mixed[?(@.a==1)]}
{.mixed[?(@==1)]}
{.mixed[?(@)]}
{.mixed[*][0]}
{.mixed[5,7][0]}
{.matrix}
{.matrix[0]}
{.matrix[0][1]}
{.matrix[*][0]}
{.matrix[*][1]}
{.matrix[*][*]}
{.matrix[0:2][0:2]}
{.matrix[*][-1]}
{.matrix[*][-1:]}
{range .matrix[*]}{range @[*]}{@},{end};{end}
{range .matrix[*]}{[0]}{end}
{range .matrix[*]}{@[*]}|{end}
{.matrix.*}
{.matrix[0].*}
{.matrix..}
{.holes[*][*]}
{.holes[*][0]}
{.holes[*][0:1]}
{.holes[*][1:]}
{.holes[0,2][*]}
{.nulls[*]}
{.nulls[*].a}
{.nulls[0].a}
{.nulls[*].a.b}
{range .nulls[*]}{.a};{end}
{range .nulls[*]}{@};{end}
{range .nulls[*]}{@[0]};{end}
{range .nulls[*]}{.*};{end}
{range .nulls[*]}{..};{end}
{range .nulls[*]}{[?(@.a)]};{end}
{range .nulls[*]}{range @}{.a}{end};{end}
{range .empty.list[*]}{[0]}{end}
{range .empty.list[*]}{.x[0]}{end}ok
{range .empty.list[*]}{foo}{end}
{.nulls[?(@.a)]}
{.nulls[?(@.a==1)]}
{.nulls.*}
{.nulls..}
{.nil}
{.nil.*}
{.nil..}
{.nil..x}
{.yes}{.no}
{.empty}
{.empty.map}
{.empty.list}
{.empty.text}
{.empty.map.*}
{.empty.list.*}
{.empty.text.*}
{.empty.map..}
{.empty.text..}
{.empty.list[*]}
{.empty.list[:]}
{.empty.list[0:0]}
{.empty.list[-1]}
{.empty.list[?(@.x)]}
{.text}
{.text.ctrl}
{.text.uni}
{.text.html}
{.keys}
{.keys.a\.b}
{.keys['a\.b']}
{.keys.a b}
{.keys.a\ b}
{.keys['a b']}
{.keys['a\ b']}
{.keys.a\\b}
{.keys.\*}
{.keys.}
{.keys['']}
{.keys.a,b}
{.keys.a\,b}
{.keys['a,b']}
{.keys['a\,b']}
{.keys['a]b']}
{.keys.a\]b}
{.keys.a'b}
{.keys['a'b']}
{.keys.é}
{.keys..é}
{.keys['é']}
{.keys.<&>}
{.keys.$x}
{.keys.\$x}
{.keys.\@y}
{.keys.a=b}
{.keys.range}
{.keys.true}
{.keys.0}
{.keys.-x}
{.keys.a\[0\]}
{.keys['a\[0\]']}
{.keys.\{x\}}
{.keys.a"b}
{.one.*}
{.one..only}
{.one.*.*}
{.one..}
{.one.only.*.*}
{.rows[0].tags.*}
{.rows[*].tags.*}
{.rows[0:2].tags[*]}
{.rows[::3].id}
{.rows[3:0].id}
{é}
{.rows[?(é)].id}
{.a	b}
{	.yes}
{.rows[0].s.*}
{.rows[0].s..}
{.rows[?(@.s.*==97)].id}
{.rows[0,0,0].id}
{.rows[0,'id'].id}
{.rows[0,?(@.id==2)].id}
{.num['zero',"neg"]}
{.rows[?(@.id == 1 )].id}
{.rows[?(@.id<3)].id}
{.rows[?(@.id<=-1)].id}
{.rows[?(@.id>1)].tags[0]}
{.rows[?(@.s==a)].id}
{.rows[?(@.s<>"b")].id}
{.rows[?(@.id==1)]['id','s','b']}
"""

STRICT = r"""
{.metadata.missing}
{.metadata.name}
{.metadata.missing.deeper}
{.spec.containers[*].tty}
{.spec.containers[*].nothing}
{.spec.containers[?(@.tty)].name}
{.spec.containers[?(@.tty==true)].name}
{.spec.containers[?(@.name==@.tty)].name}
{.metadata['name','missing']}
{range .missing[*]}{.x}{end}
{range .spec.tolerations[*]}{.key}{end}ok
{range .spec.tolerations[*]}{"x"}{end}ok
{range .spec.containers[*]}{.name}{end}
{range .spec.containers[*]}{.tty}{end}
{.spec.tolerations[*].key}
{.status.conditions[*].lastProbeTime.x}
{..nothing}
{..tty}
{.metadata.name.x}
{.}
"""

UNORDERED = {
    "pod": ["{.metadata.labels.*}", "{.spec.containers[0].resources.limits.*}", "{.metadata.*}", "{..name}",
            "{.spec.containers[0]..cpu}", "{.status.containerStatuses..reason}", "{.spec.containers[1]..}",
            "{.spec.containers[*].resources..}", "{..}", "{...name}", "{.metadata..}",
            "{..['name']}", "{.spec.containers..name}", "{.spec.containers[0]..name}"],
    "flink": ["{.spec.jobManager.*}", "{.spec.taskManager..}", "{.status.jobStatus.savepointInfo..timeStamp}",
              "{.status.jobStatus.savepointInfo..}", "{.spec.flinkConfiguration.*}"],
    "misc": ["{.num.*}", "{.rows[0]..}", "{.rows[0:2]..b}", "{.rows[0].deep..}", "{.rows[*].deep.*}",
             "{.empty.*}", "{.rows..b}", "{.same..n}", "{.rows..id}", "{.keys['*']}"],
}

RELAXED = [
    "metadata.name", ".metadata.name", "{metadata.name}", "{.metadata.name}", "metadata", "$.metadata.name",
    "spec.containers[*].name", ".spec.containers[0].name", "{.spec.containers[-1:].name}", "spec.missing", ".missing[*].x",
    "{.metadata.name", "metadata.name}", "{.metadata.name}{.kind}", "x{.kind}", "{}", "{", "", "..name.x", "{..}x",
    "status.conditions[?(@.type=='Ready')].status", "status.conditions[*].lastProbeTime", "metadata.generation",
    "spec.containers[?(@.name==\"web\")].image", "spec.containers[9].name", "spec.containers[", "[0]", "['kind']", ".['kind']",
    "spec.hostNetwork", "metadata.labels.app\\.kubernetes\\.io/name", "@.kind", " .kind", "kind ", "..tty", "spec.containers[foo]",
    "kind[0]", "spec.containers[*].ports[*].containerPort", "\"text\"", "range", "{range .spec.containers[*]}", "#", "spec.#",
    "spec.containers[0].ports[0:2].containerPort", "end", "...", "{...}", "{[0]}", "{@}", "{ .kind}",
]


def heart(message):
    """What kubectl complains about, without its frame."""
    found = re.search(r"Error executing template: (.*)\. Printing more information", message, re.S)
    if found:
        return found.group(1)
    return message.removeprefix("error: ").removesuffix("\n")


def run_template(file, path, missing):
    command = ["kubectl", "label", "--local", "-f", file, "golden=row", "-o", "jsonpath=" + path,
               "--allow-missing-template-keys=" + str(missing).lower()]
    environment = dict(os.environ, KUBECONFIG=os.devnull)
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    out, err = done.stdout.decode(), done.stderr.decode()
    if done.returncode == 0:
        return {"out": out}
    if err.startswith("panic:"):
        return {"panic": err.splitlines()[0]}
    prefix = "error: error parsing jsonpath %s, " % path
    return {"error": err.removeprefix(prefix).removesuffix("\n") if err.startswith(prefix) else heart(err)}


def template_rows(folder):
    objects = {"pod": POD, "flink": FLINK, "misc": MISC}
    paths = [("pod", POD_PATHS, True), ("flink", FLINK_PATHS, True), ("misc", MISC_PATHS, True), ("pod", STRICT, False)]
    rows = []
    for name, value in objects.items():
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(value, file)
    for name, text, missing in paths:
        for path in text.strip("\n").split("\n"):
            answer = run_template(os.path.join(folder, name + ".json"), path, missing)
            rows.append({"object": name, "path": path, "missing": missing, **answer})
    newline = ["{.kind\n}", "{'a\nb'}", "a\nb{.kind}\n", "{.spec.containers[0\n]}", "{.spec.containers[?(@.name\n)]}", ""]
    for path in newline:
        rows.append({"object": "pod", "path": path, "missing": True,
                     **run_template(os.path.join(folder, "pod.json"), path, True)})
    for name, paths in UNORDERED.items():
        for path in paths:
            answer = run_template(os.path.join(folder, name + ".json"), path, True)
            answer["out"] = " ".join(sorted(answer["out"].split(" ")))
            rows.append({"object": name, "path": path, "missing": True, "unordered": True, **answer})
    return objects, rows


def relaxed_rows():
    rows = []
    with FakeApiServer({"/api/v1/namespaces/default/pods/web-0": POD}) as server:
        for path in RELAXED:
            code, out, err = server.kubectl("get", "pods", "web-0", "--no-headers", "-o", "custom-columns=X:" + path)
            answer = {"out": out.removesuffix("\n")} if code == 0 else {"error": heart(err)}
            rows.append({"object": "pod", "path": path, **answer})
    return rows


def main():
    with tempfile.TemporaryDirectory() as folder:
        objects, templates = template_rows(folder)
    relaxed = relaxed_rows()
    with open(os.path.join(HERE, "jsonpath.json"), "w", encoding="utf-8") as file:
        line = lambda value: json.dumps(value, ensure_ascii=True, sort_keys=True)
        file.write('{"objects": {\n' + ",\n".join(line(k) + ": " + line(v) for k, v in objects.items()) + "},\n")
        file.write('"templates": [\n' + ",\n".join(map(line, templates)) + "],\n")
        file.write('"relaxed": [\n' + ",\n".join(map(line, relaxed)) + "]}\n")
    print(len(templates), "templates,", len(relaxed), "relaxed paths", file=sys.stderr)


if __name__ == "__main__":
    main()
