package runtime_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/runtime/commands"
	"github.com/weft-run/weft/pkg/workflow"
)

// It faults as long as there is no definition to run.
const callsMissing = `
id: %s
root:
  - executeWorkflow: comes-later
`

const comesLater = `
id: comes-later
root:
  - writeLine: here
`

func TestFaultedInstancesAreRetriedByFilter(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(fmt.Sprintf(callsMissing, "calls"), fmt.Sprintf(callsMissing, "other"), membertest.Waits)
	var want []string
	for i := range 5 {
		id := fmt.Sprintf("f%d", i)
		if in := c[i%2].Start("calls", id, fmt.Sprint("c", i%2)); in.SubStatus != workflow.Faulted {
			t.Fatalf("got %+v", in)
		}
		want = append(want, id)
	}
	c[0].Start("other", "other-1", "c0")
	c[0].Start("waits", "running", "c0")

	// A retry that faults again counts as a retry, and a page after the other
	// comes to an end.
	retried, pages := retryAll(t, c[1], commands.RetryFilter{DefinitionID: "calls", Limit: 2})
	if !slices.Equal(retried, want) || pages < 3 {
		t.Errorf("retried %v on %d pages, want %v", retried, pages, want)
	}
	if in, err := c[0].Inspector.Instance(t.Context(), "f0"); err != nil || in.SubStatus != workflow.Faulted || len(in.Incidents) != 2 {
		t.Errorf("got %+v, %v", in, err)
	}

	c[0].Publish(comesLater)
	if retried, _ = retryAll(t, c[1], commands.RetryFilter{DefinitionID: "calls", CorrelationID: "c1"}); !slices.Equal(retried, []string{"f1", "f3"}) {
		t.Errorf("of one correlation, retried %v", retried)
	}
	for _, id := range retried {
		if in := c[0].Finished(id); in.SubStatus != workflow.Finished {
			t.Errorf("got %+v", in)
		}
	}
	if retried, _ = retryAll(t, c[0], commands.RetryFilter{}); !slices.Equal(retried, []string{"f0", "f2", "f4", "other-1"}) {
		t.Errorf("of all, retried %v", retried)
	}
	for _, id := range retried {
		c[1].Finished(id)
	}
	if retried, _ = retryAll(t, c[0], commands.RetryFilter{}); len(retried) != 0 {
		t.Errorf("nothing is faulted, and retried %v", retried)
	}
}

func retryAll(t *testing.T, m *member, f commands.RetryFilter) (retried []string, pages int) {
	t.Helper()
	for {
		res, err := m.Commands.RetryFaulted(t.Context(), f)
		if err != nil || len(res.Refused) > 0 {
			t.Fatalf("refused %v, %v", res.Refused, err)
		}
		retried = append(retried, res.Retried...)
		pages++
		if f.Cursor = res.Next; f.Cursor == "" {
			slices.Sort(retried)
			return retried, pages
		}
		if pages > 50 {
			t.Fatal("the pages do not end")
		}
	}
}
