package usertask_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

func asked(form string) *usertask.Task {
	return &usertask.Task{Title: "t", Form: json.RawMessage(form), Outcomes: []usertask.Outcome{{Key: "Approve", Label: "Yes"}}}
}

const form = `{"type": "object", "required": ["reason"], "order": ["reason", "limit"], "properties": {
  "kind": {"type": "string", "enum": ["travel", "food"]}, "limit": {"type": "integer", "minimum": 0, "maximum": 1000}, "rate": {"type": "number", "multipleOf": 0.5},
  "on": {"type": "string", "format": "date"}, "pin": {"type": "string", "masked": true, "pattern": "^[0-9]{4}$"}, "reason": {"type": "string", "title": "Why", "maxLength": 5}, "urgent": {"type": "boolean"}}}`

// What a person sends is held against the form before anything happens, and each field that is wrong is told by its pointer.
func TestEachWrongFieldIsTold(t *testing.T) {
	t.Parallel()
	is := asked(form)
	for data, want := range map[string]string{
		`{"reason": "good", "limit": 7, "rate": 1.5, "on": "2026-12-01", "pin": "1234", "urgent": true, "kind": "food"}`: "",
		`{}`:                                   "/data/reason Why is required",
		`{"reason": ""}`:                       "",
		`{"reason": 7}`:                        "/data/reason Why has to be string",
		`{"reason": null}`:                     "/data/reason Why has to be string",
		`{"reason": {"a": [1]}}`:               "/data/reason Why has to be string",
		`{"reason": "longer"}`:                 "/data/reason Why has 6 characters: it may have up to 5",
		`{"reason": "x", "limit": 1001}`:       "/data/limit limit has to be 1000 or less",
		`{"reason": "x", "limit": 1.5}`:        "/data/limit limit has to be integer",
		`{"reason": "x", "limit": 1e999999}`:   "/data/limit limit has to be a number that a float64 can be near, of up to 100 digits",
		`{"reason": "x", "limit": 1e99999999}`: "/data/limit limit has to be a number that a float64 can be near, of up to 100 digits",
		`{"reason": "x", "rate": 1` + strings.Repeat("0", 200) + `}`: "/data/rate rate has to be a number that a float64 can be near, of up to 100 digits",
		`{"reason": "x", "rate": 1` + strings.Repeat("0", 90) + `}`:  "",
		`{"reason": "x", "limit": "7"}`:                              "/data/limit limit has to be integer",
		`{"reason": "x", "rate": 0.3}`:                               "/data/rate rate has to be a multiple of 0.5",
		`{"reason": "x", "kind": "fuel"}`:                            "/data/kind kind is none of travel, food",
		`{"reason": "x", "on": "tomorrow"}`:                          "/data/on on has to be a date",
		`{"reason": "x", "pin": "geheim-1"}`:                         "/data/pin pin has to match ^[0-9]{4}$",
		`{"reason": "x", "kin": "food"}`:                             "/data/kin the form has no field kin (did you mean kind?)",
		`{"reason": "x", "a/b~": 1}`:                                 "/data/a~1b~0 the form has no field a/b~",
		`{"limit": -1, "urgent": "yes"}`:                             "/data/limit limit has to be 0 or more, /data/reason Why is required, /data/urgent urgent has to be boolean",
	} {
		got, err := is.Fits("Approve", object(t, data))
		if err != nil || said(got) != want {
			t.Errorf("%s: %v %s\nwant %s", data, err, said(got), want)
		}
	}
	got, err := is.Fits("Approv", nil)
	if want := `/outcome the outcome is "Approv"; it is one of Approve (did you mean Approve?)`; err != nil || said(got) != want {
		t.Errorf("%v %s", err, said(got))
	}
	if got, err := asked("").Fits("Approve", map[string]any{"a": 1}); err != nil || said(got) != "/data this task has no form, and takes no data" {
		t.Errorf("%v %s", err, said(got))
	}
}

// Data that are too many are told by field, and few of them: nobody reads ten thousand lines.
func TestTooMuchDataIsTold(t *testing.T) {
	t.Parallel()
	many := map[string]any{"reason": "x"}
	for i := range 10_000 {
		many[fmt.Sprintf("f%d", i)] = i
	}
	got, err := asked(form).Fits("Approve", many)
	if err != nil || len(got) != 20 || got[0].Place.Pointer != "/data/f0" {
		t.Errorf("%v %d %s", err, len(got), said(got))
	}
	got, err = asked(form).Fits("Approve", map[string]any{"reason": strings.Repeat("x", 1_000_000)})
	if want := "/data/reason Why has 1000000 bytes: it may have up to 32768"; err != nil || said(got) != want {
		t.Errorf("%v %s", err, said(got))
	}
	var properties []string
	all := map[string]any{}
	for i := range 20 {
		properties = append(properties, fmt.Sprintf(`"f%d": {"type": "string"}`, i))
		all[fmt.Sprintf("f%d", i)] = strings.Repeat("x", 20_000)
	}
	got, err = asked(`{"properties": {`+strings.Join(properties, ",")+`}}`).Fits("Approve", all)
	if want := "/data the fields have 400000 bytes together: they may have up to 262144"; err != nil || said(got) != want {
		t.Errorf("%v %s", err, said(got))
	}
}

// A form is of a small part of JSON Schema, refers to nothing outside, and is refused with its place when it is made.
func TestFormsAreBounded(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf(`"f%d": {"type": "string"}`, i))
	}
	for form, want := range map[string]string{
		`[]`: "form is no object",
		`{}`: "form has 0 properties; it may have 1 to 100",
		`{"properties": {` + strings.Join(many, ",") + `}}`:                                                  "form has 101 properties",
		`{"$ref": "http://a.example", "properties": {}}`:                                                     "form: $ref is none of what a form may have here",
		`{"providerName": "forms", "key": "approval"}`:                                                       "form names a form of a provider, and there are none here: write it as a JSON Schema",
		`{"additionalProperties": true, "properties": {"a": {}}}`:                                            "form has additionalProperties",
		`{"required": ["b"], "properties": {"a": {"type":"string"}}}`:                                        "form names the field b in required or order, and has none of that name",
		`{"properties": {"a": {}}}`:                                                                          "field a of form has no type: one of string, number, integer, boolean",
		`{"properties": {"a": {"type": "object"}}}`:                                                          `field a of form: type is "object", and none of string, number, integer, boolean`,
		`{"properties": {"a": {"type": "string", "minLenght": 1}}}`:                                          "field a of form: minLenght is none of what a form may have here (did you mean minLength?)",
		`{"properties": {"a": {"type": "string", "minLength": "1"}}}`:                                        "form is no valid JSON Schema",
		`{"properties": {"a": {"type": "string", "pattern": "("}}}`:                                          "field a of form: pattern is none that is taken here",
		`{"properties": {"a": {"type": "string", "format": "uuid"}}}`:                                        `field a of form: format is "uuid", and none of date,`,
		`{"properties": {"a": {"type": "number", "widget": "textarea"}}}`:                                    "field a of form: enum, format, widget, pattern, minLength, maxLength are for a string",
		`{"properties": {"a": {"type": "integer", "maxLength": 5}}}`:                                         "minLength, maxLength are for a string",
		`{"properties": {"a": {"type": "string", "maximum": 5}}}`:                                            "field a of form: minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf are for a number or integer",
		`{"properties": {"a": {"type": "number", "minimum": 1e999999}}}`:                                     "field a of form: minimum has to be a number that a float64 can be near, of up to 100 digits",
		`{"properties": {"a": {"type": "boolean", "minimum": 0}}}`:                                           "are for a number or integer",
		`{"properties": {"a": {"type": "string", "enum": []}}}`:                                              "field a of form: enum is empty, so nothing would fit",
		`{"properties": {"a": {"type": "string", "masked": true, "default": "x"}}}`:                          "field a of form is masked, and has a default: that would be shown",
		`{"properties": {"a": {"type": "string", "pattern": "` + strings.Repeat("(.{0,1000})*", 70) + `"}}}`: "steps together, and may have 2000",
		`{"properties": {"a": {"type": "string", "pattern": "^x{900}$"}, "b": {"type": "string", "pattern": "^x{900}$"}, "c": {"type": "string", "pattern": "^x{900}$"}}}`: "field c of form: with its pattern those of the form have 27",
		`{"properties": {"a": {"type": "string", "default": [1]}}}`: "field a of form: default is no text, number or truth value",
		`{"properties": {"": {"type": "string"}}}`:                  "a field of the form has an empty name",
		`{"description": "` + strings.Repeat("x", 70_000) + `"}`:    "form has 70019 bytes: it may have up to 65536",
	} {
		if err := usertask.CheckForm(json.RawMessage(form)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v\nwant %s", form, err, want)
		}
	}
	fields, err := asked(form).Fields()
	if err != nil || len(fields) != 7 || fields[0].Name != "reason" || fields[1].Name != "limit" || fields[2].Name != "kind" || !fields[0].Required || fields[0].Title != "Why" {
		t.Errorf("%v %+v", err, fields)
	}
}

// Who may is said by name and group, byte by byte; who is excluded may not, also not as a candidate or an operator.
func TestWhoMay(t *testing.T) {
	t.Parallel()
	is := &usertask.Task{Users: []string{"anna", "oidc:7", "key:fay"}, Groups: []string{"finance"}, Excluded: []string{"key:bert", "carl"}}
	for _, c := range []struct {
		who      usertask.Person
		can, may bool
	}{
		{usertask.Person{Name: "key:anna"}, true, true},
		{usertask.Person{Name: "oidc:anna"}, true, true},
		{usertask.Person{Name: "key:Anna"}, false, false},
		{usertask.Person{Name: "key:fay"}, true, true},
		{usertask.Person{Name: "oidc:key:fay"}, false, false}, // a subject may have any text
		{usertask.Person{Name: "key:oidc:7"}, false, false},
		{usertask.Person{Name: "key:7"}, false, false},
		{usertask.Person{Name: "oidc:7"}, true, true},
		{usertask.Person{Name: "key:bert", Groups: []string{"finance"}}, false, false},
		{usertask.Person{Name: "oidc:bert", Groups: []string{"finance"}}, true, true},
		{usertask.Person{Name: "oidc:carl", Groups: []string{"finance"}, Operator: true}, false, false},
		{usertask.Person{Name: "key:dora", Operator: true}, false, true},
		{usertask.Person{Operator: true}, false, true},
		{usertask.Person{Name: "key:"}, false, false},
		{usertask.Person{}, false, false},
	} {
		if is.For(&c.who) != c.can || is.May(&c.who) != c.may {
			t.Errorf("%+v: %t %t", c.who, is.For(&c.who), is.May(&c.who))
		}
	}
}

func object(t *testing.T, text string) (m map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

func said(problems workflow.Problems) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Place.Pointer+" "+p.Detail)
	}
	return strings.Join(all, ", ")
}
