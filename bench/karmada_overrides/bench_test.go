// The same rendering as bench/overrides_bench.cc by Karmada's own code. It needs functions that are not exported, so it runs
// inside a checkout of Karmada:
//
//	cp bench/karmada_overrides/bench_test.go <karmada>/pkg/util/overridemanager/
//	cd <karmada> && DEPLOYMENT=<baton>/bench/data/deployment.json go test -mod=vendor -run=^$ -bench=Render ./pkg/util/overridemanager
//
// CPU time (of all threads) is what to compare on a busy machine. Policies are in memory and decoded; finding and listing them is not counted.
package overridemanager

import (
	"os"
	"syscall"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
)

func policy(name string, target *policyv1alpha1.ClusterAffinity, overriders policyv1alpha1.Overriders) GeneralOverridePolicy {
	return &policyv1alpha1.OverridePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "prod"},
		Spec: policyv1alpha1.OverrideSpec{
			OverrideRules: []policyv1alpha1.RuleWithCluster{{TargetCluster: target, Overriders: overriders}},
		},
	}
}

func cpuNanoseconds() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func BenchmarkRender(b *testing.B) {
	text, err := os.ReadFile(os.Getenv("DEPLOYMENT"))
	if err != nil {
		b.Fatal(err)
	}
	var deployment unstructured.Unstructured
	if err := deployment.UnmarshalJSON(text); err != nil {
		b.Fatal(err)
	}
	cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "member1", Labels: map[string]string{"env": "prod"}}}
	policies := []GeneralOverridePolicy{
		policy("mirror", nil, policyv1alpha1.Overriders{ImageOverrider: []policyv1alpha1.ImageOverrider{
			{Component: policyv1alpha1.Registry, Operator: policyv1alpha1.OverriderOpReplace, Value: "mirror.example:5000"}}}),
		policy("site", &policyv1alpha1.ClusterAffinity{ClusterNames: []string{"member1"}}, policyv1alpha1.Overriders{Plaintext: []policyv1alpha1.PlaintextOverrider{
			{Path: "/spec/template/spec/nodeSelector", Operator: policyv1alpha1.OverriderOpAdd, Value: apiextensionsv1.JSON{Raw: []byte(`{"zone":"a"}`)}},
			{Path: "/spec/paused", Operator: policyv1alpha1.OverriderOpAdd, Value: apiextensionsv1.JSON{Raw: []byte("false")}}}}),
		policy("labels", &policyv1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}},
			policyv1alpha1.Overriders{LabelsOverrider: []policyv1alpha1.LabelAnnotationOverrider{
				{Operator: policyv1alpha1.OverriderOpAdd, Value: map[string]string{"site": "member1", "env": "prod"}}}}),
	}
	manager := &overrideManagerImpl{}
	b.ReportAllocs()
	before := cpuNanoseconds()
	for b.Loop() {
		object := deployment.DeepCopy()
		if err := unstructured.SetNestedField(object.Object, int64(3), "spec", "replicas"); err != nil {
			b.Fatal(err)
		}
		applied := &AppliedOverrides{}
		for _, p := range manager.getOverridersFromOverridePolicies(policies, object, cluster) {
			if err := applyPolicyOverriders(object, p.overriders); err != nil {
				b.Fatal(err)
			}
			applied.Add(p.name, p.overriders)
		}
		if _, err := applied.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuNanoseconds()-before)/float64(b.N), "cpu-ns/op")
}
