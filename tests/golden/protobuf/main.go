// Makes tests/golden/protobuf.json: objects in Kubernetes' protobuf encoding, with the JSON that Go prints for what it
// decodes from the same bytes.
//
//	cd tests/golden/protobuf && go run . > ../protobuf.json
//
// The objects: the manifests of tests/golden/builtin.json and manifests.json; and of each kind one with every field
// filled and one with every pointer, list and map holding a zero (fill.go). A struct is filled once over all kinds, so
// that the file has each field of each message and stays small.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

type row struct {
	Name     string          `json:"name"`
	Protobuf string          `json:"protobuf"`
	JSON     json.RawMessage `json:"json"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, appsv1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme,
		autoscalingv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme,
		corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
		rbacv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		must(add(scheme))
	}
	return scheme
}

// Encodes, decodes, and prints what was decoded: an empty list is gone then, as for a server that is sent these bytes.
func encode(scheme *runtime.Scheme, name string, object runtime.Object) row {
	serializer := protobuf.NewSerializer(scheme, scheme)
	var bytesOut bytes.Buffer
	must(serializer.Encode(object, &bytesOut))
	again, _, err := serializer.Decode(bytesOut.Bytes(), nil, nil)
	must(err)
	again.GetObjectKind().SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	text, err := json.Marshal(again)
	must(err)
	return row{name, base64.StdEncoding.EncodeToString(bytesOut.Bytes()), text}
}

// The manifest as its Go type, or nil when this has no such kind or cannot hold it.
func read(scheme *runtime.Scheme, manifest json.RawMessage) runtime.Object {
	var kind struct{ APIVersion, Kind string }
	if json.Unmarshal(manifest, &kind) != nil {
		return nil
	}
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	object, err := scheme.New(gvk)
	if err != nil || json.Unmarshal(manifest, object) != nil {
		return nil
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object
}

func manifests(scheme *runtime.Scheme) []row {
	kinds := tableKinds()
	var rows []row
	var builtin []struct {
		Name   string          `json:"name"`
		In     json.RawMessage `json:"in"`
		Stored json.RawMessage `json:"stored"`
	}
	text, err := os.ReadFile("../builtin.json")
	must(err)
	must(json.Unmarshal(text, &builtin))
	for _, one := range builtin {
		if one.Stored == nil {
			one.Stored = one.In
		}
		object := read(scheme, one.Stored)
		if object != nil && slices.Contains(kinds, object.GetObjectKind().GroupVersionKind()) {
			rows = append(rows, encode(scheme, one.Name, object))
		}
	}
	var own []json.RawMessage
	text, err = os.ReadFile("manifests.json")
	must(err)
	must(json.Unmarshal(text, &own))
	for i, one := range own {
		object := read(scheme, one)
		if object == nil {
			must(fmt.Errorf("manifests.json: number %d is not of a known kind", i))
		}
		kind := object.GetObjectKind().GroupVersionKind().Kind
		rows = append(rows, encode(scheme, fmt.Sprintf("own %d: %s", i, kind), object))
	}
	return rows
}

// The kinds of the table that the decoder works by, sorted. Those of any version are here with one.
func tableKinds() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	text, err := os.ReadFile("../../../src/api/builtin/protobuf.txt")
	must(err)
	for _, line := range bytes.Split(text, []byte("\n")) {
		var version, kind, message string
		if count, _ := fmt.Sscanf(string(line), "kind %s %s %s", &version, &kind, &message); count != 3 {
			continue
		}
		if version == "*" {
			version = "apps/v1"
		}
		kinds = append(kinds, schema.FromAPIVersionAndKind(version, kind))
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].String() < kinds[j].String() })
	return kinds
}

func filled(scheme *runtime.Scheme) []row {
	kinds := tableKinds()
	var rows []row
	for _, mode := range []string{"full", "zero", "empty"} {
		filler := &filler{zero: mode == "zero", done: map[reflect.Type]bool{}}
		for _, gvk := range kinds {
			object, err := scheme.New(gvk)
			must(err)
			if mode != "empty" {
				filler.fill(reflect.ValueOf(object).Elem(), "")
			}
			object.GetObjectKind().SetGroupVersionKind(gvk)
			rows = append(rows, encode(scheme, fmt.Sprintf("%s %s %s", mode, gvk.GroupVersion(), gvk.Kind), object))
		}
	}
	return rows
}

func main() {
	scheme := newScheme()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	separator := "[\n"
	for _, one := range append(manifests(scheme), filled(scheme)...) {
		text, err := json.Marshal(one)
		must(err)
		fmt.Fprintf(out, "%s%s", separator, text)
		separator = ",\n"
	}
	fmt.Fprintln(out, "\n]")
}
