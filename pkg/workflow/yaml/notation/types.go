package notation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// TypeNames are YAML's names of types and what they are called in the domain.
// Other aliases of the domain, which begin with a capital, pass unchanged.
var TypeNames = map[string]string{
	"string": "String", "text": "String", "number": "Double", "integer": "Int64", "boolean": "Boolean",
	"object": "Object", "any": "Object", "datetime": "DateTimeOffset", "duration": "TimeSpan",
}

// writtenTypes is the way back.
var writtenTypes = map[string]string{
	"String": "string", "Double": "number", "Int64": "integer", "Boolean": "boolean",
	"Object": "object", "DateTimeOffset": "datetime", "TimeSpan": "duration",
}

// TypeName reads a type such as string, number[] or list.
func TypeName(s string) (name string, isArray, ok bool) {
	if s == "list" || s == "array" {
		return "Object", true, true
	}
	base, isArray := strings.CutSuffix(s, "[]")
	if name, ok := TypeNames[base]; ok {
		return name, isArray, true
	}
	if c, _ := utf8.DecodeRuneInString(base); unicode.IsUpper(c) {
		return base, isArray, true
	}
	return "", false, false
}

// WriteType gives the way back of [TypeName].
func WriteType(name string, isArray bool) string {
	if w, ok := writtenTypes[name]; ok {
		name = w
	}
	if isArray {
		if name == "object" {
			return "list"
		}
		name += "[]"
	}
	return name
}

// Label is what the value of a label is.
var Label = workflow.InputDescriptor{Type: "String"}

// IsTypeName tells whether a text is one of YAML's own names of types.
func IsTypeName(s string) bool {
	if s == "list" || s == "array" {
		return true
	}
	return TypeNames[strings.TrimSuffix(s, "[]")] != ""
}

// Declares tells a declaration of an output from a value that is a mapping.
func Declares(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i].Value; k == "type" || k == "value" {
			return true
		}
	}
	return false
}
