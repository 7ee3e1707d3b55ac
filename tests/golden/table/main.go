// Writes ../table.json: what apiextensions' own table conversion gives for one column and one object.
//
//	cd tests/golden/table && go run .
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

type row struct {
	Type   string          `json:"type"`
	Path   string          `json:"path"`
	Object json.RawMessage `json:"object"`
	Cell   any             `json:"cell"`
}

func main() {
	values := []string{`"text"`, `""`, `"a\"<b>&\n"`, `3`, `0`, `-7`, `3.0`, `3.75`, `-0.5`, `1e21`, `1e100`, `1234567.5`,
		`0.000001`, `0.0000001`, `9223372036854775807`, `true`, `false`, `null`, `[]`, `[1,"b",null]`, `{}`, `{"b":1,"a":"<x>"}`,
		`"not a time"`, `"null"`, `"0001-01-01T00:00:00Z"`, `"2006-13-01T00:00:00Z"`, `"2006-01-02"`}
	types := []string{"string", "integer", "number", "boolean", "date"}
	var rows []row
	for _, kind := range types {
		for _, value := range values {
			rows = append(rows, row{Type: kind, Path: ".spec.v", Object: json.RawMessage(`{"spec":{"v":` + value + `}}`)})
		}
	}
	list := json.RawMessage(`{"status":{"conditions":[{"type":"A","status":"True","n":1},{"type":"B","status":"False","n":2}]},"a.b":{"c":7}}`)
	for _, path := range []string{".missing", ".missing.deeper", ".status.conditions[*].status", ".status.conditions[*].n",
		`.status.conditions[?(@.type=="B")].status`, `.status.conditions[?(@.type=="C")].status`, ".status.conditions[0].type",
		".status.conditions[-1].type", ".status.conditions[5].type", `.a\.b.c`, "['a.b'].c", ".status.conditions[*]['type','status']",
		".status.conditions[0:2].type", "..type", ".status.conditions.type", ".status"} {
		for _, kind := range []string{"string", "integer"} {
			rows = append(rows, row{Type: kind, Path: path, Object: list})
		}
	}
	for i := range rows {
		rows[i].Cell = cell(rows[i])
	}
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, one := range rows {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(one); err != nil {
			panic(err)
		}
		out.Write(bytes.TrimSpace(line.Bytes()))
		if i+1 < len(rows) {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("]\n")
	if err := os.WriteFile("../table.json", out.Bytes(), 0o644); err != nil {
		panic(err)
	}
}

func cell(one row) any {
	convertor, err := tableconvertor.New([]apiextensions.CustomResourceColumnDefinition{
		{Name: "C", Type: one.Type, JSONPath: one.Path}})
	if err != nil {
		panic(err)
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(one.Object, &object); err != nil {
		panic(err)
	}
	table, err := convertor.ConvertToTable(context.Background(), &unstructured.Unstructured{Object: object}, nil)
	if err != nil {
		panic(err)
	}
	return table.Rows[0].Cells[1]
}
