package catalog_test

import (
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/workflow"
)

func (n *node) load(src string) catalog.PublishResult {
	n.b.Helper()
	res, err := n.Publish(n.b.Context(), catalog.PublishRequest{Source: []byte(src), Publish: true, OnlyNew: true, File: "a.yaml"})
	if err != nil {
		n.b.Error(err)
	}
	return res
}

func TestThreeNodesAndTwoRestartsMakeOneVersion(t *testing.T) {
	b := newBundle(t)
	for restart := range 3 {
		var all sync.WaitGroup
		var mu sync.Mutex
		created := 0
		for range 3 {
			n := b.node()
			all.Go(func() {
				res := n.load(waiting("a", "e", "one"))
				mu.Lock()
				defer mu.Unlock()
				if res.Created {
					created++
				}
				if res.Version != 1 {
					t.Errorf("restart %d: %+v", restart, res)
				}
			})
		}
		all.Wait()
		if want := map[bool]int{true: 1, false: 0}[restart == 0]; created != want {
			t.Errorf("restart %d: %d nodes made a version, want %d", restart, created, want)
		}
	}
	if bodies := b.keysUnder("definition-version/"); len(bodies) != 1 {
		t.Errorf("bodies: %v", bodies)
	}
}

func TestAnOldNodeCannotFlipAHeadBack(t *testing.T) {
	b := newBundle(t)
	before, after := waiting("a", "e", "old"), waiting("a", "e", "new")
	b.node().load(before)
	b.node().load(after)
	for range 3 { // nodes with the old files and with the new ones restart together
		var all sync.WaitGroup
		for _, src := range []string{before, after, before} {
			n := b.node()
			all.Go(func() {
				if res := n.load(src); res.Created {
					t.Errorf("%+v", res)
				}
			})
		}
		all.Wait()
	}
	b.node().wantVersion("a", 2)
}

func TestAReloaderDoesNotBringBackWhatWasTakenAway(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	src := waiting("a", "e", "x")
	n.load(src)
	if err := n.Retract(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if res := b.node().load(src); res.Created || res.Published {
		t.Errorf("after a retract: %+v", res)
	}
	if err := n.Delete(t.Context(), "a", false); err != nil {
		t.Fatal(err)
	}
	if res := b.node().load(src); res.Created || res.Published {
		t.Errorf("after a delete: %+v", res)
	}
	_, err := n.Head(t.Context(), "a")
	wantCode(t, err, workflow.CodeDefinitionNotFound)
	if res := n.mustPublish(src); !res.Created || res.Version != 2 {
		t.Errorf("an explicit publication: %+v", res)
	}
}

func TestADraftsContentIsNewToAReloader(t *testing.T) {
	n := newBundle(t).node()
	src := waiting("a", "e", "x")
	if _, err := n.Publish(t.Context(), catalog.PublishRequest{Source: []byte(src)}); err != nil {
		t.Fatal(err)
	}
	if res := n.load(src); !res.Created || !res.Published {
		t.Errorf("%+v", res)
	}
}
