package activities_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func race(branches ...*workflow.Activity) *workflow.Activity {
	f := act("Fork", inputs{"joinMode": lit("FirstSuccess")})
	f.ID, f.Activities = "race", branches
	return f
}

func broken(id, why string) *workflow.Activity {
	return named(id, activities.Inline(func(context.Context, *engine.Execution) error { return errors.New(why) }))
}

// A branch that fails loses; the first that succeeds wins, and cancels the others.
func TestABranchThatFailsLoses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		race *workflow.Activity
		want []string
	}{
		"the last succeeds":  {race(broken("a", "no"), broken("b", "neither"), line("c")), []string{"c", "after"}},
		"the first succeeds": {race(line("c"), broken("a", "no")), []string{"c", "after"}},
		"within a race":      {race(race(broken("a", "no"), broken("b", "no")), line("c")), []string{"c", "after"}},
	} {
		for _, inner := range c.race.Activities {
			if inner.Type == "Elsa.Fork" {
				inner.ID = "inner"
			}
		}
		b := start(t, root(seq(c.race, line("after")))).wantStatus(workflow.Finished).wantLines(c.want...)
		if len(b.header.Incidents) != 0 {
			t.Errorf("%s: %+v", name, b.header.Incidents)
		}
	}
	b := start(t, root(seq(race(seq(line("began"), broken("a", "no"), line("never")), named("w", wait("go"))), line("after")))).wantStatus(workflow.Suspended)
	b.resume("go", nil)
	b.wantStatus(workflow.Finished).wantLines("began", "after")
}

// When all branches have failed there is one incident with each reason, and a retry begins the race again.
func TestARaceThatAllLoseIsOneFault(t *testing.T) {
	t.Parallel()
	second := &failing{left: 1}
	b := start(t, root(seq(race(broken("a", "first reason"), second.activity("b")), line("after")))).wantStatus(workflow.Faulted)
	if in := b.header.Incidents; len(in) != 1 || in[0].ActivityID != "race" || !strings.Contains(in[0].Message, "each of the 2 branches failed: a: first reason; b: no 1") {
		t.Fatalf("incidents %+v", b.header.Incidents)
	}
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished).wantLines("after")
	// A policy around it tries the race again.
	third := &failing{left: 1}
	start(t, root(retried(race(broken("a", "no"), third.activity("b")), inputs{"attempts": lit(2)}))).pass(1).wantStatus(workflow.Finished)
}

// Pauses with jitter lie within it, differ, and are the same when the burst runs again.
func TestPausesWithJitter(t *testing.T) {
	t.Parallel()
	var all [][]time.Duration
	for range 2 {
		f := &failing{left: 6}
		start(t, root(retried(f.activity("a"), inputs{"attempts": lit(7), "delay": lit("10s"), "factor": lit(1), "jitter": lit(0.5)}))).pass(6).wantStatus(workflow.Finished)
		all = append(all, f.pauses())
		for _, p := range f.pauses() {
			if p < 5*time.Second || p > 15*time.Second {
				t.Errorf("a pause of %s", p)
			}
		}
		if len(slices.Compact(f.pauses())) < 4 {
			t.Errorf("pauses %v", f.pauses())
		}
	}
	if !slices.Equal(all[0], all[1]) {
		t.Errorf("the same run had other pauses: %v", all)
	}
	start(t, root(retried((&failing{}).activity("a"), inputs{"jitter": expr(func(engine.Scope) (any, error) { return 1.5, nil })}))).wantStatus(workflow.Faulted)
}

// What expect does not have is a failure, which a policy tries again; Retry-After of 429 and 503 is kept up to maxDelay.
func TestAnAnswerThatIsNotExpectedIsAFailure(t *testing.T) {
	t.Parallel()
	var answers []int
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		code := answers[0]
		answers = answers[1:]
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(code)
	}))
	t.Cleanup(srv.Close)
	call := func(in inputs, branches ...string) *workflow.Activity {
		in["url"] = lit(srv.URL)
		a := named("call", act("SendHttpRequest", in))
		for _, code := range branches {
			a.Cases = append(a.Cases, workflow.Case{Label: code, Activity: line("branch " + code)})
		}
		return a
	}
	ok := inputs{"expect": lit("2xx")}
	answers = []int{404}
	b := start(t, root(seq(call(ok), line("after"))), withHTTP(true)).wantStatus(workflow.Faulted)
	if in := b.header.Incidents; len(in) != 1 || !strings.HasSuffix(in[0].Message, "answered 404 Not Found") {
		t.Errorf("incidents %+v", in)
	}
	answers = []int{404}
	start(t, root(call(inputs{"expect": lit([]any{"2xx", int64(404)})})), withHTTP(true)).wantStatus(workflow.Finished)
	answers = []int{404}
	start(t, root(call(ok, "404")), withHTTP(true)).wantStatus(workflow.Finished).wantLines("branch 404")
	answers = []int{404}
	other := port(call(ok), "unmatchedStatusCode", line("other"))
	start(t, root(other), withHTTP(true)).wantStatus(workflow.Finished).wantLines("other")
	answers = []int{404, 400, 201}
	start(t, root(call(inputs{"expect": lit("2xx"), "retries": lit(2), "retryDelay": lit("1ms")})), withHTTP(true)).wantStatus(workflow.Finished)
	for _, c := range []struct {
		codes []int
		max   string
		want  time.Duration
	}{{[]int{404, 200}, "1h", time.Second}, {[]int{503, 200}, "1h", time.Minute}, {[]int{429, 200}, "5s", 5 * time.Second}} {
		answers = c.codes
		b := start(t, root(retried(call(inputs{"expect": lit("2xx")}), inputs{"delay": lit("1s"), "maxDelay": lit(c.max)})), withHTTP(true)).wantStatus(workflow.Suspended)
		if due := b.header.Bookmarks[0].DueAt.Sub(b.header.Bookmarks[0].CreatedAt); due != c.want {
			t.Errorf("%v: a pause of %s, want %s", c.codes, due, c.want)
		}
		b.pass(1).wantStatus(workflow.Finished)
	}
	if start(t, root(call(inputs{"expect": expr(func(engine.Scope) (any, error) { return "soon", nil })})), withHTTP(true)).wantStatus(workflow.Faulted).header.Incidents == nil {
		t.Error("no incident")
	}
}
