package endpoint

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// FuzzEndpointMatch looks for the endpoint of a path among templates, one a line: by
// their shapes, as a node does, and by trying each of them in the order of precedence.
// Both find the same, with the same parameters, in whichever order they were published.
func FuzzEndpointMatch(f *testing.F) {
	for _, s := range [][2]string{
		{"orders/{id}\norders/new\norders/{*rest}\n{*all}", "/orders/new"}, {"a/{x}/c\n{y}/b/c\na/{*z}\na/b/{q}", "A/B/c/"}, {"{a}/{b}/{c}\n{a}/{b}/x\np/q/{r}\n{d}/{*e}", "{}/{}/x"},
		{"", ""}, {"{id}\n{*rest}\n", ""}, {"files/{**path}\nfiles/{name}", "files"}, {"a/{x}\na/{*y}\nb/c", "a/{*}"}, {"a/{x}/{y}\na/{z}/b", "a//b"}, {"Ä/{ID}\nä/{Id}", "ä/X"}, {"{nr:int}/İ", "1/i̇"}, {"{nr:int}/a\n{nr:min(3):max(7)}/{*b:length(2,3)}", "x/a"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, lines, path string) {
		if len(lines) > 2000 || len(path) > 2000 {
			return
		}
		published := map[string][]string{} // templates by pattern
		for _, line := range strings.Split(lines, "\n") {
			if template, ok := publishable(t, line); ok {
				pattern := workflow.RoutePattern(template)
				published[pattern] = append(published[pattern], template)
			}
		}
		shapes := map[string]bool{}
		for pattern := range published {
			if shape := workflow.RouteShape(pattern); len(shape) == workflow.RouteSegments(path) || strings.HasSuffix(shape, "r") {
				shapes[shape] = true
			}
		}
		var best string
		var want map[string]any
		for _, template := range slices.Concat(slices.Collect(maps.Values(published))...) {
			values, precedence, ok := tried(template, path)
			if ok && (want == nil || precedence < best) {
				best, want = precedence, values
			}
		}
		var first []string
		for range 3 { // a map gives another order each time
			patterns := workflow.RoutePatterns(slices.Collect(maps.Keys(shapes)), path)
			if at := slices.IndexFunc(patterns, func(p string) bool { return published[p] != nil }); at < 0 {
				patterns = nil
			} else {
				patterns = patterns[at:]
			}
			if first == nil {
				first = patterns
			}
			if !slices.Equal(first, patterns) {
				t.Fatalf("%q gives %q and %q", path, first, patterns)
			}
		}
		if len(first) == 0 {
			if want != nil {
				t.Fatalf("%q is not found, with parameters %v", path, want)
			}
			return
		}
		found := 0
		for _, template := range published[first[0]] {
			values, precedence, ok := tried(template, path)
			if !ok || precedence != best {
				t.Fatalf("%q finds %q of precedence %q (%v), and the best has %q", path, template, precedence, ok, best)
			}
			if got, ok := workflow.RouteData(template, path); ok && !maps.Equal(got, values) || !ok && !strings.Contains(template, ":") {
				t.Fatalf("%q at %q has %v, want %v", path, template, got, values)
			}
			found++
		}
		if found == 0 {
			t.Fatalf("%q finds %q, which is nobody's", path, first[0])
		}
	})
}

// publishable is the template that a definition with this path is published with.
func publishable(t *testing.T, path string) (string, bool) {
	t.Helper()
	root := &workflow.Activity{ID: "at", Type: workflow.EndpointType, CanStart: true, Inputs: map[string]workflow.Expression{"path": workflow.Lit(path)}}
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: root}, engine.Options{Registry: activities.Default(), Evaluators: expression.All()})
	if len(problems) > 0 || len(prog.Triggers()) != 1 {
		return "", false
	}
	trigger := prog.Triggers()[0]
	hash, err := workflow.Hash(workflow.EndpointType, workflow.EndpointPayload("GET", workflow.RoutePattern(trigger.Route.Template)))
	if err != nil || hash != trigger.Hash {
		t.Fatalf("the stimulus for %q has another hash than its trigger (%v)", trigger.Route.Template, err)
	}
	return trigger.Route.Template, true
}

// tried matches a path with a template, segment by segment. A lower precedence goes
// first: more texts, then where two differ a text before a parameter before a rest.
func tried(template, path string) (values map[string]any, precedence string, ok bool) {
	values = map[string]any{}
	left := strings.Split(strings.Trim(path, "/"), "/")
	texts, kinds := 0, ""
	for _, part := range strings.Split(template, "/") {
		text := strings.ToLower(part) // which is not all that EqualFold does
		inner, parameter := strings.CutPrefix(part, "{")
		inner, _, _ = strings.Cut(strings.TrimSuffix(inner, "}"), ":")
		if strings.HasPrefix(inner, "*") && parameter {
			values[strings.TrimLeft(inner, "*")] = strings.Join(left, "/")
			return values, string(rune(99-texts)) + kinds + "3", true
		}
		switch {
		case len(left) == 0:
			return nil, "", false
		case parameter:
			values[inner] = left[0]
			kinds += "2"
		case text != strings.ToLower(left[0]):
			return nil, "", false
		default:
			texts++
			kinds += "1"
		}
		left = left[1:]
	}
	return values, string(rune(99-texts)) + kinds, len(left) == 0
}
