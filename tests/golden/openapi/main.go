// Writes ../openapi_protobuf.json: what gnostic, which every kubectl reads OpenAPI v2 with, makes of document.json.
// gnostic keeps free values as YAML text; they are written again as JSON in ASCII, which is how we write them.
//
//	cd tests/golden/openapi && go run .            # the golden file
//	go run . check DOCUMENT PROTOBUF               # that gnostic reads PROTOBUF as DOCUMENT
//	go run . encode DOCUMENT PROTOBUF              # writes PROTOBUF from DOCUMENT
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"unicode/utf8"

	openapi "github.com/google/gnostic-models/openapiv2"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// JSON in ASCII: code points above are \u or, what only YAML knows, \U escapes.
func ascii(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	var out bytes.Buffer
	for rest := bytes.TrimSpace(text.Bytes()); len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r < 0x7f:
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, "\\u%04x", r)
		default:
			fmt.Fprintf(&out, "\\U%08x", r)
		}
		rest = rest[size:]
	}
	return out.String()
}

func asJSON(message protoreflect.Message) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if message.Descriptor().FullName() == "openapi.v2.Any" && field.Name() == "yaml" {
			var parsed any
			check(yaml.Unmarshal([]byte(value.String()), &parsed))
			message.Set(field, protoreflect.ValueOfString(ascii(parsed)))
		} else if field.Kind() == protoreflect.MessageKind {
			if field.IsList() {
				for i := range value.List().Len() {
					asJSON(value.List().Get(i).Message())
				}
			} else {
				asJSON(value.Message())
			}
		}
		return true
	})
}

// Members by name, as our values keep them: gnostic keeps the order of the text.
func sorted(text []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	check(decoder.Decode(&value))
	return []byte(ascii(value))
}

func encode(text []byte) []byte {
	document, err := openapi.ParseDocument(sorted(text))
	check(err)
	asJSON(document.ProtoReflect())
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(document)
	check(err)
	return out
}

// The document that gnostic reads from the bytes, as YAML would show it.
func decode(data []byte) any {
	document := &openapi.Document{}
	check(proto.Unmarshal(data, document))
	text, err := yaml.Marshal(document.ToRawInfo())
	check(err)
	var out any
	check(yaml.Unmarshal(text, &out))
	return out
}

func read(name string) []byte {
	data, err := os.ReadFile(name)
	check(err)
	return data
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "encode" {
		check(os.WriteFile(os.Args[3], encode(read(os.Args[2])), 0o644))
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "check" {
		ours := decode(read(os.Args[3]))
		theirs := decode(encode(read(os.Args[2])))
		if !reflect.DeepEqual(ours, theirs) {
			fmt.Println("differs")
			os.Exit(1)
		}
		fmt.Println("the same")
		return
	}
	text := read("document.json")
	var compact bytes.Buffer
	check(json.Compact(&compact, text))
	out := fmt.Sprintf("{\"document\": %s,\n\"protobuf\": %q}\n", compact.String(), hex.EncodeToString(encode(text)))
	check(os.WriteFile("../openapi_protobuf.json", []byte(out), 0o644))
}
