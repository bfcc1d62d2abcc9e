package catalog_test

import (
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/workflow"
)

// A definition is of the set that it was last published with, until it is deleted, and is
// deleted from that set only.
func TestADefinitionIsOfASet(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	sets := catalog.SetsOf(n.Catalog)
	publish := func(line, set string) catalog.PublishResult {
		t.Helper()
		res, err := n.Publish(t.Context(), catalog.PublishRequest{Source: []byte(simple("a", line)), Publish: true, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	of := func(want string) {
		t.Helper()
		if d, err := n.Latest(t.Context(), "a"); err != nil || d.Set != want {
			t.Errorf("it is of %q (%v), want %q", d.Set, err, want)
		}
	}
	publish("one", "")
	of("")
	if res := publish("one", "shop"); res.Created || res.Version != 1 || res.WasOf != "" {
		t.Errorf("what is published joins a set: %+v", res)
	}
	of("shop")
	if res := publish("one", "shop"); res.WasOf != "shop" {
		t.Errorf("again: %+v", res)
	}
	publish("two", "") // by somebody who knows of no set
	of("shop")
	if _, err := n.PublishVersion(t.Context(), "a", 1); err != nil {
		t.Fatal(err)
	}
	if err := n.Retract(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	of("shop")
	if res := publish("two", "other"); res.WasOf != "shop" {
		t.Errorf("to another set: %+v", res)
	}
	of("other")
	wantCode(t, sets.Delete(t.Context(), "a", catalog.Deletion{Set: "shop"}), workflow.CodeDefinitionMoved)
	of("other")
	old, now := 2, 3
	wantCode(t, sets.Delete(t.Context(), "a", catalog.Deletion{Set: "other", Over: &old}), workflow.CodeDefinitionMoved)
	of("other")
	if err := sets.Delete(t.Context(), "a", catalog.Deletion{Set: "other", Over: &now}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, sets.Delete(t.Context(), "a", catalog.Deletion{Set: "other"}), workflow.CodeDefinitionNotFound)
	publish("two", "")
	of("")

	for what, req := range map[string]catalog.PublishRequest{
		"a name that is none": {Source: []byte(simple("b", "x")), Publish: true, Set: "a b"},
		"a draft":             {Source: []byte(simple("b", "x")), Set: "shop"},
	} {
		if _, err := n.Publish(t.Context(), req); workflow.CodeOf(err) != workflow.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	if res, err := n.Publish(t.Context(), catalog.PublishRequest{Source: []byte(simple("a", "two")), Publish: true, Set: "shop", DryRun: true}); err != nil || res.WasOf != "" {
		t.Errorf("a dry run: %+v, %v", res, err)
	}
	of("")
}
