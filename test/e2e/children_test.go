package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/testsize"
)

// Parents wait for ten children on any nodes; one child faults, one is
// cancelled, one deleted: the parent hears of each exactly once, by its
// sub-status.
func TestParentIsResumedOncePerChildWhateverItsEnd(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	c.publish(t, `
id: child
inputs: {n: number}
variables: {r: object}
root:
  - event: go
    result: r
  - if: ${{ inputs.n == 7 }}
    then: [{fault: as told}]
    else: [{writeLine: "child ${{ inputs.n }}"}]
`)
	var parent strings.Builder
	parent.WriteString("id: parent\ninputs: {p: string}\nvariables: {")
	const children = 10
	for i := range children {
		fmt.Fprintf(&parent, "r%d: object, ", i)
	}
	parent.WriteString("done: 0}\nroot:\n  - parallel:\n")
	for i := range children {
		fmt.Fprintf(&parent, `
      - - executeWorkflow: {workflowDefinitionId: child, input: {n: %[1]d}, correlationId: "${{ inputs.p }}-%[1]d"}
          result: r%[1]d
        - writeLine: "%[1]d ${{ variables.r%[1]d.SubStatus }}"
`, i)
	}
	parent.WriteString("  - writeLine: all\n")
	c.publish(t, parent.String())
	n := testsize.Of(6, 2)
	concurrently(n, 3, func(p int) {
		id := fmt.Sprintf("p%d", p)
		c.execute(t, c.any(), "parent", id, fmt.Sprintf(`{"input": {"p": %q}}`, id))
		// The children run on their own; they can be found by their correlation.
		child := make([]string, children)
		for i := range children {
			deadline := time.Now().Add(patience)
			for child[i] == "" && time.Now().Before(deadline) {
				items := c.call(t, c.any(), "GET", fmt.Sprintf("/api/v1/instances?correlationId=%s-%d&subStatus=Suspended", id, i), "").items()
				if len(items) == 1 {
					child[i], _ = items[0]["instanceId"].(string)
				}
			}
			if child[i] == "" {
				t.Errorf("child %d of %s does not come", i, id)
				return
			}
		}
		atOnce(children, func(i int) {
			var a answer
			switch i {
			case 8:
				a = c.call(t, c.any(), "POST", "/api/v1/instances/"+child[i]+"/cancel", "{}")
			case 9:
				a = c.call(t, c.any(), "DELETE", "/api/v1/instances/"+child[i], "")
			default:
				a = c.event(t, c.any(), "go", fmt.Sprintf("%s-%d", id, i))
			}
			if a.outcome != done {
				t.Errorf("child %d of %s: %s", i, id, a)
			}
		})
	})
	for p := range n {
		id := fmt.Sprintf("p%d", p)
		c.waitFor(t, c.any(), id, "Finished")
		lines := c.lines(t, c.any(), id)
		slices.Sort(lines)
		want := []string{"0 Finished", "1 Finished", "2 Finished", "3 Finished", "4 Finished", "5 Finished", "6 Finished", "7 Faulted", "8 Cancelled", "9 Cancelled", "all"}
		if !slices.Equal(lines, want) {
			t.Errorf("parent %s wrote %q", id, lines)
		}
		resumed := 0
		for _, item := range c.journal(t, c.any(), id) {
			if item["event"] == "Resumed" {
				resumed++
			}
		}
		if resumed != children {
			t.Errorf("parent %s was resumed %d times", id, resumed)
		}
	}
	c.checkHistories(t)
}
