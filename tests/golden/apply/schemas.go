package main

import "strings"

// metadata as kube-apiserver describes it to server-side apply.
const objectMeta = `{"type":"object","properties":{
 "name":{"type":"string"},"namespace":{"type":"string"},"uid":{"type":"string"},"generateName":{"type":"string"},
 "resourceVersion":{"type":"string"},"selfLink":{"type":"string"},"generation":{"type":"integer","format":"int64"},
 "deletionGracePeriodSeconds":{"type":"integer"},
 "creationTimestamp":{"type":"string","format":"date-time"},"deletionTimestamp":{"type":"string","format":"date-time"},
 "labels":{"type":"object","additionalProperties":{"type":"string"}},
 "annotations":{"type":"object","additionalProperties":{"type":"string"}},
 "finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
 "ownerReferences":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["uid"],
  "items":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"apiVersion":{"type":"string"},
   "kind":{"type":"string"},"name":{"type":"string"},"uid":{"type":"string"},"controller":{"type":"boolean"},
   "blockOwnerDeletion":{"type":"boolean"}}}},
 "managedFields":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}`

const container = `{"type":"object","properties":{
 "name":{"type":"string"},"image":{"type":"string"},
 "args":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"atomic"},
 "env":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
  "items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}},
 "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["containerPort","protocol"],
  "items":{"type":"object","properties":{"name":{"type":"string"},"containerPort":{"type":"integer"},
   "protocol":{"type":"string","default":"TCP"}}}},
 "resources":{"type":"object","properties":{
  "limits":{"type":"object","additionalProperties":{"x-kubernetes-int-or-string":true}}}}}}`

const rest = `"spec":{"type":"object","properties":{
 "replicas":{"type":"integer"},"paused":{"type":"boolean"},"ratio":{"type":"number"},
 "port":{"x-kubernetes-int-or-string":true},
 "selector":{"type":"object","x-kubernetes-map-type":"atomic","properties":{
  "matchLabels":{"type":"object","additionalProperties":{"type":"string"}}}},
 "zones":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
 "numbers":{"type":"array","items":{"type":"integer"},"x-kubernetes-list-type":"set"},
 "plain":{"type":"array","items":{"type":"string"}},
 "extra":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
 "free":{"type":"object"},
 "mixed":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"known":{"type":"object",
  "properties":{"a":{"type":"integer"}}}}},
 "nested":{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"string"}}},
 "template":{"type":"object","properties":{
  "labels":{"type":"object","additionalProperties":{"type":"string"}},
  "containers":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
   "items":CONTAINER}}}}},
"status":{"type":"object","properties":{
 "ready":{"type":"integer"},
 "conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],
  "items":{"type":"object","properties":{"type":{"type":"string"},"status":{"type":"string"},
   "time":{"type":"string","format":"date-time"}}}}}}`

var schemas = map[string]string{
	"deployment": strings.ReplaceAll(`{"type":"object","properties":{"apiVersion":{"type":"string"},
"kind":{"type":"string"},"metadata":`+objectMeta+`,`+rest+`}}`, "CONTAINER", container),
	// The same by name of the test: the replayed schema leaves out apiVersion, kind and metadata, as CRDs do.
	"crd": strings.ReplaceAll(`{"type":"object","properties":{"apiVersion":{"type":"string"},
"kind":{"type":"string"},"metadata":`+objectMeta+`,`+rest+`}}`, "CONTAINER", container),
}
