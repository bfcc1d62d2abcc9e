package activities_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// terms are those of the one task that the instance waits for.
func (b *bench) terms() task.Terms {
	b.t.Helper()
	for i := range b.header.Bookmarks {
		if m := &b.header.Bookmarks[i]; m.ActivityType == workflow.TaskType {
			return task.Of(m)
		}
	}
	b.t.Fatalf("it waits for no task: %v", b.bookmarks())
	return task.Terms{}
}

// What a worker fails, and what time ends, are attempts of the retry that stands beside the task: each has another task,
// after the pause, which knows which attempt it is and why the one before failed. What no attempt will do better is
// not tried again.
func TestTheRetryOfATaskCounts(t *testing.T) {
	t.Parallel()
	pack := func() *workflow.Definition {
		return root(retried(named("pack", act("RunTask", inputs{"taskName": lit("pack")})), inputs{"attempts": lit(3), "delay": lit("10s")}))
	}
	b := start(t, pack())
	if got := b.terms(); got != (task.Terms{Attempt: 1}) {
		t.Errorf("%+v", got)
	}
	b.resume("pack", map[string]any{"error": "jam: no paper", task.Worker: "one"})
	if b.wantStatus(workflow.Suspended); !b.header.Bookmarks[0].DueAt.Equal(b.now.Add(10*time.Second)) || len(b.header.Bookmarks) != 1 {
		t.Fatalf("no pause: %+v", b.header.Bookmarks)
	}
	b.pass(1)
	if got := b.terms(); got != (task.Terms{Attempt: 2, Failed: "task pack failed: jam: no paper"}) {
		t.Errorf("%+v", got)
	}
	b.resume("pack", map[string]any{"error": "lease-ended: nothing more", task.Worker: "two", task.Timeout: "the lease of worker two ended"})
	b.pass(1)
	b.resume("pack", map[string]any{"error": "jam: again", task.Worker: "three"})
	b.wantStatus(workflow.Faulted)
	if in := b.header.Incidents; len(in) != 1 || in[0].Message != "task pack failed: jam: again (attempt 3 of 3; it was the last one)" {
		t.Errorf("%+v", in)
	}
	if got := fmt.Sprint(b.texts(workflow.TaskAnswered), b.texts(workflow.TaskTimedOut)); got != "[worker one worker three] [the lease of worker two ended]" {
		t.Errorf("the journal has %s", got)
	}

	b = start(t, pack())
	b.resume("pack", map[string]any{"error": "bad-address: none", task.Worker: "one", task.Final: true})
	if b.wantStatus(workflow.Faulted); !strings.Contains(b.header.Incidents[0].Message, "bad-address: none (attempt 1 of 3; another attempt would fail as this one)") {
		t.Errorf("%+v", b.header.Incidents)
	}
	plain := start(t, root(named("pack", act("RunTask", inputs{"taskName": lit("pack")}))))
	if got := plain.terms(); got != (task.Terms{}) {
		t.Errorf("a task without a retry has %+v", got)
	}
}

// The limits of a task are part of what it says to those who give it, and bounded.
func TestATaskSaysItsLimits(t *testing.T) {
	t.Parallel()
	b := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "claimWithin": lit("5m"), "doneWithin": lit("1h30m")})))
	if got := b.terms(); got != (task.Terms{ClaimWithin: 5 * time.Minute, DoneWithin: 90 * time.Minute}) {
		t.Errorf("%+v", got)
	}
	b.resume("pack", map[string]any{"error": "unclaimed: no worker claimed it within 5m0s", task.Timeout: "no worker claimed it in time"})
	if b.wantStatus(workflow.Faulted); b.header.Incidents[0].Message != "task pack failed: unclaimed: no worker claimed it within 5m0s" {
		t.Errorf("%+v", b.header.Incidents)
	}
	if got := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "priority": lit(9)}))).terms(); got != (task.Terms{Above: 4}) {
		t.Errorf("%+v", got)
	}
	if got := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "priority": lit(0)}))).terms(); got != (task.Terms{Above: -5}) {
		t.Errorf("%+v", got)
	}
	if got := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "fairBy": computed("north")}))).terms(); got != (task.Terms{FairBy: "north"}) {
		t.Errorf("%+v", got)
	}
	if b := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "fairBy": lit(strings.Repeat("x", 257))}))); !strings.Contains(b.header.Incidents[0].Message, "fairBy") {
		t.Errorf("%+v", b.header.Incidents)
	}
	for _, n := range []any{-1, 10} {
		none := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "priority": computed(n)})))
		if none.wantStatus(workflow.Faulted); !strings.Contains(none.header.Incidents[0].Message, "it is a whole number from 0 to 9") {
			t.Errorf("%+v", none.header.Incidents)
		}
	}
	for _, d := range []string{"-5m", "0s"} {
		none := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "claimWithin": computed(d)})))
		if none.wantStatus(workflow.Faulted); !strings.Contains(none.header.Incidents[0].Message, "is not longer than 0") {
			t.Errorf("%+v", none.header.Incidents)
		}
	}
	long := start(t, root(act("RunTask", inputs{"taskName": lit("pack"), "doneWithin": computed("100000h")})))
	if long.wantStatus(workflow.Faulted); !strings.Contains(long.header.Incidents[0].Message, "doneWithin is 100000h0m0s; it may be up to 87840h0m0s, ten years") {
		t.Errorf("%+v", long.header.Incidents)
	}
}
