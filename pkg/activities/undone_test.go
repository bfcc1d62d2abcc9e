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

// A final fault ends the instance for good: no retry around it claims it, nothing beside it goes on, and an operator's
// retry asks, of whatever kind it is.
func TestAFinalFaultIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	final := func(id string) *workflow.Activity {
		return named(id, act("Fault", inputs{"message": lit("refunded"), "final": lit(true)}))
	}
	for name, def := range map[string]*workflow.Definition{
		"alone":                  root(seq(final("gone"), line("never"))),
		"in a retry":             root(seq(retried(named("body", seq(final("gone"))), inputs{"attempts": lit(3), "delay": lit("1s")}), line("never"))),
		"in onGiveUp":            root(seq(port(retried((&failing{left: 9}).activity("call"), inputs{"attempts": lit(1)}), "onGiveUp", seq(final("gone"))), line("never"))),
		"beside what waits":      root(act("Parallel", nil, wait("a"), final("gone"))),
		"in a retry in a branch": root(act("Fork", nil, wait("a"), retried(named("body", seq(final("gone"))), inputs{"attempts": lit(2)}))),
	} {
		for _, strategy := range []string{"", "ContinueWithIncidents"} {
			t.Run(name+" "+strategy, func(t *testing.T) {
				t.Parallel()
				d := *def
				d.Options.IncidentStrategy = strategy
				b := start(t, &d).wantStatus(workflow.Faulted).wantLines()
				if in := b.header.Incidents; len(in) != 1 || !in[0].Final || in[0].ActivityID != "gone" || len(b.header.Bookmarks) != 0 {
					t.Fatalf("incidents %+v, bookmarks %v", in, b.bookmarks())
				}
				for _, alt := range []workflow.Alteration{retryOf(""), retryOf("gone")} {
					if out, problems := b.alter(nil, alt); out != engine.Undone || len(problems) != 1 || !strings.Contains(problems[0].Detail, "gone said that the instance has failed for good") {
						t.Errorf("%+v: %s %v", alt, out, problems)
					}
				}
				if out := b.command(workflow.CommandRetry); out != engine.Undone {
					t.Errorf("a plain retry: %s", out)
				}
				b.altered(workflow.Alteration{Type: workflow.AlterRetry, Again: true})
				if b.wantStatus(workflow.Faulted); len(b.header.Incidents) != 2 {
					t.Errorf("again: %+v", b.header.Incidents)
				}
			})
		}
	}
}

// At each activity at which a retry may begin, an instance that failed for good would go on: it asks, too.
func TestARetryBesideAFinalFaultAsks(t *testing.T) {
	t.Parallel()
	final := named("gone", act("Fault", inputs{"message": lit("refunded"), "final": lit(true)}))
	for activity, def := range map[string]*workflow.Definition{
		"before": root(seq(named("before", line("x")), final)),
		"beside": root(act("Parallel", nil, named("beside", wait("a")), final)),
		"above":  root(named("above", seq(final))),
	} {
		t.Run(activity, func(t *testing.T) {
			t.Parallel()
			b := start(t, def).wantStatus(workflow.Faulted)
			if out, problems := b.alter(nil, retryOf(activity)); out != engine.Undone || len(problems) != 1 || !strings.Contains(problems[0].Detail, "gone said that the instance has failed for good") {
				t.Errorf("%s %v", out, problems)
			}
			again := retryOf(activity)
			again.Again = true
			b.wantStatus(workflow.Faulted).altered(again)
			if activity == "beside" { // nothing is final any more
				start(t, def).altered(workflow.Alteration{Type: workflow.AlterSkip, Activity: "gone"}, retryOf(activity))
			}
		})
	}
}
