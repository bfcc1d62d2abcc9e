package declared

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

const ship = `type: acme.Ship
title: Ship a parcel
description: Orders a carrier.
task: ship
inputs:
  address: {type: string, required: true, description: Where it goes.}
  speed: {type: string, enum: [slow, fast], default: slow}
  boxes: {type: integer, default: 1}
  within: duration
outputs:
  tracking: {type: string, required: true}
  price: number
outcomes: [Shipped, Refused]
retry: {attempts: 3, delay: 10s}
`

func mustRead(t *testing.T, src string) *Declaration {
	t.Helper()
	d, problems := Read([]byte(src), "ship.yaml")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d
}

func TestWhatIsKeptSaysTheSame(t *testing.T) {
	t.Parallel()
	d := mustRead(t, ship)
	kept, err := Kept(d.Copy())
	if err != nil {
		t.Fatal(err)
	}
	if string(kept.Copy()) != string(d.Copy()) || kept.Digest() != d.Digest() {
		t.Errorf("kept %s\nread %s", kept.Copy(), d.Copy())
	}
	if fmt.Sprint(kept.Descriptor()) != fmt.Sprint(d.Descriptor()) {
		t.Errorf("kept %v\nread %v", kept.Descriptor(), d.Descriptor())
	}
	for change, want := range map[string]bool{"Where it goes.": true, "Ship a parcel": true, "required: true, ": false, "default: slow": false, "[Shipped, Refused]": false, "attempts: 3": false, "task: ship": false} {
		other, problems := Read([]byte(strings.Replace(ship, change, map[string]string{"[Shipped, Refused]": "[Shipped]", "attempts: 3": "attempts: 4", "default: slow": "default: fast", "required: true, ": "", "task: ship": "task: ships"}[change], 1)), "")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if same := other.Digest() == d.Digest(); same != want {
			t.Errorf("without %q the digest is the same: %t", change, same)
		}
	}
}

func TestJSONDeclaresTheSame(t *testing.T) {
	t.Parallel()
	d, problems := Read([]byte(`{"type": "acme.Ship", "inputs": {"address": {"type": "string", "required": true}}}`), "ship.json")
	if len(problems) > 0 || d.Task != "acme.Ship" || len(d.Inputs) != 1 || !d.Inputs[0].Required {
		t.Errorf("%+v %v", d, problems)
	}
}

// Each mistake is told with its line.
func TestMistakesHaveTheirLine(t *testing.T) {
	t.Parallel()
	many := "type: a.B\ninputs:\n"
	for i := range 1000 {
		many += fmt.Sprintf("  f%d: string\n", i)
	}
	for src, want := range map[string]string{
		"":                                "1:",
		"- a\n":                           "1: a declaration of an activity type must be a mapping",
		"title: x\n":                      "1: type is missing",
		"type: ship\n":                    "1: the type is",
		"type: Elsa.Ship\n":               "1: the type is \"Elsa.Ship\": names that begin with Elsa.",
		"type: elsa.Ship\n":               "1: the type is \"elsa.Ship\": names that begin with Elsa.",
		"type: a.B\ninput: {}\n":          "2: a declaration of an activity type has no key input",
		"type: a.B\n\ninputs: [a]\n":      "3: inputs must be a mapping",
		"type: a.B\ninputs: {a: text2}\n": "2: inputs.a: there is no type",
		"type: a.B\ninputs:\n  a: {type: string, optional: true}\n":             "3: inputs.a has no key optional",
		"type: a.B\ninputs:\n  a: {required: true}\n":                           "3: inputs.a has no type",
		"type: a.B\ninputs:\n  A: string\n":                                     "3: inputs.A: a name begins with a small letter",
		"type: a.B\ninputs:\n  a: string\n  retry: string\n":                    "4: inputs.retry: this name means something else",
		"type: a.B\ninputs:\n  ab: string\n  aB: string\n":                      "4: inputs.aB is there twice",
		"type: a.B\ninputs:\n  a: string\n  a: string\n":                        "4: the key a is here twice",
		"type: a.B\ninputs:\n  a: {type: integer, default: 1.5}\n":              "3: inputs.a: the default is a number; it has to be integer",
		"type: a.B\ninputs:\n  a: {type: integer, enum: [a]}\n":                 "3: inputs.a: only a string has an enum",
		"type: a.B\ninputs:\n  a: {type: string, enum: [a], default: b}\n":      "3: inputs.a: the default is \"b\"; it is one of a",
		"type: a.B\ninputs:\n  a: {type: string, required: true, default: b}\n": "3: inputs.a is required, so its default",
		"type: a.B\noutputs:\n  outcome: string\n":                              "3: outputs.outcome: this name means something else",
		"type: a.B\noutputs:\n  a: {type: string, default: b}\n":                "3: outputs.a has no key default",
		"type: a.B\noutcomes: [a, a]\n":                                         "2: the outcome a is there twice",
		"type: a.B\noutcomes: [\"\"]\n":                                         "2: an outcome has a name",
		"type: a.B\nretry: {delay: 10s}\n":                                      "2: retry has no attempts",
		"type: a.B\nretry: {attempts: 1}\n":                                     "2: retry.attempts is 1",
		"type: a.B\nretry: {attempts: 3, delay: soon}\n":                        "2: retry.delay is soon",
		"type: a.B\nretry: {attempts: 3, factor: NaN}\n":                        "2: retry.factor is NaN",
		"type: a.B\nretry: 3\n":                                                 "2: retry must be a mapping",
		"type: a.B\ntask: /\n":                                                  "2: the name of the task",
		"type: a.B\ntitle: " + strings.Repeat("x", 5000):                        "2: title has 5000 bytes",
		many:                              "103: there are more than 100 inputs",
		"# " + strings.Repeat("x", 1<<20): "1: the file has more than 65536 bytes",
		"type: a.B\n\xff":                 "1: the text is not valid UTF-8",
		"type: a.B\ninputs: " + strings.Repeat("[", 2000): "",
		"type: [a, b]\n":                      "1: type must be a text",
		"type: a.B\ninputs: {a: !x string}\n": "2: the tag",
	} {
		d, problems := Read([]byte(src), "a.yaml")
		if d != nil || len(problems) == 0 {
			t.Errorf("%.60q is taken", src)
			continue
		}
		if got := fmt.Sprintf("%d: %s", problems[0].Place.Line, problems[0].Detail); problems[0].Place.File != "a.yaml" || !strings.HasPrefix(got, want) {
			t.Errorf("%.60q: %s in %q; want %s", src, got, problems[0].Place.File, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(ship)
	f.Add(`{"type": "a.B", "inputs": {"a": {"type": "any", "default": [1, {"b": null}]}}, "retry": {"attempts": 2, "factor": 1e300}}`)
	f.Fuzz(func(t *testing.T, src string) {
		d, problems := Read([]byte(src), "f")
		if (d == nil) != (len(problems) > 0) {
			t.Fatalf("%v and %v", d, problems)
		}
		if d == nil {
			return
		}
		kept, err := Kept(d.Copy())
		if err != nil || kept.Digest() != d.Digest() {
			t.Fatalf("%s is kept otherwise: %v", d.Copy(), err)
		}
		if err := engine.NewRegistry().Register(d.Descriptor(), activity{d, ""}); err != nil {
			t.Fatalf("%s: %v", d.Copy(), err)
		}
	})
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, src := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderHasEachTypeOnce(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": ship, "b.json": `{"type": "acme.Bill"}`, "notes.txt": "x", ".hidden.yaml": "x"})
	all, problems, err := ReadFolder(dir)
	if err != nil || len(problems) > 0 || len(all) != 2 || all[0].Type != "acme.Ship" {
		t.Fatalf("%v %v %v", all, problems, err)
	}
	dir = write(t, map[string]string{"a.yaml": ship, "b.yaml": "title: again\ntype: acme.SHIP\n", "c.yaml": "type: 1"})
	_, problems, err = ReadFolder(dir)
	if text := problems.Error(); err != nil || len(problems) != 2 || !strings.Contains(text, "b.yaml: line 2, column 7: the activity type acme.SHIP is declared in "+filepath.Join(dir, "a.yaml")) || !strings.Contains(text, "c.yaml: line 1") {
		t.Errorf("%v %v", problems, err)
	}
	if _, _, err = ReadFolder(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has types")
	}
	r := activities.Default()
	if err := r.Register(workflow.Descriptor{Type: "acme.Ship"}, activity{}); err != nil {
		t.Fatal(err)
	}
	if _, err := NewTypes(r, []*Declaration{mustRead(t, ship)}); err == nil || !strings.Contains(err.Error(), "ship.yaml: line 1, column 7: register activity acme.Ship: the type is registered already") {
		t.Errorf("a type of the program: %v", err)
	}
}

// Files of types may lie among definitions, whose readers leave them alone.
func TestADeclarationIsNoDefinition(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		ship: true, "type: a.B\n": true, "\"type\": a.B\n": true, "# x\ntype : 1\n": true,
		"id: a\nroot: [writeLine: x]\n": false, "type: a.B\nroot: [writeLine: x]\n": false, "id: a\n": false, "inputs:\n  type: x\n": false, "": false,
	} {
		if got := IsDeclaration([]byte(src), "a.yaml"); got != want {
			t.Errorf("%.40q: %t", src, got)
		}
	}
	for src, want := range map[string]bool{`{"type": "a.B"}`: true, `{"type": "a.B", "root": {}}`: false, `{"Root": {"type": "x"}}`: false, `{"type": "x", "model": {}}`: false, `{`: false, `[]`: false} {
		if got := IsDeclaration([]byte(src), "a.JSON"); got != want {
			t.Errorf("%s: %t", src, got)
		}
	}
}

func TestAResultFitsOrSaysWhereNot(t *testing.T) {
	t.Parallel()
	d := mustRead(t, ship+"# \n")
	d.Outputs = append(d.Outputs, Field{Name: "labels", Type: "string[]"}, Field{Name: "at", Type: "datetime"}, Field{Name: "more", Type: "object"}, Field{Name: "any", Type: "any"}, Field{Name: "n", Type: "integer"}, Field{Name: "ok", Type: "boolean"}, Field{Name: "mode", Type: "string", Enum: []string{"air", "sea"}})
	for text, field := range map[string]string{
		`{"outcome": "Shipped", "tracking": "T"}`: "",
		`{"outcome": "Refused", "tracking": "T", "price": 1.5, "labels": [], "at": "2026-01-31T12:00:00Z", "more": {}, "any": [1], "n": 9007199254740993, "ok": false, "mode": "sea"}`: "",
		`{"outcome": "Shipped", "tracking": "T", "price": null, "n": 1e3}`: "",
		`null`: "tracking", `[]`: "whole", `"x"`: "whole", `{}`: "tracking", `{"tracking": 1, "outcome": "Shipped"}`: "tracking",
		`{"tracking": "T"}`: "outcome", `{"tracking": "T", "outcome": "shipped"}`: "outcome", `{"tracking": "T", "outcome": 1}`: "outcome",
		`{"tracking": "T", "outcome": "Shipped", "prize": 1}`:         "prize",
		`{"tracking": "T", "outcome": "Shipped", "labels": "x"}`:      "labels",
		`{"tracking": "T", "outcome": "Shipped", "labels": ["x", 1]}`: "labels",
		`{"tracking": "T", "outcome": "Shipped", "at": "noon"}`:       "at",
		`{"tracking": "T", "outcome": "Shipped", "more": []}`:         "more",
		`{"tracking": "T", "outcome": "Shipped", "n": 1.5}`:           "n",
		`{"tracking": "T", "outcome": "Shipped", "ok": "true"}`:       "ok",
		`{"tracking": "T", "outcome": "Shipped", "mode": "rail"}`:     "mode",
		`{"tracking": "T", "outcome": "Shipped", "price": "1"}`:       "price",
	} {
		var v any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		err := d.Fits(v)
		var no *MisfitError
		switch {
		case !errors.As(err, &no):
			if field != "" || err != nil {
				t.Errorf("%s: %v", text, err)
			}
		case no.Field != field && !(field == "whole" && no.Field == ""):
			t.Errorf("%s: %q: %v", text, no.Field, err)
		}
	}
	if err := mustRead(t, "type: a.B\n").Fits(nil); err != nil {
		t.Errorf("a type without outputs wants a result: %v", err)
	}
}

// What a definition means is in its hash, if it uses a declared type, and only then.
func TestTheHashHasWhatADefinitionMeans(t *testing.T) {
	t.Parallel()
	view := func(src string) *View {
		types, err := NewTypes(activities.Default(), []*Declaration{mustRead(t, src)})
		if err != nil {
			t.Fatal(err)
		}
		return types.Now()
	}
	hash := func(v *View, def string) string {
		d, problems := yaml.Read([]byte(def), "d.yaml", v.Registry)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return v.Hash(strings.Repeat("0", 64), d)
	}
	none := hash(view(ship), "id: a\nroot: [writeLine: x]\n")
	one := hash(view(ship), "id: a\nroot:\n  - if: true\n    then: {acme.Ship: {address: x}}\n")
	other := hash(view(strings.Replace(ship, "task: ship", "task: ships", 1)), "id: a\nroot: [acme.Ship: {address: x}]\n")
	if none != strings.Repeat("0", 64) || one == none || other == one || len(one) != len(none) {
		t.Errorf("none %s, one %s, another %s", none, one, other)
	}
}
