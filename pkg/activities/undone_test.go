package activities_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// A branch that ran since a call failed may have undone it: a retry asks before it makes the call again.
func TestARetryOfWhatWasUndoneAsks(t *testing.T) {
	t.Parallel()
	call := func(id string) *workflow.Activity {
		return named(id, act("SendHttpRequest", inputs{"url": lit("http://shop/" + id)}))
	}
	for name, undoes := range map[string]bool{"refund": true, "no refund": false} {
		branch := []*workflow.Activity{line("oh"), faultOf("no")}
		if undoes {
			branch = append([]*workflow.Activity{call("refund")}, branch...)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &transport{status: 503}
			ship := call("ship")
			ship.Cases = append(ship.Cases, workflow.Case{Label: "204", Activity: line("shipped")})
			b := start(t, root(seq(port(ship, "unmatchedStatusCode", seq(branch...)))), withAnswers(a)).wantStatus(workflow.Faulted)
			calls := len(a.keys)
			out, problems := b.alter(nil, retryOf(""))
			if !undoes {
				if out != engine.Applied || len(a.keys) == calls {
					t.Errorf("outcome %s %v, %d calls", out, problems, len(a.keys)-calls)
				}
				return
			}
			if out != engine.Undone || len(problems) == 0 || !strings.Contains(problems[0].Detail, "ship would run again, and refund") {
				t.Errorf("outcome %s %v", out, problems)
			}
			if out, _ := b.alter(nil, retryOf("ship")); out != engine.Undone {
				t.Errorf("by its name: %s", out)
			}
			if len(a.keys) != calls {
				t.Errorf("%d calls", len(a.keys)-calls)
			}
			b.altered(workflow.Alteration{Type: workflow.AlterRetry, Again: true})
			if len(a.keys) == calls {
				t.Error("it was not made again")
			}
		})
	}
}
