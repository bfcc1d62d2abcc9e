package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// child can be used as an activity.
func child(id, line string, autoUpdate bool) string {
	return fmt.Sprintf("id: %s\nname: The %s\noptions: {usableAsActivity: true, autoUpdate: %v}\nroot:\n  - writeLine: %q\n", id, id, autoUpdate, line)
}

// parent uses it, and is itself usable.
func parent(id, used string) string {
	return fmt.Sprintf("id: %s\noptions: {usableAsActivity: true, autoUpdate: true}\nroot:\n  - workflow: %s\n", id, used)
}

func (n *node) uses(id string) []engine.Use {
	n.b.Helper()
	h, err := n.Confirm(n.b.Context(), id)
	if err != nil {
		n.b.Fatal(err)
	}
	p, _, err := n.Program(n.b.Context(), id, h.Published)
	if err != nil {
		n.b.Fatal(err)
	}
	return p.Uses()
}

func (n *node) wantUse(id, used string, version int) {
	n.b.Helper()
	if got := n.uses(id); len(got) != 1 || got[0] != (engine.Use{DefinitionID: used, Version: version}) {
		n.b.Errorf("%s uses %v, want version %d of %s", id, got, version, used)
	}
}

func TestAnUnknownUsedDefinitionIsAProblem(t *testing.T) {
	n := newBundle(t).node()
	_, err := n.publish(parent("p", "child"))
	wantCode(t, err, workflow.CodeDefinitionInvalid)
	n.mustPublish(child("child", "x", false))
	n.mustPublish(parent("p", "child"))
	_, err = n.publish(parent("self", "self"))
	wantCode(t, err, workflow.CodeDefinitionInvalid)
}

func TestAVersionKeepsWhatItUses(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(child("child", "one", false))
	n.mustPublish(parent("p", "child"))
	n.mustPublish(child("child", "two", false))
	b.node().wantUse("p", "child", 1)
	if err := n.Retract(t.Context(), "child"); err != nil {
		t.Fatal(err)
	}
	b.node().wantUse("p", "child", 1) // also when it is gone from the heads
	n.mustPublish(child("child", "three", false))
	n.mustPublish(parent("q", "child"))
	b.node().wantUse("q", "child", 3)
	n.wantVersion("p", 1)
}

func TestARepublishedChildIsPickedUp(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(child("child", "one", true))
	n.mustPublish(parent("p", "child"))
	n.mustPublish(parent("grand", "p"))
	n.mustPublish(simple("bystander", "x"))
	other := b.node()
	other.run()
	other.wantUse("p", "child", 1)
	n.mustPublish(child("child", "two", true))
	n.wantVersion("p", 2)
	n.wantVersion("grand", 2)
	n.wantVersion("bystander", 1)
	other.wantUse("p", "child", 2)
	p, _, err := other.Program(t.Context(), "p", 1)
	if err != nil || p.Uses()[0].Version != 1 {
		t.Errorf("the version before changed: %v, %v", p.Uses(), err)
	}
	if res := n.mustPublish(parent("p", "child")); res.Created {
		t.Errorf("the consumer's source is still that of the head: %+v", res)
	}
	if res := n.load(parent("p", "child")); res.Created {
		t.Errorf("and known to a reloader: %+v", res)
	}
}

// A version that a definition got as it followed what it uses has no author: nobody's work is
// overwritten by one that was made from the version before.
func TestWhatOnlyFollowedStands(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	over := func(version int, line string) error {
		_, err := n.Publish(t.Context(), catalog.PublishRequest{Source: []byte(parent("p", "child") + "  - writeLine: " + line + "\n"), Publish: true, Over: &version})
		return err
	}
	n.mustPublish(child("child", "one", true))
	n.mustPublish(parent("p", "child"))
	n.mustPublish(child("child", "two", true))
	n.wantVersion("p", 2)
	wantCode(t, over(0, "new"), workflow.CodeDefinitionMoved)
	wantCode(t, over(7, "none"), workflow.CodeDefinitionMoved)
	n.wantVersion("p", 2)
	if err := over(1, "first"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, over(1, "second"), workflow.CodeDefinitionMoved)
	wantCode(t, over(2, "second"), workflow.CodeDefinitionMoved)
	n.wantVersion("p", 3)
	if err := n.Retract(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, over(1, "second"), workflow.CodeDefinitionMoved)
}

// Where etcd does not tell what a version had, it is not known whether a definition only followed:
// nobody is told that others moved it. A version that is gone, or damaged, tells nothing.
func TestWhetherItOnlyFollowedIsAsked(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(child("child", "one", true))
	n.mustPublish(parent("p", "child"))
	n.mustPublish(child("child", "two", true))
	n.wantVersion("p", 2)
	from := 1
	publish := func() error {
		_, err := n.Publish(t.Context(), catalog.PublishRequest{Source: []byte(parent("p", "child") + "  - writeLine: new\n"), Publish: true, Over: &from})
		return err
	}
	remove := func() error {
		return catalog.SetsOf(n.Catalog).Delete(t.Context(), "p", catalog.Deletion{Over: &from})
	}
	body := b.root() + b.keysUnder("definition-version/p/")[0]
	away := n.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool { return c.Op == "get" && c.Touches(body) }})
	wantCode(t, publish(), workflow.CodeUnavailable)
	wantCode(t, remove(), workflow.CodeUnavailable)
	if away.Fired() == 0 {
		t.Fatal("nobody asked for the version")
	}
	away.Disarm()
	was, err := b.client.Get(t.Context(), body)
	if err != nil || len(was.Kvs) != 1 {
		t.Fatal(was, err)
	}
	for _, spoil := range []func() error{
		func() error { _, err := b.client.Put(t.Context(), body, "junk"); return err },
		func() error { _, err := b.client.Delete(t.Context(), body); return err },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		wantCode(t, publish(), workflow.CodeDefinitionMoved)
		wantCode(t, remove(), workflow.CodeDefinitionMoved)
	}
	n.wantVersion("p", 2)
	if _, err := b.client.Put(t.Context(), body, string(was.Kvs[0].Value)); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Errorf("it only followed, and is kept: %v", err)
	}
	_, err = n.Confirm(t.Context(), "p")
	wantCode(t, err, workflow.CodeDefinitionNotFound)
}

func TestAConsumerThatDoesNotFitStaysUntilARefresh(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(child("child", "one", true))
	n.mustPublish(parent("p", "child"))
	n.mustPublish("id: child\noptions: {usableAsActivity: true, autoUpdate: true}\ninputs:\n  who: {type: string, required: true}\nroot:\n  - writeLine: x\n")
	n.wantVersion("p", 1)
	b.node().wantUse("p", "child", 1)
	_, err := n.Reindex(t.Context(), "p")
	wantCode(t, err, workflow.CodeDefinitionInvalid)
	n.mustPublish(child("child", "three", true))
	b.node().wantUse("p", "child", 3)
}

func TestARefreshFollowsWhatAPublicationCouldNot(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(child("child", "one", false))
	n.mustPublish(parent("p", "child"))
	n.mustPublish(child("child", "two", false))
	res, err := n.PublishVersion(t.Context(), "child", 1)
	if err != nil || res.Version != 1 {
		t.Fatal(res, err)
	}
	n.mustPublish(child("child", "three", false))
	if _, err := n.Reindex(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	n.wantVersion("p", 1) // not marked autoUpdate
	n.wantUse("p", "child", 1)
}

// The designer's JSON: an activity type that is a definition's name, with the
// version's id.
func TestElsasNestedDefinitions(t *testing.T) {
	dir := filepath.Join("testdata", "nested")
	n := newBundle(t).node()
	for i, name := range []string{"matter", "molecule", "atom", "molecule", "matter"} {
		src, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = n.publish(string(src))
		if (err != nil) != (i < 2) {
			t.Fatalf("%s: %v", name, err)
		}
	}
	uses := n.uses("matter-workflow")
	if len(uses) != 2 {
		t.Errorf("matter uses %v", uses)
	}
}
