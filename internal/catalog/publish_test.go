package catalog_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestContentEqualToTheHeadIsNoNewVersion(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	first := n.mustPublish("id: a\nname: A\nroot:\n  - writeLine: Hi\n")
	if first.Revision == 0 || !reflect.DeepEqual(first, catalog.PublishResult{ID: "a", Version: 1, Published: true, Created: true, Revision: first.Revision}) {
		t.Errorf("first: %+v", first)
	}
	same := n.mustPublish("# a comment\nname:   \"A\"\nid: a\n\nroot: [ {writeLine: Hi} ]\n")
	if !reflect.DeepEqual(same, catalog.PublishResult{ID: "a", Version: 1, Published: true, Before: 1, Over: 1, Revision: first.Revision}) {
		t.Errorf("same: %+v", same)
	}
	if other := n.mustPublish("id: a\nname: A\nroot:\n  - writeLine: Hello\n"); other.Version != 2 || !other.Created {
		t.Errorf("other: %+v", other)
	}
	if back := n.mustPublish("id: a\nname: A\nroot:\n  - writeLine: Hi\n"); back.Version != 3 || !back.Created {
		t.Errorf("back to the first content: %+v", back)
	}
}

func TestEveryProblemIsReportedWithItsPlace(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	_, err := n.Publish(t.Context(), catalog.PublishRequest{File: "dir/bad.yaml", Publish: true, Source: []byte(
		"id: a\nunknownField: 1\nroot:\n  - writeLin: Hi\n  - if: ${{ 1 + }}\n    then:\n      - writeLine: x\n  - noSuchThing: {a: 1}\n")})
	wantCode(t, err, workflow.CodeDefinitionInvalid)
	var e *workflow.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	lines := map[int]bool{}
	for _, p := range e.Problems {
		lines[p.Place.Line] = true
		if p.Place.File != "dir/bad.yaml" || p.Place.Column == 0 || p.Excerpt == "" {
			t.Errorf("problem without its place: %+v", p)
		}
	}
	for _, line := range []int{2, 4, 5, 8} {
		if !lines[line] {
			t.Errorf("nothing is said about line %d:\n%v", line, e.Problems)
		}
	}
	if keys := b.keysUnder(""); len(keys) != 0 {
		t.Errorf("something was written: %v", keys)
	}
}

func TestJSONProblemsHavePointers(t *testing.T) {
	n := newBundle(t).node()
	_, err := n.publish(`{"definitionId": "a", "root": {"type": "Elsa.Sequence", "activities": [{"type": "Elsa.NoSuchThing"}]}}`)
	var e *workflow.Error
	if !errors.As(err, &e) || len(e.Problems) != 1 || e.Problems[0].Place.Pointer != "/root/activities/0" && e.Problems[0].Place.Pointer != "/root/activities/0/type" {
		t.Errorf("%v: %+v", err, e)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(simple("a", "one"))
	before := b.keysUnder("")
	res, err := n.Publish(t.Context(), catalog.PublishRequest{Source: []byte(simple("a", "two")), Publish: true, DryRun: true})
	if err != nil || res.Version != 2 || !res.Created || res.Published {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err = n.Publish(t.Context(), catalog.PublishRequest{Source: []byte(simple("a", "one")), Publish: true, DryRun: true}); err != nil || res.Version != 1 || res.Created || res.Revision != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if after := b.keysUnder(""); len(after) != len(before) {
		t.Errorf("keys %v", after)
	}
}

func TestADraftIsPublishedLater(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(waiting("a", "first", "x"))
	draft := catalog.PublishRequest{Source: []byte(waiting("a", "second", "x"))}
	for _, created := range []bool{true, false} {
		res, err := n.Publish(t.Context(), draft)
		if err != nil || res.Version != 2 || res.Published || res.Created != created {
			t.Errorf("%+v, %v", res, err)
		}
	}
	n.wantVersion("a", 1)
	_, err := n.PublishVersion(t.Context(), "a", 9)
	wantCode(t, err, workflow.CodeDefinitionNotFound)
	for _, created := range []bool{true, false} {
		res, err := n.PublishVersion(t.Context(), "a", 0)
		if err != nil || res.Version != 2 || !res.Published || res.Created != created {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if keys := b.keysUnder("trigger/"); len(keys) != 1 {
		t.Errorf("triggers %v", keys)
	}
	// Elsa's own save request may ask for a draft.
	res, err := n.publish(`{"model": {"definitionId": "j", "root": {"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}}}, "publish": false}`)
	if err != nil || res.Published || res.ID != "j" {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestRetractedAndDeletedDefinitionsAreNotFound(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(waiting("a", "e", "x"))
	if err := n.Retract(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := n.Retract(t.Context(), "a"); err != nil {
		t.Errorf("again: %v", err)
	}
	_, err := n.Head(t.Context(), "a")
	wantCode(t, err, workflow.CodeDefinitionNotFound)
	if _, _, err := n.Program(t.Context(), "a", 1); err != nil {
		t.Errorf("instances of a retracted version go on: %v", err)
	}
	n.mustPublish(waiting("a", "e", "x"))
	n.wantVersion("a", 2)
	if err := n.Delete(t.Context(), "a", false); err != nil {
		t.Fatal(err)
	}
	wantCode(t, n.Delete(t.Context(), "a", false), workflow.CodeDefinitionNotFound)
	wantCode(t, n.Retract(t.Context(), "a"), workflow.CodeDefinitionNotFound)
	_, err = n.Source(t.Context(), "a", 0, "")
	wantCode(t, err, workflow.CodeDefinitionNotFound)
	if keys := b.keysUnder("trigger/"); len(keys) != 0 {
		t.Errorf("triggers %v", keys)
	}
	n.mustPublish(waiting("a", "e", "x"))
	n.wantVersion("a", 3)
}

func TestBadRequests(t *testing.T) {
	n := newBundle(t).node()
	for name, c := range map[string]struct {
		src  string
		code workflow.Code
	}{
		"empty":             {"", workflow.CodeDefinitionInvalid},
		"not yaml":          {"\t: [", workflow.CodeDefinitionInvalid},
		"not json":          {"{\"a\": ", workflow.CodeDefinitionInvalid},
		"a list":            {"[1, 2]", workflow.CodeDefinitionInvalid},
		"no id":             {"root: [{writeLine: x}]", workflow.CodeDefinitionInvalid},
		"id with a slash":   {"id: a/b\nroot: [{writeLine: x}]", workflow.CodeDefinitionInvalid},
		"5 MB":              {"id: a # " + strings.Repeat("x", 5<<20), workflow.CodeTooLarge},
		"control character": {"id: \"a\\u0007\"\nroot: [{writeLine: x}]", workflow.CodeDefinitionInvalid},
	} {
		if _, err := n.publish(c.src); workflow.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"", "a/b", "no", strings.Repeat("x", 1000)} {
		_, err := n.Head(t.Context(), id)
		wantCode(t, err, workflow.CodeDefinitionNotFound)
		wantCode(t, n.Delete(t.Context(), id, true), workflow.CodeDefinitionNotFound)
		_, _, err = n.Program(t.Context(), id, 1)
		wantCode(t, err, workflow.CodeDefinitionNotFound)
	}
}

func TestAnIDIsMadeFromFileOrName(t *testing.T) {
	n := newBundle(t).node()
	for want, req := range map[string]catalog.PublishRequest{
		"leave.request": {File: "some/leave.request.yaml", Source: []byte("name: Other\nroot: [{writeLine: a}]")},
		"my-order":      {Source: []byte("name: My order!\nroot: [{writeLine: a}]")},
	} {
		req.Publish = true
		res, err := n.Publish(t.Context(), req)
		if err != nil || res.ID != want {
			t.Errorf("%+v, %v; want %s", res, err, want)
			continue
		}
		// It is not in the source, and yet known to whoever reads it.
		_, def, err := n.newNode().Program(t.Context(), res.ID, 1)
		if err != nil || def.ID != want || def.Version != 1 {
			t.Errorf("%+v, %v", def, err)
		}
	}
}

func (n *node) newNode() *node { return n.b.node() }

func TestConcurrentPublicationsMakeOneVersionEach(t *testing.T) {
	b := newBundle(t)
	nodes := []*node{b.node(), b.node(), b.node()}
	const each = 6
	var all sync.WaitGroup
	var mu sync.Mutex
	versions := map[int]bool{}
	for i, n := range nodes {
		for j := range each {
			all.Go(func() {
				res, err := n.publish(waiting("a", "e", fmt.Sprint(i, j)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if versions[res.Version] || !res.Created {
					t.Errorf("%+v is not the only one", res)
				}
				versions[res.Version] = true
			})
		}
	}
	all.Wait()
	nodes[0].wantVersion("a", len(nodes)*each)
}

func TestOutagesAreToldApart(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(simple("a", "one"))
	rule := n.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore})
	_, err := n.publish(simple("a", "two"))
	wantCode(t, err, workflow.CodeUnknownOutcome)
	rule.Disarm()
	rule = n.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(clustertest.Call) bool { return true }})
	_, err = n.publish(simple("a", "two"))
	wantCode(t, err, workflow.CodeUnavailable)
	_, err = n.Head(t.Context(), "other")
	wantCode(t, err, workflow.CodeUnavailable)
	rule.Disarm()
	n.wantVersion("a", 1)
	for _, fault := range []clustertest.Fault{clustertest.LoseAnswer, clustertest.ApplyTwice} {
		n.faults.Add(clustertest.Rule{Fault: fault, Times: 1})
		if res := n.mustPublish(simple("a", fmt.Sprint(fault))); !res.Created {
			t.Errorf("fault %v: %+v", fault, res)
		}
	}
	n.wantVersion("a", 3)
}
