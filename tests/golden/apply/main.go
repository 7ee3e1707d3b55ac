// Makes tests/golden/apply.json: sequences of writes replayed against Kubernetes' own field manager
// (k8s.io/apimachinery/pkg/util/managedfields), with the object and managedFields after each step.
//
//	cd tests/golden/apply && go run . > ../apply.json
//
// Times are made deterministic: step i happens at 2024-01-01T00:00:00Z plus i times ten seconds.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"sort"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

type object = map[string]interface{}

// One write. Exactly one of Object (what is sent) and Merge (a merge patch on the live object, which becomes the
// Object of an update) is given by a case; the golden file always has Object.
type step struct {
	Op          string      `json:"op"` // apply, update
	Manager     string      `json:"manager"`
	Force       bool        `json:"force,omitempty"`
	Subresource string      `json:"subresource,omitempty"`
	Reset       bool        `json:"reset,omitempty"` // with the reset fields of a resource with status
	Object      interface{} `json:"object"`
	Merge       object      `json:"-"`
	Result      interface{} `json:"result,omitempty"`
	Error       *failure    `json:"error,omitempty"`
	Unstable    bool        `json:"unstable,omitempty"` // applying the same again is refused or changes the object
}

type failure struct {
	Code    int32    `json:"code,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message"`
	Causes  []object `json:"causes,omitempty"`
}

type sequence struct {
	Name   string  `json:"name"`
	Schema string  `json:"schema"`          // deployment, crd, deduced
	Start  object  `json:"start,omitempty"` // an object that is there before the first step
	Steps  []*step `json:"steps"`
}

type fakes struct{}

func (fakes) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: object{}}
	u.SetGroupVersionKind(gvk)
	return u, nil
}
func (fakes) Convert(in, out, context interface{}) error { return nil }
func (fakes) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (fakes) ConvertFieldLabel(_ schema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", fmt.Errorf("not here")
}
func (fakes) Default(runtime.Object) {}

var gvk = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func parse(text string) object {
	out := object{}
	u := unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err == nil {
		return u.Object
	}
	check(json.Unmarshal([]byte(text), &out))
	return runtime.DeepCopyJSON(fix(out).(object))
}

// Whole numbers as int64, as Kubernetes decodes them.
func fix(v interface{}) interface{} {
	switch t := v.(type) {
	case map[string]interface{}:
		for k, e := range t {
			t[k] = fix(e)
		}
	case []interface{}:
		for i, e := range t {
			t[i] = fix(e)
		}
	case float64:
		if t == float64(int64(t)) {
			return int64(t)
		}
	}
	return v
}

func converter(name string) managedfields.TypeConverter {
	if name == "deduced" {
		return managedfields.NewDeducedTypeConverter()
	}
	var s spec.Schema
	check(json.Unmarshal([]byte(schemas[name]), &s))
	if s.Extensions == nil {
		s.Extensions = spec.Extensions{}
	}
	s.Extensions["x-kubernetes-group-version-kind"] = []interface{}{
		map[string]interface{}{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}}
	c, err := managedfields.NewTypeConverter(map[string]*spec.Schema{"test": &s}, false)
	check(err)
	return c
}

func manager(c managedfields.TypeConverter, subresource string, reset bool) *managedfields.FieldManager {
	var filters map[fieldpath.APIVersion]fieldpath.Filter
	if reset {
		set := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		if subresource == "status" {
			set = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
		}
		filters = map[fieldpath.APIVersion]fieldpath.Filter{"apps/v1": fieldpath.NewExcludeSetFilter(set)}
	}
	m, err := managedfields.NewDefaultFieldManager(c, fakes{}, fakes{}, fakes{}, gvk, gvk.GroupVersion(), subresource, filters)
	check(err)
	return m
}

func mergePatch(target interface{}, patch object) object {
	out, ok := target.(object)
	if !ok {
		out = object{}
	}
	for k, v := range patch {
		if v == nil {
			delete(out, k)
		} else if p, ok := v.(object); ok {
			out[k] = mergePatch(out[k], p)
		} else {
			out[k] = v
		}
	}
	return out
}

// Entries of this step get the step's time.
func settleTimes(u *unstructured.Unstructured, index int) {
	entries := u.GetManagedFields()
	at := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(index) * 10 * time.Second))
	for i := range entries {
		if entries[i].Time != nil && entries[i].Time.Year() > 2024 {
			entries[i].Time = &at
		}
	}
	if entries != nil {
		u.SetManagedFields(entries)
	}
}

func describe(err error) *failure {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return &failure{Message: err.Error()}
	}
	f := &failure{Code: status.Status().Code, Reason: string(status.Status().Reason), Message: status.Status().Message}
	if status.Status().Details != nil {
		for _, c := range status.Status().Details.Causes {
			f.Causes = append(f.Causes, object{"reason": string(c.Type), "message": c.Message, "field": c.Field})
		}
		sort.Slice(f.Causes, func(i, j int) bool { return fmt.Sprint(f.Causes[i]) < fmt.Sprint(f.Causes[j]) })
	}
	return f
}

// Runs one step on the live object and gives the next live object.
func (s *step) run(c managedfields.TypeConverter, live object, index int) object {
	if s.Merge != nil {
		s.Object = mergePatch(runtime.DeepCopyJSON(live), s.Merge)
	}
	sent := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(s.Object.(object))}
	before := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live)}
	m := manager(c, s.Subresource, s.Reset)
	var out runtime.Object
	if s.Op == "apply" {
		var err error
		if out, err = m.Apply(before, sent, s.Manager, s.Force); err != nil {
			s.Error = describe(err)
			return live
		}
	} else {
		out = m.UpdateNoErrors(before, sent, s.Manager)
	}
	u := out.(*unstructured.Unstructured)
	settleTimes(u, index)
	s.Result = runtime.DeepCopyJSON(u.Object)
	if u.GetUID() == "" {
		u.SetUID("u1") // as the server does on creation
	}
	if s.Op == "apply" {
		again, err := m.Apply(u.DeepCopyObject(), sent.DeepCopyObject(), s.Manager, false)
		s.Unstable = err != nil || !reflect.DeepEqual(u.Object, again.(*unstructured.Unstructured).Object)
	}
	return u.Object
}

func (q *sequence) run() {
	c := converter(q.Schema)
	live := object{"apiVersion": "apps/v1", "kind": "Deployment"}
	if q.Start != nil {
		live = runtime.DeepCopyJSON(q.Start)
	}
	for i, s := range q.Steps {
		live = s.run(c, live, i)
	}
}

func main() {
	random := flag.Int("random", 60, "random sequences per schema")
	seed := flag.Int64("seed", 1, "of the random sequences")
	flag.Parse()
	all := append(cases(), randomCases(*random, *seed)...)
	described := object{}
	for name, text := range schemas {
		described[name] = json.RawMessage(text)
	}
	out := &bytes.Buffer{}
	head, err := json.Marshal(described)
	check(err)
	fmt.Fprintf(out, "{\"schemas\":%s,\n\"sequences\":[\n", head)
	for i, q := range all {
		q.run()
		line, err := json.Marshal(q)
		check(err)
		out.Write(line)
		if i+1 < len(all) {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("]}\n")
	os.Stdout.Write(out.Bytes())
}
