package value

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var guid = regexp.MustCompile(`^([{(]?)([0-9A-Fa-f]{8})-?([0-9A-Fa-f]{4})-?([0-9A-Fa-f]{4})-?([0-9A-Fa-f]{4})-?([0-9A-Fa-f]{12})([})]?)$`)

// GUID gives the text of a Guid as .NET writes it, in small letters with four dashes. It may be written without
// them, or with them in brackets; white space around it does not count. It returns an error that says so for anything else.
func GUID(v any) (any, error) {
	s, _ := v.(string)
	m := guid.FindStringSubmatch(strings.TrimSpace(s))
	dashes := strings.Count(s, "-")
	if m == nil || dashes != 4 && (dashes != 0 || m[1] != "") || !slices.Contains([]string{"", "{}", "()"}, m[1]+m[7]) {
		return nil, fmt.Errorf(`%s is not a Guid such as "6f9619ff-8b86-d011-b42d-00c04fc964ff"`, Shorten(fmt.Sprint(v)))
	}
	return strings.ToLower(strings.Join(m[2:7], "-")), nil
}

// HoldsJSON tells whether the values of a type, by its alias, are objects, lists or anything: those of no type, of .NET's JSON, of
// Elsa's dictionaries, and of classes that are not known, whose values .NET reads from the text of their JSON.
func HoldsJSON(alias string) bool {
	lower := strings.ToLower(alias)
	return !slices.Contains(scalars, lower) && !strings.HasSuffix(lower, "]") && !strings.Contains(lower, "<") || strings.HasPrefix(lower, "idictionary")
}

// scalars are aliases of types whose values are one text, number or truth value.
var scalars = []string{"string", "char", "uri", "guid", "boolean", "bool", "byte", "int16", "int32", "int64", "short", "int", "integer", "long",
	"single", "double", "decimal", "float", "number", "timespan", "duration", "datetime", "datetimeoffset", "dateonly", "timeonly", "httpstatuscode"}
