package catalog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/workflow"
)

const ship = "type: acme.Ship\ntask: ship\ninputs: {address: {type: string, required: true}}\noutputs: {tracking: string}\n"

// nodeDeclaring is a node with files that declare activity types.
func (b *bundle) nodeDeclaring(files ...string) *node {
	b.Helper()
	var cfg catalog.Config
	for _, src := range files {
		d, problems := declared.Read([]byte(src), "ship.yaml")
		if len(problems) > 0 {
			b.Fatal(problems)
		}
		cfg.Declared = append(cfg.Declared, d)
	}
	return b.nodeWith(cfg)
}

// taskOf is the name of the tasks that a version makes on this node.
func (n *node) taskOf(id string, version int) string {
	n.b.Helper()
	prog, _, err := n.Program(n.b.Context(), id, version)
	if err != nil {
		n.b.Fatal(err)
	}
	for _, node := range prog.Nodes() {
		if d := node.Descriptor(); d.Type == "acme.Ship" {
			_, name, _ := strings.Cut(d.Description, "tasks named ")
			return strings.TrimSuffix(name, ".")
		}
	}
	return "none"
}

// A version is what it was when it was published, on every node, whatever the files there say.
func TestAVersionKeepsTheTypesOfItsTime(t *testing.T) {
	b := newBundle(t)
	const src = "id: order\nroot: [acme.Ship: {address: here}]\n"
	first := b.nodeDeclaring(ship)
	if res := first.mustPublish(src); res.Version != 1 || !res.Created {
		t.Errorf("%+v", res)
	}
	if res := first.mustPublish(src); res.Created {
		t.Errorf("the same file makes another version: %+v", res)
	}
	if res := b.nodeDeclaring("title: Ship\n" + ship).mustPublish(src); res.Created {
		t.Errorf("words for people make another version: %+v", res)
	}

	other := b.nodeDeclaring(strings.Replace(ship, "task: ship", "task: ship-by-air", 1))
	if res := other.mustPublish(src); res.Version != 2 || !res.Created {
		t.Errorf("what the definition means is another thing, and so its version: %+v", res)
	}
	if res := first.load(src); res.Created {
		t.Errorf("a node with the file of before takes its version back: %+v", res)
	}
	first.wantVersion("order", 2)

	none := b.nodeDeclaring()
	if _, err := none.publish(src); workflow.CodeOf(err) != workflow.CodeDefinitionInvalid || !strings.Contains(err.Error(), "there is no activity type") {
		t.Errorf("a node without the file publishes it: %v", err)
	}
	for version, want := range map[int]string{1: "ship", 2: "ship-by-air"} {
		for name, n := range map[string]*node{"first": first, "other": other, "none": none} {
			if got := n.taskOf("order", version); got != want {
				t.Errorf("node %s: version %d waits for %q, want %q", name, version, got, want)
			}
		}
	}
}

// What one definition uses of another has one meaning for both.
func TestAUsedDefinitionHasTheSameTypes(t *testing.T) {
	b := newBundle(t)
	first, other := b.nodeDeclaring(ship), b.nodeDeclaring(strings.Replace(ship, "task: ship", "task: fly", 1))
	first.mustPublish("id: part\noptions: {usableAsActivity: true, autoUpdate: true}\nroot: [acme.Ship: {address: here}]\n")
	const whole = "id: whole\nroot:\n  - workflow: part\n"
	first.mustPublish(whole)
	if got := b.nodeDeclaring().taskOf("whole", 1); got != "ship" {
		t.Errorf("a node without the file runs it with the task %q", got)
	}
	other.mustPublish("id: part\noptions: {usableAsActivity: true, autoUpdate: true}\nroot: [acme.Ship: {address: there}]\n")
	other.wantVersion("whole", 2)
	for version, want := range map[int]string{1: "ship", 2: "fly"} {
		if got := b.nodeDeclaring().taskOf("whole", version); got != want {
			t.Errorf("version %d of what uses it waits for %q, want %q", version, got, want)
		}
	}
	first.wantVersion("part", 2) // else it would know only the first one
	_, err := first.publish("id: whole2\nroot:\n  - workflow: part\n")
	wantCode(t, err, workflow.CodeDefinitionInvalid)
	if err == nil || !strings.Contains(err.Error(), "publish part again") {
		t.Errorf("%v", err)
	}
	_, err = b.nodeDeclaring().publish("id: whole2\nroot:\n  - workflow: part\n")
	wantCode(t, err, workflow.CodeDefinitionInvalid)
	if err == nil || !strings.Contains(err.Error(), "no file of it") {
		t.Errorf("%v", err)
	}
}

// A claim names its declaration, and a node that has never seen it reads it from the version.
func TestADeclarationIsFoundByItsDigest(t *testing.T) {
	b := newBundle(t)
	b.nodeDeclaring(ship).mustPublish("id: order\nroot: [acme.Ship: {address: here}]\n")
	d, _ := declared.Read([]byte(ship), "ship.yaml")
	n, asked := b.nodeDeclaring(), 0
	for range 2 {
		got, err := n.Declared(context.Background(), d.Digest(), func() (string, int, error) { asked++; return "order", 1, nil })
		if err != nil || got == nil || got.Task != "ship" {
			t.Errorf("%+v %v", got, err)
		}
	}
	if asked != 1 {
		t.Errorf("it is read %d times", asked)
	}
	if got, err := n.Declared(context.Background(), "another", func() (string, int, error) { return "order", 1, nil }); err != nil || got != nil {
		t.Errorf("a digest that the version does not have: %+v %v", got, err)
	}
}
