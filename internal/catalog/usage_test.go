package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// usage is what a node tells of one activity type, naming three of its users.
func (n *node) usage(a *catalog.Authoring, activityType string) string {
	n.b.Helper()
	u := a.Usage(n.b.Context(), 3)
	of := u.Of(activityType)
	return fmt.Sprintf("%d%v unknown %d", of.Count, of.IDs, u.Unknown)
}

func (n *node) wantUsage(a *catalog.Authoring, activityType, want string) {
	n.b.Helper()
	if got := n.usage(a, activityType); !strings.HasPrefix(got, want) {
		n.b.Errorf("%s: %s, want %s", activityType, got, want)
	}
}

func (n *node) authoring() *catalog.Authoring {
	return catalog.NewAuthoring(n.Catalog)
}

func TestUsageIsOfWhatIsPublished(t *testing.T) {
	n := newBundle(t).node()
	a := n.authoring()
	n.wantUsage(a, "Elsa.WriteLine", "0[] unknown 0")
	n.mustPublish(simple("b", "x"))
	n.mustPublish(waiting("a", "paid", "x"))
	n.wantUsage(a, "Elsa.WriteLine", "2[a b] unknown 0")
	n.wantUsage(a, "Elsa.Event", "1[a] unknown 0")
	n.mustPublish("id: b\nroot:\n  - delay: 1s\n")
	n.wantUsage(a, "Elsa.WriteLine", "1[a] unknown 0")
	n.wantUsage(a, "Elsa.Delay", "1[b] unknown 0")
	if err := n.Retract(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	n.wantUsage(a, "Elsa.WriteLine", "0[] unknown 0")
	if err := n.Delete(t.Context(), "b", false); err != nil {
		t.Fatal(err)
	}
	n.wantUsage(a, "Elsa.Delay", "0[] unknown 0")

	n.mustPublish(child("child", "x", false))
	n.mustPublish(parent("p", "child"))
	n.mustPublish(simple("q", "x"))
	n.mustPublish(simple("r", "x"))
	n.wantUsage(a, "Elsa.WriteLine", "4[child p q] unknown 0")
}

// A published version is read once, many with one request, and what could not be read is said
// and read the next time.
func TestUsageReadsAVersionOnce(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	const first, many = 16, 33 // of so many versions the first request is, for all that is known of their sizes
	for i := range many {
		n.mustPublish(simple(fmt.Sprintf("d%02d", i), "x"))
	}
	other := b.node()
	other.run()
	a := other.authoring()
	all := fmt.Sprintf("%d[d00 d01 d02] unknown 0", many)
	reads := func(want string, most int) {
		t.Helper()
		before := other.faults.Calls("txn")
		other.wantUsage(a, "Elsa.WriteLine", want)
		if got := other.faults.Calls("txn") - before; got != most {
			t.Errorf("%d requests, want %d", got, most)
		}
	}
	second := 0
	armed := other.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
		if c.Op == "txn" {
			second++
		}
		return c.Op == "txn" && second == 2
	}})
	reads(fmt.Sprintf("%d[d", first), 2)
	armed.Disarm()
	reads(all, 2)
	reads(all, 0)
}

// A request is of no more bytes than a page has, but the first, which knows of no sizes.
func TestUsageReadsLargeSourcesInParts(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	const many, size = 33, 1 << 20
	for i := range many {
		n.mustPublish(fmt.Sprintf("# %s\n%s", strings.Repeat("x", size-100), simple(fmt.Sprintf("d%02d", i), "x")))
	}
	other := b.node()
	other.run()
	a := other.authoring()
	before := other.faults.Calls("txn")
	other.wantUsage(a, "Elsa.WriteLine", fmt.Sprintf("%d[d00 d01 d02] unknown 0", many))
	if got := other.faults.Calls("txn") - before; got != 4 { // of small ones it is 2
		t.Errorf("%d requests, want 4", got)
	}
}
