package activities_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// marks are the bookmarks of a user task and beside it; nil: there is none.
func (b *bench) marks() (at, beside *workflow.Bookmark) {
	for i := range b.header.Bookmarks {
		if m := &b.header.Bookmarks[i]; usertask.Is(m) {
			at = m
		} else if m.Name == usertask.BesideName {
			beside = m
		}
	}
	return at, beside
}

// at resumes a bookmark.
func (b *bench) at(m *workflow.Bookmark, input map[string]any) {
	b.t.Helper()
	if m == nil {
		b.t.Fatal("it does not wait there")
	}
	b.run(workflow.Command{ID: b.id("cmd"), Kind: workflow.CommandResume, Bookmark: m.ID, Input: input})
}

// changed does something with the task.
func (b *bench) changed(op, to, text string) {
	b.t.Helper()
	at, _ := b.marks()
	b.at(at, (&usertask.Change{Op: op, By: "key:op", To: to, Text: text}).Input())
}

// What people do with a task is a line of the journal. A comment moves nothing; who is to do it makes the task wait at
// another bookmark, with the same id.
func TestPeopleChangeAUserTask(t *testing.T) {
	t.Parallel()
	b := start(t, approval(inputs{"enableCancellationOutcome": lit(true)}))
	first, _ := b.marks()
	b.changed(usertask.Comment, "", "is that so?")
	b.changed(usertask.Comment, "", "it is")
	at, beside := b.marks()
	if at.ID != first.ID || beside == nil || len(usertask.BesideOf(at.ID, b.header.Bookmarks).Comments) != 2 || len(b.header.Bookmarks) != 2 {
		t.Fatalf("%+v", b.header.Bookmarks)
	}
	b.changed(usertask.Assign, "key:bert", "anna is away")
	at, _ = b.marks()
	if is := b.asked(); at.ID == first.ID || is.Assignee != "key:bert" || is.ID(at.ID) != first.ID || len(usertask.BesideOf(first.ID, b.header.Bookmarks).Comments) != 2 {
		t.Errorf("%+v %+v", at, is)
	}
	b.changed(usertask.Return, "", "")
	if is := b.asked(); is.Assignee != "" || is.First != first.ID {
		t.Errorf("%+v", is)
	}
	for range 60 {
		b.changed(usertask.Comment, "", "more")
	}
	if n := len(usertask.BesideOf(first.ID, b.header.Bookmarks).Comments); n != usertask.MostComments {
		t.Errorf("%d comments", n)
	}
	for event, want := range map[string]string{usertask.EventAssigned: "key:op gave it to key:bert", usertask.EventReturned: "key:op gave it back", usertask.EventCommented: "key:op: is that so?"} {
		if got := b.texts(event); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %v", event, got)
		}
	}
	b.changed(usertask.Cancel, "", "nobody needs it")
	b.wantStatus(workflow.Finished)
	if got := strings.Join(b.outcomes("approve"), " "); got != "Done Cancelled" || len(b.header.Bookmarks) != 0 {
		t.Errorf("outcomes %s, %v", got, b.header.Bookmarks)
	}
}

// A change that came too late, or that no node takes, changes nothing, and the task waits on.
func TestWhatDoesNotFitChangesNoUserTask(t *testing.T) {
	t.Parallel()
	b := start(t, approval(inputs{"excludedUsers": lit([]any{"bert"})}))
	at, _ := b.marks()
	for _, c := range []usertask.Change{
		{Op: usertask.Assign}, {Op: usertask.Assign, To: "key:bert"}, {Op: usertask.Delegate, To: "bert"}, {Op: usertask.Cancel, Text: "x"}, {Op: usertask.Comment},
		{Op: usertask.Comment, Text: strings.Repeat("x", 2049)}, {Op: usertask.Assign, To: strings.Repeat("x", 5000)}, {Op: "sell", To: "key:anna"},
	} {
		c.By = "key:op"
		b.at(at, c.Input())
		if now, beside := b.marks(); b.header.SubStatus != workflow.Suspended || now.ID != at.ID || beside != nil || b.asked().Assignee != "" {
			t.Errorf("%+v: %+v", c, b.header.Bookmarks)
		}
	}
}

// Time reminds, tells that a task is overdue, and asks others too, each when it is to and once; what comes late comes together.
func TestTimeRemindsAndEscalates(t *testing.T) {
	t.Parallel()
	in := inputs{
		"dueIn": lit("4h"), "remind": lit(map[string]any{"before": "1h", "every": "30m", "times": int64(3)}),
		"escalate": lit(map[string]any{"after": "1h", "groups": []any{"heads"}, "priority": int64(90)}),
	}
	b := start(t, approval(in))
	first, beside := b.marks()
	made := b.now
	pass := func(in time.Duration, wants ...string) {
		t.Helper()
		if beside == nil || !beside.DueAt.Equal(made.Add(in).Truncate(time.Millisecond)) {
			t.Fatalf("it comes at %v, want %v", beside, made.Add(in))
		}
		n := len(b.journal)
		b.now = made.Add(in)
		b.at(beside, nil)
		var got []string
		for _, item := range b.journal[n:] {
			if strings.HasPrefix(item.Event, "UserTask") {
				got = append(got, item.Event+" "+item.Text)
			}
		}
		if !slices.Equal(got, wants) {
			t.Errorf("behind %v: %q, want %q", in, got, wants)
		}
		_, beside = b.marks()
	}
	pass(3*time.Hour, "UserTaskReminded reminder 1 of 3")
	pass(3*time.Hour+30*time.Minute, "UserTaskReminded reminder 2 of 3")
	pass(4*time.Hour, "UserTaskOverdue it was to be done by now", "UserTaskReminded reminder 3 of 3")
	if at, _ := b.marks(); at.ID != first.ID {
		t.Error("a reminder moved the task")
	}
	pass(5*time.Hour, "UserTaskEscalated others are asked too")
	at, beside := b.marks()
	if is := b.asked(); beside != nil || at.ID == first.ID || is.ID(at.ID) != first.ID || !is.Made.Equal(first.CreatedAt) || fmt.Sprint(is.Users, is.Groups, is.Priority) != "[anna] [heads] 90" {
		t.Errorf("%+v %+v", is, beside)
	}
	b.at(at, decided("key:head", "Approve", nil))
	b.wantStatus(workflow.Finished)

	b = start(t, approval(inputs{"dueIn": lit("2h"), "remind": lit(map[string]any{"before": "10d", "every": "1m", "times": int64(20)})}))
	_, beside = b.marks()
	b.at(beside, nil)
	if got := b.texts(usertask.EventReminded); len(got) != 1 || got[0] != "reminder 20 of 20" {
		t.Errorf("reminders that were to come before: %q", got)
	}
	at, beside = b.marks()
	if beside == nil || !beside.DueAt.Equal(*b.asked().DueAt) {
		t.Errorf("%+v", beside)
	}
	b.at(at, decided("key:anna", "Approve", nil))
	if b.wantStatus(workflow.Finished); len(b.header.Bookmarks) != 0 {
		t.Errorf("%+v", b.header.Bookmarks)
	}
}

// What is said of later and is none is an incident that says so.
func TestWhatIsToComeIsBounded(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]inputs{
		"remind.before is given, and no dueAt":              {"remind": computed(map[string]any{"before": "1h"})},
		"remind has neither before nor every":               {"remind": computed(map[string]any{"times": int64(2)})},
		"remind.times is from 1 to 20":                      {"remind": computed(map[string]any{"every": "1h", "times": int64(1 << 40)})},
		"remind.times is more than 1, and there is no ever": {"dueIn": lit("1h"), "remind": computed(map[string]any{"before": "1h", "times": int64(2)})},
		"remind.every is less than 1m0s":                    {"remind": computed(map[string]any{"every": "1s"})},
		"remind.every: it is none, or goes back":            {"remind": computed(map[string]any{"every": "-1h"})},
		`remind.every: "often" is not a duration`:           {"remind": computed(map[string]any{"every": "often"})},
		"remind has befor, and may have before":             {"remind": computed(map[string]any{"befor": "1h"})},
		"remind is no object":                               {"remind": computed("1h")},
		"escalate has to have either before or after":       {"escalate": computed(map[string]any{"groups": []any{"x"}})},
		"escalate changes nothing":                          {"escalate": computed(map[string]any{"after": "1h"})},
		"escalate.before is given, and no dueAt":            {"escalate": computed(map[string]any{"before": "1h", "groups": []any{"x"}})},
		"escalate: priority is 101":                         {"escalate": computed(map[string]any{"after": "1h", "priority": int64(101)})},
		"escalate has 101 users and 0 groups":               {"escalate": computed(map[string]any{"after": "1h", "users": slicesOf(101, "x1")})},
	} {
		b := start(t, approval(in))
		if b.wantStatus(workflow.Faulted); len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, want) {
			t.Errorf("%s: %+v", want, b.header.Incidents)
		}
	}
}
