// Writes the golden tables of the Kubernetes scalar types (src/json/*_test.cc reads them): what the libraries that
// Kubernetes itself is built from answer to each input. kubectl cannot be asked, because it echoes many quantities as
// they were typed instead of printing their canonical form, and has no command that adds or compares them.
//
//	cd tests/golden/scalars && go run . ..
//
// The output depends on nothing but this source and the versions in go.mod.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// One member of a table's file, in the order of writing: a list with one row a line, so that a change is a short diff.
type table struct {
	name string
	rows []any
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . OUTPUT_FOLDER")
		os.Exit(2)
	}
	write("quantity.json", table{"parse", quantityRows()}, table{"pairs", quantityPairs()})
	write("int_or_string.json", table{"rows", intOrStringRows()})
	write("rfc3339.json", table{"parse", timeRows()}, table{"print", timePrintRows()})
	write("go_duration.json", table{"parse", durationRows()}, table{"print", durationPrintRows()})
	messages, names := nameRows()
	write("names.json", table{"messages", messages}, table{"names", names}, table{"ports", portRows()})
}

func write(file string, tables ...table) {
	var out bytes.Buffer
	out.WriteString("{")
	for i, t := range tables {
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n%q: [", t.name)
		for j, row := range t.rows {
			if j > 0 {
				out.WriteString(",")
			}
			out.WriteString("\n")
			out.Write(compact(row))
		}
		out.WriteString("\n]")
	}
	out.WriteString("\n}\n")
	if err := os.WriteFile(filepath.Join(os.Args[1], file), out.Bytes(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compact(row any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(row); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(out.Bytes())
}
