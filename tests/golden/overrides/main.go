// Makes tests/golden/overrides.json: override policies applied by Karmada's own override manager, image names read by its
// image parser, and names made by its name functions. Karmada has no stable Go API, so this runs inside a checkout of it:
//
//	cp -r tests/golden/overrides <karmada>/goldengen && cd <karmada> && go run -mod=vendor ./goldengen > overrides.json
//
// The cases are cases.yaml beside this file; nothing in the output depends on time or order of maps.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	"github.com/karmada-io/karmada/pkg/util/gclient"
	"github.com/karmada-io/karmada/pkg/util/imageparser"
	"github.com/karmada-io/karmada/pkg/util/names"
	"github.com/karmada-io/karmada/pkg/util/overridemanager"
)

//go:embed cases.yaml
var casesText []byte

type object = map[string]any

type cases struct {
	Objects  map[string]object `json:"objects"`
	Clusters map[string]object `json:"clusters"`
	Apply    []applyCase       `json:"apply"`
	Images   []string          `json:"images"`
	Names    [][3]string       `json:"names"` // kind, namespace, name
}

type applyCase struct {
	Name     string   `json:"name"`
	Object   string   `json:"object"`
	Cluster  string   `json:"cluster"`
	Policies []object `json:"policies"`

	Result           object `json:"result,omitempty"`
	ClusterOverrides string `json:"clusterOverrides,omitempty"`
	Overrides        string `json:"overrides,omitempty"`
	Error            string `json:"error,omitempty"`
}

type imageRow struct {
	Image      string `json:"image"`
	Registry   string `json:"registry,omitempty"`
	Repository string `json:"repository,omitempty"`
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest,omitempty"`
	Error      string `json:"error,omitempty"`
}

type nameRow struct {
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	Binding      string `json:"binding"`
	Work         string `json:"work"`
	ReferenceKey string `json:"referenceKey"`
	Policy       string `json:"policy"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func into(from any, to any) {
	text, err := json.Marshal(from)
	must(err)
	must(json.Unmarshal(text, to))
}

func clone(from object) object {
	u := unstructured.Unstructured{Object: from}
	text, err := u.MarshalJSON()
	must(err)
	var copied unstructured.Unstructured
	must(copied.UnmarshalJSON(text))
	return copied.Object
}

func policyOf(from object) client.Object {
	if from["kind"] == "ClusterOverridePolicy" {
		policy := &policyv1alpha1.ClusterOverridePolicy{}
		into(from, policy)
		return policy
	}
	policy := &policyv1alpha1.OverridePolicy{}
	into(from, policy)
	return policy
}

func annotation(applied *overridemanager.AppliedOverrides) string {
	if applied == nil {
		return ""
	}
	text, err := applied.MarshalJSON()
	must(err)
	return string(text)
}

func run(all *cases, c *applyCase) {
	defer func() {
		if r := recover(); r != nil {
			c.Error = fmt.Sprint("panic: ", r)
		}
	}()
	cluster := &clusterv1alpha1.Cluster{}
	into(all.Clusters[c.Cluster], cluster)
	builder := fake.NewClientBuilder().WithScheme(gclient.NewSchema()).WithObjects(cluster)
	for _, policy := range c.Policies {
		builder = builder.WithObjects(policyOf(policy))
	}
	manager := overridemanager.New(builder.Build(), &record.FakeRecorder{})
	result := &unstructured.Unstructured{Object: clone(all.Objects[c.Object])}
	clusterOverrides, overrides, err := manager.ApplyOverridePolicies(result, cluster.Name)
	if err != nil {
		c.Error = err.Error()
		return
	}
	c.Result = result.Object
	c.ClusterOverrides = annotation(clusterOverrides)
	c.Overrides = annotation(overrides)
}

func image(text string) imageRow {
	parsed, err := imageparser.Parse(text)
	if err != nil {
		return imageRow{Image: text, Error: err.Error()}
	}
	return imageRow{Image: text, Registry: parsed.Hostname(), Repository: parsed.Repository(), Tag: parsed.Tag(), Digest: parsed.Digest()}
}

func line(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(value))
	return strings.TrimSuffix(out.String(), "\n")
}

func lines[T any](rows []T) string {
	var texts []string
	for _, row := range rows {
		texts = append(texts, line(row))
	}
	return "[\n" + strings.Join(texts, ",\n") + "]"
}

func main() {
	var all cases
	must(yaml.Unmarshal(casesText, &all))
	for i := range all.Apply {
		run(&all, &all.Apply[i])
	}
	var images []imageRow
	for _, text := range all.Images {
		images = append(images, image(text))
	}
	var named []nameRow
	for _, n := range all.Names {
		named = append(named, nameRow{Kind: n[0], Namespace: n[1], Name: n[2],
			Binding: names.GenerateBindingName(n[0], n[2]), Work: names.GenerateWorkName(n[0], n[2], n[1]),
			ReferenceKey: names.GenerateBindingReferenceKey(n[1], n[2]), Policy: names.GeneratePolicyName(n[1], n[2], n[0])})
	}
	fmt.Printf("{\"objects\": %s,\n \"clusters\": %s,\n", line(all.Objects), line(all.Clusters))
	fmt.Printf(" \"apply\": %s,\n \"images\": %s,\n \"names\": %s}\n", lines(all.Apply), lines(images), lines(named))
}
