package main

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The checks by the names of their functions in src/json/names.h.
var nameChecks = []struct {
	name  string
	check func(string) []string
}{
	{"Dns1123Label", validation.IsDNS1123Label},
	{"Dns1123Subdomain", validation.IsDNS1123Subdomain},
	{"Dns1035Label", validation.IsDNS1035Label},
	{"WildcardDns1123Subdomain", validation.IsWildcardDNS1123Subdomain},
	{"FullyQualifiedDomainName", func(in string) []string {
		return details(validation.IsFullyQualifiedDomainName(nil, in))
	}},
	{"QualifiedName", validation.IsQualifiedName},
	{"LabelValue", validation.IsValidLabelValue},
	{"AnnotationKey", func(in string) []string {
		return details(apivalidation.ValidateAnnotations(map[string]string{in: ""}, nil))
	}},
	{"FinalizerName", func(in string) []string { return details(apivalidation.ValidateFinalizerName(in, nil)) }},
	{"PathSegmentName", path.IsValidPathSegmentName},
	{"PathSegmentPrefix", path.IsValidPathSegmentPrefix},
	{"PortName", validation.IsValidPortName},
	{"ConfigMapKey", validation.IsConfigMapKey},
	{"CIdentifier", validation.IsCIdentifier},
	{"EnvVarName", validation.IsEnvVarName},
	{"Percent", validation.IsValidPercent},
	{"GenerateNameLabel", func(in string) []string { return apivalidation.NameIsDNSLabel(in, true) }},
	{"GenerateNameSubdomain", func(in string) []string { return apivalidation.NameIsDNSSubdomain(in, true) }},
}

func details(errors field.ErrorList) []string {
	var messages []string
	for _, err := range errors {
		if err.Type == field.ErrorTypeRequired {
			messages = append(messages, err.ErrorBody())
		} else {
			messages = append(messages, err.Detail)
		}
	}
	return messages
}

type nameRow struct {
	In     string           `json:"in"`
	Errors map[string][]int `json:"errors"` // by check: indexes into the messages; a check that is not here passed
}

// Every input goes through every check.
func nameRows() (messages, rows []any) {
	index := map[string]int{}
	for _, in := range nameInputs() {
		row := nameRow{In: in, Errors: map[string][]int{}}
		for _, c := range nameChecks {
			for _, message := range c.check(in) {
				if _, known := index[message]; !known {
					index[message] = len(messages)
					messages = append(messages, message)
				}
				row.Errors[c.name] = append(row.Errors[c.name], index[message])
			}
		}
		rows = append(rows, row)
	}
	return messages, rows
}

func nameInputs() []string {
	inputs := []string{
		"", "a", "1", "A", "-", ".", "..", "...", "..a", ".a", "a.", "_", "_a", "a_", "a_b", "*", "/", "%", "~",
		" ", "a b", " a", "a ", "a\n", "\na", "a\x00b", "é", "aé", "日本",
		"abc", "abc-123", "123-abc", "123", "0", "a-", "-a", "a-b", "a--b", "a.b", "a..b", "a-.b", "a.-b", "a.b.c",
		"a.b.", "example.com", "example.com.", "Example.com", "www.example.com", "1.2.3.4", "a.1", "1.a",
		"*.example.com", "*.com", "*.*.com", "*.a.*.com", "*a.com", "a*.com", "*.", "**.com", ".com", "*.a.", "*.-a",
		"MyName", "my.name", "my_name", "MY_NAME", "My-Name", "my--name", "9lives", "key.name", "key-name", "-key",
		".key", "..key", "..", "key..", "a=b", "a:b", "a,b", "a@b", "a$b", "a\\b", "a'b",
		"example.com/name", "example.com/MyName", "Example.com/name", "example.com/", "/name", "a/b/c", "//",
		"a//b", "exa_mple.com/name", "example.com/-name", "example.com/name-", "example.com/_", "-/-", "./.",
		"kubernetes.io/metadata.name",
		"finalizers.baton.dev/writer", "foregroundDeletion", "orphan", "kubernetes", "a%b", "%2e", "a/b", "a/%b",
		"http", "http-web", "80", "8080-a", "a1", "web--1", "-web", "web-", "8-8", "port-name-is-15c",
		"port-name-is15c",
		"PORT", "pörtle", "FOO", "foo_bar", "FOO_BAR1", "1FOO", "foo.bar", "foo-bar", "FOO=", "K", "İ",
		"example.com/Key", "K/a", "0%", "10%", "100%", "-1%", "1.5%", "%%", "1%%", "10", "a%",
		"web-a-", "web--", "web.-", "w-", "--", "a.-", ".-", "A-", "-1-",
	}
	times := func(n int, text string) string { return strings.Repeat(text, n) }
	for _, n := range []int{15, 16, 62, 63, 64, 253, 254} {
		inputs = append(inputs, times(n, "a"), times(n-1, "a")+"-", times(n, "1"), times(n, "A"))
	}
	label := times(62, "a") + "."
	inputs = append(inputs,
		times(4, label)+"b", times(4, label)+"bb", times(126, "a.")+"a", times(127, "a.")+"a",
		times(64, "a")+".com", times(64, "a")+".com.",
		times(253, "a")+"/"+times(63, "b"), times(254, "a")+"/"+times(64, "b"), times(254, "a")+"/",
		times(64, "-"), times(32, "é"), "*."+times(251, "a"), "*."+times(252, "a"), times(64, "_"), times(254, "."))
	unique := inputs[:0]
	seen := map[string]bool{}
	for _, in := range inputs {
		if !seen[in] {
			seen[in] = true
			unique = append(unique, in)
		}
	}
	return unique
}

// [port, messages]
func portRows() []any {
	var rows []any
	for _, port := range []int{-1, 0, 1, 80, 65535, 65536, 1 << 40} {
		messages := validation.IsValidPortNum(port)
		if messages == nil {
			messages = []string{}
		}
		rows = append(rows, []any{port, messages})
	}
	return rows
}
