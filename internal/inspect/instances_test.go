package inspect_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// faults calls a definition that there is not.
const faults = `
id: %s
root:
  - executeWorkflow: comes-later
`

// What is looked for may be rare among what is read: the last of a page costs no
// request for each of those between.
func TestAPageOfOneSubStatusTakesFewRequests(t *testing.T) {
	t.Parallel()
	m := newMember(t)
	m.Publish(fmt.Sprintf(faults, "a-faults"), "id: b-fine\nroot:\n  - writeLine: fine\n", fmt.Sprintf(faults, "c-faults"))
	m.Start("a-faults", "first", "k")
	for i := range 40 {
		m.Start("b-fine", fmt.Sprint("fine", i), "k")
	}
	m.Start("c-faults", "second", "k")
	m.Start("c-faults", "third", "k")
	reads := m.Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(c clustertest.Call) bool {
		return c.Op == "get" && (c.Touches(m.Root+"index/") || c.Touches(m.Root+"by-correlation/"))
	}})
	for what, f := range map[string]find.Filter{
		"all": {SubStatus: workflow.Faulted}, "of a correlation": {SubStatus: workflow.Faulted, CorrelationID: "k"},
	} {
		var got []string
		before, pages := reads.Fired(), 0
		for p := (inspect.Paging{Limit: 2}); ; pages++ {
			page, err := m.Inspector.Instances(t.Context(), f, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range page.Items {
				got = append(got, in.ID)
			}
			if p.Cursor = page.Next; p.Cursor == "" {
				break
			}
		}
		// To find the lists of two definitions, and one page of both in windows of time.
		if n := reads.Fired() - before; n > 12*(pages+1) {
			t.Errorf("%s: %d reads of an index for 43 instances", what, n)
		}
		if slices.Sort(got); !slices.Equal(got, []string{"first", "second", "third"}) {
			t.Errorf("%s: %v", what, got)
		}
	}
}
