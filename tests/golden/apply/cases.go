package main

import (
	"fmt"
	"math/rand"
	"sort"

	"k8s.io/apimachinery/pkg/runtime"
)

func base(text string) object {
	out := object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "web", "namespace": "default"}}
	for k, v := range parse(text) {
		if k == "metadata" {
			for mk, mv := range v.(object) {
				out["metadata"].(object)[mk] = mv
			}
		} else {
			out[k] = v
		}
	}
	return out
}

func apply(manager, text string) *step {
	return &step{Op: "apply", Manager: manager, Object: base(text)}
}
func force(manager, text string) *step {
	return &step{Op: "apply", Manager: manager, Force: true, Object: base(text)}
}
func update(manager, text string) *step {
	return &step{Op: "update", Manager: manager, Object: base(text)}
}
func merge(manager, text string) *step {
	return &step{Op: "update", Manager: manager, Merge: parse(text)}
}
func (s *step) status() *step { s.Subresource = "status"; s.Reset = true; return s }
func (s *step) main() *step   { s.Reset = true; return s }

type row struct {
	name  string
	steps func() []*step
}

func steps(list ...*step) []*step { return list }

var rows = []row{
	{"create by update", func() []*step { return steps(update("u", `{"spec":{"replicas":3},"metadata":{"labels":{"a":"1"}}}`)) }},
	{"create by apply", func() []*step { return steps(apply("a", `{"spec":{"replicas":3},"metadata":{"labels":{"a":"1"}}}`)) }},
	{"apply twice", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), apply("a", `{"spec":{"replicas":3}}`))
	}},
	{"apply only a name", func() []*step { return steps(apply("a", `{}`), apply("b", `{"spec":{}}`), apply("b", `{}`)) }},
	{"two appliers share", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), apply("b", `{"spec":{"replicas":3}}`), apply("a", `{}`), apply("b", `{}`))
	}},
	{"conflict with an applier", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), apply("b", `{"spec":{"replicas":4}}`), force("b", `{"spec":{"replicas":4}}`))
	}},
	{"conflict with an updater", func() []*step {
		return steps(update("u", `{"spec":{"replicas":3}}`), apply("b", `{"spec":{"replicas":4}}`), force("b", `{"spec":{"replicas":4}}`))
	}},
	{"conflicts with many", func() []*step {
		return steps(update("u", `{"spec":{"replicas":3}}`), apply("a", `{"spec":{"paused":true,"ratio":0.5},"metadata":{"labels":{"x":"1"}}}`),
			apply("b", `{"spec":{"replicas":4,"paused":false,"ratio":1.5},"metadata":{"labels":{"x":"2"}}}`))
	}},
	{"removal of an owned field", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3,"paused":true}}`), apply("a", `{"spec":{"paused":true}}`))
	}},
	{"removal of a shared field", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3,"paused":true}}`), apply("b", `{"spec":{"replicas":3}}`), apply("a", `{"spec":{"paused":true}}`))
	}},
	{"update takes a field", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), merge("u", `{"spec":{"replicas":5}}`), apply("a", `{"spec":{"replicas":5}}`), apply("a", `{}`))
	}},
	{"update takes and apply conflicts", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), merge("u", `{"spec":{"replicas":5}}`), apply("a", `{"spec":{"replicas":3}}`))
	}},
	{"update removes a field", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3,"paused":true}}`), merge("u", `{"spec":{"replicas":null}}`))
	}},
	{"update removes the last field", func() []*step { return steps(apply("a", `{"spec":{"replicas":3}}`), merge("u", `{"spec":null}`)) }},
	{"update that changes nothing", func() []*step {
		return steps(update("u", `{"spec":{"replicas":3}}`), merge("v", `{}`), merge("u", `{}`))
	}},
	{"update by the same manager", func() []*step {
		return steps(update("u", `{"spec":{"replicas":3}}`), merge("u", `{"spec":{"paused":true}}`), merge("u", `{"spec":{"replicas":4}}`))
	}},
	{"update of ignored metadata", func() []*step {
		return steps(update("u", `{"spec":{"replicas":3}}`), merge("v", `{"metadata":{"generation":2,"resourceVersion":"7","creationTimestamp":"2020-01-01T00:00:00Z","selfLink":"/x"}}`))
	}},
	{"metadata that is tracked", func() []*step {
		return steps(update("u", `{"metadata":{"generateName":"x","deletionGracePeriodSeconds":3,"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"1"}]}}`))
	}},
	{"labels are granular", func() []*step {
		return steps(apply("a", `{"metadata":{"labels":{"a":"1","b":"2"}}}`), apply("b", `{"metadata":{"labels":{"c":"3"}}}`), apply("a", `{"metadata":{"labels":{"a":"1"}}}`), apply("b", `{"metadata":{}}`))
	}},
	{"all labels go", func() []*step {
		return steps(apply("a", `{"metadata":{"labels":{"a":"1","b":"2"}}}`), apply("a", `{}`))
	}},
	{"labels made empty", func() []*step {
		return steps(apply("a", `{"metadata":{"labels":{"a":"1"}}}`), apply("a", `{"metadata":{"labels":{}}}`), apply("a", `{"metadata":{"labels":null}}`), apply("a", `{}`))
	}},
	{"finalizers are a set", func() []*step {
		return steps(apply("a", `{"metadata":{"finalizers":["x/a","x/b"]}}`), apply("b", `{"metadata":{"finalizers":["x/c","x/a"]}}`), apply("a", `{"metadata":{"finalizers":["x/b"]}}`), apply("b", `{}`))
	}},
	{"finalizers by update", func() []*step {
		return steps(update("u", `{"metadata":{"finalizers":["x/a","x/b"]}}`), merge("v", `{"metadata":{"finalizers":["x/b","x/c"]}}`), merge("v", `{"metadata":{"finalizers":null}}`))
	}},
	{"selector is atomic", func() []*step {
		return steps(apply("a", `{"spec":{"selector":{"matchLabels":{"a":"1"}}}}`), apply("b", `{"spec":{"selector":{"matchLabels":{"b":"1"}}}}`), force("b", `{"spec":{"selector":{"matchLabels":{"b":"1"}}}}`), apply("b", `{}`))
	}},
	{"containers by name", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"containers":[{"name":"app","image":"v1"}]}}}`), apply("b", `{"spec":{"template":{"containers":[{"name":"side","image":"v1"}]}}}`),
			apply("a", `{"spec":{"template":{"containers":[{"name":"app","image":"v2"}]}}}`), apply("b", `{"spec":{"template":{}}}`), apply("b", `{}`))
	}},
	{"container fields by two", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"containers":[{"name":"app","image":"v1"}]}}}`), apply("b", `{"spec":{"template":{"containers":[{"name":"app","args":["x"]}]}}}`),
			apply("a", `{}`), apply("b", `{}`))
	}},
	{"container kept by an updater", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"containers":[{"name":"app","image":"v1"}]}}}`), update("u", `{"metadata":{"uid":"u1"},"spec":{"template":{"containers":[{"name":"app","image":"v1","args":["x"]}]}}}`),
			apply("a", `{}`))
	}},
	{"order follows the configuration", func() []*step {
		return steps(update("u", `{"spec":{"template":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}}}`),
			apply("x", `{"spec":{"template":{"containers":[{"name":"c","image":"1"},{"name":"n"},{"name":"a","image":"1"}]}}}`))
	}},
	{"order of new items", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"containers":[{"name":"a"},{"name":"b"}]}}}`),
			apply("b", `{"spec":{"template":{"containers":[{"name":"x"},{"name":"b"},{"name":"y"}]}}}`), apply("c", `{"spec":{"template":{"containers":[{"name":"y"},{"name":"z"},{"name":"a"}]}}}`))
	}},
	{"order of a set", func() []*step {
		return steps(update("u", `{"spec":{"zones":["c","a","b"]}}`), apply("x", `{"spec":{"zones":["b","n","c"]}}`), apply("x", `{"spec":{"zones":["n"]}}`))
	}},
	{"set of numbers", func() []*step {
		return steps(apply("x", `{"spec":{"numbers":[10,9,100]}}`), apply("x", `{"spec":{"numbers":[9,3]}}`))
	}},
	{"ports with default protocol", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"containers":[{"name":"app","ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP","name":"u"}]}]}}}`),
			apply("b", `{"spec":{"template":{"containers":[{"name":"app","ports":[{"containerPort":80,"protocol":"TCP","name":"web"}]}]}}}`),
			apply("a", `{"spec":{"template":{"containers":[{"name":"app","ports":[{"containerPort":443}]}]}}}`))
	}},
	{"env by name", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"containers":[{"name":"app","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}]}}}`),
			merge("u", `{"spec":{"template":{"containers":[{"name":"app","env":[{"name":"A","value":"9"},{"name":"C"}]}]}}}`),
			apply("a", `{"spec":{"template":{"containers":[{"name":"app","env":[{"name":"B","value":"2"}]}]}}}`))
	}},
	{"args are atomic", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"containers":[{"name":"app","args":["x","y"]}]}}}`), force("b", `{"spec":{"template":{"containers":[{"name":"app","args":["z"]}]}}}`),
			apply("a", `{"spec":{"template":{"containers":[{"name":"app"}]}}}`))
	}},
	{"limits as int or string", func() []*step {
		return steps(apply("a", `{"spec":{"port":80,"template":{"containers":[{"name":"app","resources":{"limits":{"cpu":1,"memory":"1Gi"}}}]}}}`),
			force("b", `{"spec":{"port":"http","template":{"containers":[{"name":"app","resources":{"limits":{"cpu":"1"}}}]}}}`), apply("a", `{"spec":{"template":{"containers":[{"name":"app","resources":{}}]}}}`))
	}},
	{"whole and fractional numbers", func() []*step {
		return steps(update("u", `{"spec":{"ratio":1.5}}`), merge("v", `{"spec":{"ratio":2}}`), merge("w", `{"spec":{"ratio":2.5}}`), apply("a", `{"spec":{"ratio":2.5}}`))
	}},
	{"nested maps", func() []*step {
		return steps(apply("a", `{"spec":{"nested":{"x":{"a":"1"},"y":{"b":"2"}}}}`), apply("b", `{"spec":{"nested":{"x":{"c":"3"}}}}`), apply("a", `{"spec":{"nested":{"y":{"b":"3"}}}}`), apply("b", `{"spec":{"nested":{}}}`))
	}},
	{"preserved fields are deduced", func() []*step {
		return steps(apply("a", `{"spec":{"extra":{"m":{"x":1},"l":[1,{"a":2}],"s":"t"}}}`), apply("b", `{"spec":{"extra":{"m":{"y":2},"l":[1,{"a":2}]}}}`), force("b", `{"spec":{"extra":{"m":{"y":2},"l":[3]}}}`), apply("a", `{"spec":{"extra":{"m":{}}}}`))
	}},
	{"free and mixed objects", func() []*step {
		return steps(apply("a", `{"spec":{"free":{"m":{"x":1}},"mixed":{"known":{"a":1},"other":{"b":2}}}}`), apply("a", `{"spec":{"mixed":{"known":{"a":2}}}}`), apply("a", `{"spec":{"mixed":{}}}`), apply("a", `{}`))
	}},
	{"preserved fields change their kind", func() []*step {
		return steps(update("u", `{"spec":{"extra":{"m":{"x":1}}}}`), merge("v", `{"spec":{"extra":{"m":"text"}}}`), merge("u", `{"spec":{"extra":{"m":[1]}}}`), force("a", `{"spec":{"extra":{"m":{"z":1}}}}`), force("a", `{"spec":{"extra":{"m":null}}}`))
	}},
	{"nulls in a configuration", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":null,"template":null,"zones":null}}`), apply("b", `{"spec":{"replicas":3,"zones":["a"]}}`), force("a", `{"spec":{"replicas":null}}`), apply("a", `{}`))
	}},
	{"empty lists and maps", func() []*step {
		return steps(apply("a", `{"spec":{"zones":[],"plain":[],"template":{"containers":[],"labels":{}}}}`), apply("b", `{"spec":{"zones":["a"],"plain":["x"],"template":{"labels":{"a":"1"}}}}`), apply("b", `{"spec":{}}`))
	}},
	{"duplicates in a live list", func() []*step {
		return steps(update("u", `{"spec":{"zones":["a","a","b"],"template":{"containers":[{"name":"a","image":"1"},{"name":"a","image":"2"},{"name":"b"}]}}}`),
			apply("x", `{"spec":{"zones":["b","c"],"template":{"containers":[{"name":"b","image":"1"}]}}}`), merge("v", `{"spec":{"zones":["a","b","c"],"template":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}}}`),
			merge("v", `{"spec":{"zones":["a","a","c"],"template":{"containers":[{"name":"b","image":"1"},{"name":"b","image":"3"}]}}}`))
	}},
	{"apply over duplicates", func() []*step {
		return steps(update("u", `{"spec":{"template":{"containers":[{"name":"a","image":"1"},{"name":"a","image":"2"},{"name":"b"}]}}}`), force("x", `{"spec":{"template":{"containers":[{"name":"a","image":"3"}]}}}`))
	}},
	{"status by its subresource", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3},"status":{"ready":1}}`).main(), merge("c", `{"spec":{"replicas":9},"status":{"ready":2,"conditions":[{"type":"Ready","status":"True","time":"2020-01-01T00:00:00Z"}]}}`).status(),
			apply("a", `{"spec":{"replicas":3}}`).main(), apply("d", `{"status":{"ready":2}}`).status(), apply("d", `{"status":{"ready":3}}`).status(), apply("d", `{"status":{}}`).status())
	}},
	{"status conditions by type", func() []*step {
		return steps(update("u", `{"spec":{"replicas":1}}`), merge("c", `{"status":{"conditions":[{"type":"A","status":"True"},{"type":"B","status":"False"}]}}`).status(), merge("d", `{"status":{"conditions":[{"type":"A","status":"False"},{"type":"C","status":"True"}]}}`).status(),
			apply("e", `{"status":{"conditions":[{"type":"A","status":"True"}]}}`).status(), force("e", `{"status":{"conditions":[{"type":"A","status":"True"}]}}`).status())
	}},
	{"same manager on main and status", func() []*step {
		return steps(update("u", `{"spec":{"replicas":1}}`).main(), merge("u", `{"status":{"ready":1}}`).status(), merge("u", `{"spec":{"replicas":2}}`).main(), apply("u", `{"spec":{"replicas":2}}`).main(), apply("u", `{"status":{"ready":1}}`).status())
	}},
	{"managedFields reset by an empty entry", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), merge("u", `{"metadata":{"managedFields":[{}]}}`), merge("u", `{"spec":{"replicas":4}}`), apply("a", `{"spec":{"replicas":4}}`), apply("a", `{"spec":{"replicas":5}}`), force("a", `{"spec":{"replicas":5}}`))
	}},
	{"managedFields reset by an empty list", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), merge("u", `{"spec":{"paused":true},"metadata":{"managedFields":[]}}`), apply("b", `{"metadata":{"labels":{"x":"1"}}}`))
	}},
	{"managedFields of the request", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), merge("u", `{"spec":{"paused":true},"metadata":{"managedFields":[{"manager":"z","operation":"Update","apiVersion":"apps/v1","time":"2023-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]}}`),
			merge("u", `{"metadata":{"managedFields":[{"manager":"z"}]}}`), merge("u", `{"spec":{"ratio":1.5},"metadata":{"managedFields":null}}`))
	}},
	{"managedFields cannot be written through status", func() []*step {
		return steps(apply("a", `{"spec":{"replicas":3}}`), merge("u", `{"status":{"ready":1},"metadata":{"managedFields":[{}]}}`).status())
	}},
	{"managedFields in a configuration", func() []*step { return steps(apply("a", `{"spec":{"replicas":3},"metadata":{"managedFields":[]}}`)) }},
	{"versions of managers", func() []*step {
		return steps(update("u", `{"spec":{"replicas":3},"metadata":{"managedFields":[{"manager":"u","operation":"Update","apiVersion":"apps/v1beta1","time":"2023-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:paused":{}}}}]}}`),
			merge("u", `{"spec":{"paused":false}}`), apply("a", `{"spec":{"replicas":4}}`))
	}},
	{"too many updaters", func() []*step {
		list := steps(update("u0", `{"spec":{"nested":{"k0":{"a":"0"}}}}`))
		for i := 1; i < 14; i++ {
			list = append(list, merge(fmt.Sprintf("u%d", i), fmt.Sprintf(`{"spec":{"nested":{"k%d":{"a":"0"}}}}`, i)))
		}
		return append(list, apply("x", `{"spec":{"nested":{"k1":{"a":"1"}}}}`), merge("u0", `{"spec":{"nested":{"k0":{"a":"2"}}}}`))
	}},
	{"names that need quotes", func() []*step {
		return steps(update(`we"ird <x>`, `{"metadata":{"labels":{"a/b.c":"1"}},"spec":{"zones":["<&>","q\"q"],"template":{"containers":[{"name":"a<b","image":"1"}]}}}`), apply("", `{"metadata":{"labels":{"a/b.c":"2"}},"spec":{"template":{"containers":[{"name":"a<b","image":"2"}]}}}`))
	}},
	{"invalid: unknown field", func() []*step { return steps(apply("a", `{"spec":{"nope":1}}`), update("u", `{"spec":{"nope":1}}`)) }},
	{"invalid: duplicate item", func() []*step {
		return steps(apply("a", `{"spec":{"zones":["a","a"]}}`), apply("a", `{"spec":{"template":{"containers":[{"name":"x"},{"name":"x"}]}}}`))
	}},
	{"invalid: no key", func() []*step { return steps(apply("a", `{"spec":{"template":{"containers":[{"image":"x"}]}}}`)) }},
	{"invalid: nulls in lists", func() []*step {
		return steps(apply("a", `{"spec":{"zones":[null]}}`), apply("a", `{"spec":{"template":{"containers":[null]}}}`))
	}},
	{"kubectl takes over client-side apply", func() []*step {
		return steps(update("kubectl-client-side-apply", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\",\"namespace\":\"default\"},\"spec\":{\"replicas\":3}}"}},"spec":{"replicas":3,"paused":true}}`),
			apply("kubectl", `{"spec":{"replicas":4}}`), apply("kubectl", `{"spec":{"replicas":4,"paused":false}}`), apply("other", `{"spec":{"replicas":5}}`))
	}},
	{"owner references by uid", func() []*step {
		return steps(apply("a", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"1"}]}}`), apply("b", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"b","uid":"2"}]}}`), apply("a", `{}`))
	}},
	{"parent removed with children of others", func() []*step {
		return steps(apply("a", `{"spec":{"template":{"labels":{"a":"1"},"containers":[{"name":"x","image":"1"}]}}}`), merge("u", `{"spec":{"template":{"labels":{"b":"2"}}}}`), apply("a", `{}`))
	}},
	{"forced apply empties others", func() []*step {
		return steps(update("u", `{"spec":{"replicas":3}}`), apply("a", `{"spec":{"paused":true}}`), force("b", `{"spec":{"replicas":4,"paused":false}}`))
	}},
}

func cases() []*sequence {
	var all []*sequence
	for _, r := range rows {
		for _, s := range []string{"deployment", "deduced"} {
			all = append(all, &sequence{Name: r.name, Schema: s, Steps: r.steps()})
		}
	}
	old := base(`{"metadata":{"uid":"u1","labels":{"a":"1"}},"spec":{"replicas":3,"template":{"containers":[{"name":"x","image":"1"}]}},"status":{"ready":1}}`)
	for _, s := range []string{"deployment", "deduced", "crd"} {
		all = append(all,
			&sequence{Name: "older than tracking: update", Schema: s, Start: old, Steps: steps(merge("u", `{"spec":{"replicas":4}}`))},
			&sequence{Name: "older than tracking: apply", Schema: s, Start: old, Steps: steps(apply("a", `{"spec":{"replicas":4}}`), apply("a", `{"spec":{"paused":true}}`), force("a", `{"spec":{"replicas":4}}`))},
			&sequence{Name: "older than tracking: status", Schema: s, Start: old, Steps: steps(apply("a", `{"status":{"ready":1}}`).status(), apply("b", `{"spec":{"replicas":3}}`).main())})
	}
	atomic := base(`{"metadata":{"uid":"u1","managedFields":[{"manager":"a","operation":"Apply","apiVersion":"apps/v1","time":"2023-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:selector":{"f:matchLabels":{"f:a":{}}},"f:plain":{"v:\"x\"":{}}}}}]},"spec":{"selector":{"matchLabels":{"a":"1"}},"plain":["x"]}}`)
	all = append(all, &sequence{Name: "types that became atomic", Schema: "deployment", Start: atomic, Steps: steps(merge("u", `{"spec":{"replicas":1}}`), force("b", `{"spec":{"plain":["y"]}}`), apply("a", `{}`))})
	return all
}

// ---- random sequences ----

type dice struct{ *rand.Rand }

func (d dice) one(of int) bool { return d.Intn(of) == 0 }

func (d dice) pick(options ...string) string { return options[d.Intn(len(options))] }

func (d dice) textMap() interface{} {
	if d.one(12) {
		return nil
	}
	out := object{}
	for _, k := range []string{"a", "b", "c"} {
		if d.one(2) {
			out[k] = d.pick("1", "2")
		}
	}
	return out
}

func (d dice) texts(options ...string) []interface{} {
	out := []interface{}{}
	for _, i := range d.Perm(len(options)) {
		if d.one(2) {
			out = append(out, options[i])
		}
	}
	return out
}

func (d dice) any(depth int) interface{} {
	switch d.Intn(6) {
	case 0:
		return nil
	case 1:
		return int64(d.Intn(3))
	case 2:
		return []interface{}{d.pick("x", "y")}
	case 3:
		return d.pick("s", "t")
	}
	out := object{}
	if depth > 0 {
		for _, k := range []string{"p", "q"} {
			if d.one(2) {
				out[k] = d.any(depth - 1)
			}
		}
	}
	return out
}

func (d dice) container(name string) object {
	out := object{"name": name}
	if d.one(2) {
		out["image"] = d.pick("1", "2")
	}
	if d.one(4) {
		out["args"] = d.texts("x", "y")
	}
	if d.one(3) {
		env := []interface{}{}
		for _, n := range d.texts("A", "B", "C") {
			e := object{"name": n}
			if d.one(2) {
				e["value"] = d.pick("1", "2")
			}
			env = append(env, e)
		}
		out["env"] = env
	}
	if d.one(3) {
		ports := []interface{}{}
		if d.one(2) {
			ports = append(ports, object{"containerPort": int64(80)})
		} else if d.one(2) {
			ports = append(ports, object{"containerPort": int64(80), "protocol": "TCP", "name": "web"})
		}
		if d.one(2) {
			ports = append(ports, object{"containerPort": int64(80), "protocol": "UDP"})
		}
		out["ports"] = ports
	}
	if d.one(5) {
		out["resources"] = object{"limits": d.textMap()}
	}
	return out
}

func (d dice) spec() object {
	out := object{}
	if d.one(2) {
		out["replicas"] = int64(d.Intn(3))
	}
	if d.one(5) {
		out["paused"] = d.one(2)
	}
	if d.one(5) {
		out["selector"] = object{"matchLabels": d.textMap()}
	}
	if d.one(3) {
		out["zones"] = d.texts("x", "y", "z")
	}
	if d.one(3) {
		out["extra"] = object{"p": d.any(2), "q": d.any(1)}
	}
	if d.one(4) {
		out["mixed"] = object{"known": object{"a": int64(d.Intn(2))}, "more": d.any(1)}
	}
	if d.one(4) {
		out["nested"] = object{"p": d.textMap(), "q": d.textMap()}
	}
	if d.one(2) {
		template := object{}
		if d.one(2) {
			template["labels"] = d.textMap()
		}
		containers := []interface{}{}
		for _, n := range d.texts("a", "b", "c") {
			containers = append(containers, d.container(n.(string)))
		}
		template["containers"] = containers
		out["template"] = template
	}
	return out
}

func (d dice) config() object {
	out := base(`{}`)
	meta := out["metadata"].(object)
	if d.one(2) {
		meta["labels"] = d.textMap()
	}
	if d.one(3) {
		meta["finalizers"] = d.texts("x/a", "x/b", "x/c")
	}
	if !d.one(6) {
		out["spec"] = d.spec()
	}
	return out
}

// An update: the live object with some of its parts replaced.
func (d dice) change(live object) object {
	out := runtime.DeepCopyJSON(live)
	fresh := d.config()
	for _, part := range []string{"metadata", "spec"} {
		have, ok := out[part].(object)
		if !ok {
			have = object{}
			out[part] = have
		}
		want, _ := fresh[part].(object)
		for k, v := range want {
			have[k] = v
		}
		if part == "spec" {
			if zones, ok := have["zones"].([]interface{}); ok && len(zones) > 0 && d.one(4) {
				have["zones"] = append(zones, zones[0])
			}
			if t, ok := have["template"].(object); ok {
				if list, ok := t["containers"].([]interface{}); ok && len(list) > 0 && d.one(4) {
					t["containers"] = append(list, d.container(list[0].(object)["name"].(string)))
				}
			}
			keys := []string{}
			for k := range have {
				keys = append(keys, k)
			}
			sort.Strings(keys) // the dice need an order
			for _, k := range keys {
				if d.one(8) {
					delete(have, k)
				}
			}
		}
	}
	return out
}

// A write of status, which also tries to change the rest.
func (d dice) status(live object, op string) object {
	out := base(`{}`)
	if op == "update" {
		out = runtime.DeepCopyJSON(live)
	}
	if d.one(3) {
		out["spec"] = d.spec()
	}
	conditions := []interface{}{}
	for _, t := range d.texts("A", "B", "C") {
		conditions = append(conditions, object{"type": t, "status": d.pick("True", "False")})
	}
	out["status"] = object{"conditions": conditions}
	if d.one(2) {
		out["status"].(object)["ready"] = int64(d.Intn(2))
	}
	return out
}

func randomCases(count int, seed int64) []*sequence {
	var all []*sequence
	for _, schema := range []string{"deployment", "deduced", "crd"} {
		c := converter(schema)
		for i := 0; i < count; i++ {
			d := dice{rand.New(rand.NewSource(seed*1000003 + int64(i)))}
			q := &sequence{Name: fmt.Sprintf("random %d", i), Schema: schema}
			live := object{"apiVersion": "apps/v1", "kind": "Deployment"}
			for n := 0; n < 6; n++ {
				s := &step{Op: "apply", Manager: d.pick("a", "b", "c"), Force: d.one(2)}
				if schema != "deduced" && d.one(5) {
					s.Op, s.Force, s.Manager, s.Subresource, s.Reset = d.pick("apply", "update"), d.one(2), d.pick("a", "u"), "status", true
					s.Object = d.status(live, s.Op)
				} else if d.one(3) {
					s.Op, s.Force, s.Manager = "update", false, d.pick("u", "v")
					s.Object = d.change(live)
				} else {
					s.Object = d.config()
				}
				live = s.run(c, live, n)
				q.Steps = append(q.Steps, &step{Op: s.Op, Manager: s.Manager, Force: s.Force, Subresource: s.Subresource, Reset: s.Reset, Object: s.Object})
			}
			all = append(all, q)
		}
	}
	return all
}
