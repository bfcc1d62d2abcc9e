package workflow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
)

func TestRoutePattern(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"orders/{id}": "orders/{}", "Orders/{ID}": "orders/{}", "/orders/{nr:int}/": "orders/{}", "files/{*rest}": "files/{*}", "files/{**rest}": "files/{*}", "": "", "a": "a",
		"orders/{}": "orders/{}", "files/{*}": "files/{*}",
	} {
		if got := workflow.RoutePattern(template); got != want {
			t.Errorf("%q gives %q, want %q", template, got, want)
		}
	}
}

func TestRouteSize(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a/", 15) + "a"
	for template, want := range map[string]string{
		"": "", "a": "", long: "", "/" + long + "/": "", long + "/a": "17 segments", "{a}/{b}/{c}/{*d}": "", "{a}/{b}/{c}/{d}/x": "", "{a}/{b}/{c}/{d}/{*e}": "5 parameters",
	} {
		err := workflow.CheckRouteSize(template)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", template, err, want)
		}
	}
}

func TestRoutePatternsInTheOrderOfPrecedence(t *testing.T) {
	t.Parallel()
	all := []string{"l", "p", "r", "ll", "lp", "pl", "pp", "lr", "pr", "llr", "lll", "lllr"}
	for path, want := range map[string][]string{
		"":        {"", "/{*}", "{}", "{}/{*}", "{*}"},
		"/A/":     {"a", "a/{*}", "{}", "{}/{*}", "{*}"},
		"a/b":     {"a/b", "a/b/{*}", "a/{}", "a/{*}", "{}/b", "{}/{}", "{}/{*}", "{*}"},
		"a/b/c":   {"a/b/c", "a/b/c/{*}", "a/b/{*}", "a/{*}", "{}/{*}", "{*}"},
		"a/b/c/d": {"a/b/c/{*}", "a/b/{*}", "a/{*}", "{}/{*}", "{*}"},
		"a//c":    {"a//c", "a//c/{*}", "a//{*}", "a/{*}", "{}/{*}", "{*}"},
	} {
		if got := workflow.RoutePatterns(all, path); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string][]string{"{}/{}/x": {"{}/{}/x", "{}/{}/{}", "{*}"}, "a/{*}/X": {"a/{}/x", "{}/{}/x", "{}/{}/{}", "{*}"}} {
		if got := workflow.RoutePatterns([]string{"lll", "llp", "lpl", "ppl", "ppp", "llr", "r"}, path); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", path, got, want)
		}
	}
	if got := workflow.RoutePatterns(nil, "a"); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// Whatever the template, a path that fills it in gives its pattern by its shape.
func TestAPathFindsItsPatternByTheShape(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "B", "x-1", "ä", "{", "}", "%7b", "~", "1"}
	for range 2000 {
		var template, path []string
		for i := range 1 + random.IntN(6) {
			word := words[random.IntN(len(words))]
			path = append(path, word)
			if random.IntN(3) == 0 {
				template = append(template, fmt.Sprintf("{p%d}", i))
			} else {
				path[i] = words[random.IntN(4)]
				template = append(template, path[i])
			}
		}
		if random.IntN(4) == 0 {
			template = append(template, "{*rest}")
			path = path[:len(path)-random.IntN(2)]
			template = append(template[:len(path)], "{*rest}")
		}
		pattern := workflow.RoutePattern(strings.Join(template, "/"))
		got := workflow.RoutePatterns([]string{workflow.RouteShape(pattern)}, strings.Join(path, "/"))
		if !slices.Equal(got, []string{pattern}) {
			t.Fatalf("template %q, path %q: %q, want %q", template, path, got, pattern)
		}
	}
}
