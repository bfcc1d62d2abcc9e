package activities_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// failing fails as often as told, and notes each call with its key and its time.
type failing struct {
	left int
	err  error
	keys []string
	at   []time.Time
}

func (f *failing) activity(id string) *workflow.Activity {
	return named(id, activities.Inline(func(_ context.Context, x *engine.Execution) error {
		f.keys, f.at = append(f.keys, x.IdempotencyKey()), append(f.at, x.Clock())
		if f.left--; f.left < 0 {
			return nil
		}
		if f.err == nil {
			return fmt.Errorf("no %d", len(f.keys))
		}
		return f.err
	}))
}

func (f *failing) pauses() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(f.at); i++ {
		out = append(out, f.at[i].Sub(f.at[i-1]))
	}
	return out
}

func (f *failing) oneKey() bool { return len(slices.Compact(slices.Clone(f.keys))) == 1 }

func retried(a *workflow.Activity, in inputs) *workflow.Activity {
	return port(named(a.ID+".retry", act("RetryPolicy", in)), "body", a)
}

// pass moves the clock to the next timer and resumes it, as often as there is one.
func (b *bench) pass(times int) *bench {
	b.t.Helper()
	for range times {
		i := slices.IndexFunc(b.header.Bookmarks, func(m workflow.Bookmark) bool { return m.DueAt != nil })
		if i < 0 {
			b.t.Fatalf("nothing waits for a time: %v", b.bookmarks())
		}
		m := b.header.Bookmarks[i]
		b.now = *m.DueAt
		b.run(workflow.Command{ID: b.id("timer"), Kind: workflow.CommandResume, Bookmark: m.ID, Timer: true})
	}
	return b
}

func (b *bench) texts(name string) []string {
	var out []string
	for _, it := range b.journal {
		if it.Event == name {
			out = append(out, it.Text)
		}
	}
	return out
}

func TestARetryTriesAgainAfterPauses(t *testing.T) {
	t.Parallel()
	f := &failing{left: 4}
	b := start(t, root(seq(retried(f.activity("call"), inputs{"attempts": lit(6), "delay": lit("2s"), "factor": lit(3), "maxDelay": lit("20s")}), line("done"))))
	b.wantStatus(workflow.Suspended)
	m := b.header.Bookmarks[0]
	if r := m.Retry(); r == nil || *r != (workflow.Retry{Activity: "call", Attempt: 2, Attempts: 6, Error: "no 1"}) || !m.DueAt.Equal(t0.Add(2*time.Second)) || m.Name != "call" {
		t.Errorf("the pause is %+v, %+v", m, m.Retry())
	}
	b.pass(4).wantStatus(workflow.Finished).wantLines("done")
	if want := []time.Duration{2 * time.Second, 6 * time.Second, 18 * time.Second, 20 * time.Second}; !slices.Equal(f.pauses(), want) {
		t.Errorf("pauses %v, want %v", f.pauses(), want)
	}
	if !f.oneKey() {
		t.Errorf("one call has several keys: %v", f.keys)
	}
	if lines := b.texts("AttemptFailed"); len(lines) != 4 || lines[2] != "attempt 3 of 6 failed: no 3" {
		t.Errorf("journal: %q", lines)
	}
	if len(b.header.Incidents) > 0 {
		t.Errorf("incidents of what was mended: %v", b.header.Incidents)
	}
}

func TestARetryGivesUp(t *testing.T) {
	t.Parallel()
	three := inputs{"delay": lit("1s")}
	f := &failing{left: 9}
	b := start(t, root(retried(f.activity("call"), three))).pass(2).wantStatus(workflow.Faulted)
	in := b.header.Incidents
	if len(in) != 1 || in[0].ActivityID != "call" || in[0].Message != "no 3 (attempt 3 of 3; it was the last one)" || in[0].Cause != "" {
		t.Errorf("incidents %+v", in)
	}
	if lines := b.texts("GaveUp"); !slices.Equal(lines, []string{"attempt 3 of 3 failed, and no other follows: it was the last one: no 3"}) {
		t.Errorf("journal: %q", lines)
	}
	// An operator's retry begins another series, of the same call.
	b.command(workflow.CommandRetry)
	b.pass(2).wantStatus(workflow.Faulted)
	if len(f.keys) != 6 || !f.oneKey() {
		t.Errorf("keys %v", f.keys)
	}
	f.left = 0
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished)

	f = &failing{left: 9}
	policy := port(retried(f.activity("call"), three), "onGiveUp", seq(lineOf(expr(func(s engine.Scope) (any, error) {
		e, _ := s.Variable("Error")
		n, _ := s.Variable("Attempts")
		return fmt.Sprintf("%v after %v", e, n), nil
	})), wait("ev"), line("then")))
	b = start(t, root(seq(policy, line("on")))).pass(2).wantStatus(workflow.Suspended)
	b.resume("ev", nil)
	b.wantStatus(workflow.Finished).wantLines("no 3 after 3", "then", "on")

	// What fails in the branch is no attempt.
	f = &failing{left: 9}
	b = start(t, root(port(retried(f.activity("call"), three), "onGiveUp", act("Fault", inputs{"message": lit("lost")})))).pass(2).wantStatus(workflow.Faulted)
	if m := b.header.Incidents[0].Message; m != "lost" {
		t.Errorf("incident %q", m)
	}
}

func TestWhichFailuresARetryTakes(t *testing.T) {
	t.Parallel()
	list := func(v ...any) workflow.Expression { return expr(func(engine.Scope) (any, error) { return v, nil }) }
	coded := &engine.FaultError{Code: "E7", Category: "Money", Type: "Rule", Message: "no funds"}
	for name, c := range map[string]struct {
		in     inputs
		err    error
		taken  bool
		reason string
	}{
		"all":            {inputs{}, coded, true, ""},
		"code":           {inputs{"on": lit("e7")}, coded, true, ""},
		"category":       {inputs{"on": list("money")}, coded, true, ""},
		"type":           {inputs{"on": list("x", "rule")}, coded, true, ""},
		"part of text":   {inputs{"on": list("FUNDS")}, coded, true, ""},
		"another":        {inputs{"on": list("timeout")}, coded, false, "on does not have it"},
		"a status, none": {inputs{"on": list(int64(503), "4xx")}, coded, false, "on does not have it"},
		"not":            {inputs{"notOn": lit("e7")}, coded, false, "notOn has it"},
		"not before on":  {inputs{"on": lit("money"), "notOn": list("e7")}, coded, false, "notOn has it"},
		"wrapped":        {inputs{"on": lit("E7")}, fmt.Errorf("outer: %w", coded), true, ""},
	} {
		f := &failing{left: 1, err: c.err}
		b := start(t, root(retried(f.activity("call"), c.in)))
		if c.taken {
			b.pass(1).wantStatus(workflow.Finished)
			continue
		}
		b.wantStatus(workflow.Faulted)
		if m := b.header.Incidents[0].Message; !strings.Contains(m, c.reason) || len(f.keys) != 1 {
			t.Errorf("%s: %s", name, m)
		}
	}
}

func TestTheTimeOfARetry(t *testing.T) {
	t.Parallel()
	f := &failing{left: 99}
	b := start(t, root(retried(f.activity("call"), inputs{"delay": lit("4s"), "factor": lit(1), "maxTime": lit("10s")}))).pass(2)
	b.wantStatus(workflow.Faulted)
	if m := b.header.Incidents[0].Message; m != "no 3 (attempt 3; the time of 10s for all is over)" {
		t.Errorf("incident %q", m)
	}
}

// No attempt begins after the time for all: not when the pause ends late, since no node was there or
// somebody moved it, nor when it waits for its turn after that.
func TestNoAttemptBeginsAfterTheTimeOfARetry(t *testing.T) {
	t.Parallel()
	for _, late := range []string{"in the pause", "before its turn"} {
		for _, branch := range []bool{false, true} {
			t.Run(fmt.Sprint(late, ", onGiveUp ", branch), func(t *testing.T) {
				t.Parallel()
				f := &failing{left: 99}
				policy := retried(f.activity("call"), inputs{"delay": lit("4s"), "factor": lit(1), "maxTime": lit("1m")})
				if branch {
					policy = port(policy, "onGiveUp", seq(lineOf(expr(func(s engine.Scope) (any, error) {
						e, _ := s.Variable("Error")
						n, _ := s.Variable("Attempts")
						return fmt.Sprintf("%v after %v", e, n), nil
					}))))
				}
				def := root(seq(policy, line("on")))
				if late == "before its turn" { // saved before each activity
					def.Options.CommitStrategy = "ActivityExecutingStrict"
				}
				b := start(t, def).pass(1)
				if len(f.at) != 2 {
					t.Fatalf("%d attempts", len(f.at))
				}
				m := b.header.Bookmarks[0]
				timer := workflow.Command{ID: "late", Kind: workflow.CommandResume, Bookmark: m.ID, Timer: true}
				b.now = *m.DueAt
				if late == "in the pause" {
					b.now = t0.Add(time.Minute + time.Millisecond)
					b.run(timer)
				} else {
					b.most = 1 // the attempt is saved before it begins, and nobody goes on for an hour
					b.run(timer)
					b.now = t0.Add(time.Hour)
					b.goOn(0)
				}
				if len(f.at) != 2 {
					t.Errorf("an attempt began %s after the first", f.at[2].Sub(f.at[0]))
				}
				if branch {
					want := "no 2 after 2"
					if late == "before its turn" {
						want = "it failed after 2"
					}
					b.wantStatus(workflow.Finished).wantLines(want, "on")
					return
				}
				b.wantStatus(workflow.Faulted)
				if in := b.header.Incidents; len(in) != 1 || !strings.HasPrefix(in[0].Message, "attempt 2 failed, and the next one would have begun after the time of 1m0s for all") {
					t.Errorf("incidents %+v", in)
				}
				// An operator's retry begins another series.
				f.left = 1
				b.command(workflow.CommandRetry)
				b.pass(1).wantStatus(workflow.Finished).wantLines("on")
				if !f.oneKey() {
					t.Errorf("keys %v", f.keys)
				}
			})
		}
	}
	// In time, at the last moment.
	f := &failing{left: 1}
	b := start(t, root(retried(f.activity("call"), inputs{"delay": lit("4s"), "maxTime": lit("4s")}))).pass(1).wantStatus(workflow.Finished)
	if len(b.header.Incidents) > 0 || len(f.at) != 2 {
		t.Errorf("%d attempts, %v", len(f.at), b.header.Incidents)
	}
}

// A delay that is longer than the longest pause is by default is not cut.
func TestALongDelayIsKept(t *testing.T) {
	t.Parallel()
	f := &failing{left: 99}
	b := start(t, root(retried(f.activity("call"), inputs{"attempts": lit(3), "delay": lit("2h")})))
	b.pass(2).wantStatus(workflow.Faulted)
	if p := f.pauses(); !slices.Equal(p, []time.Duration{2 * time.Hour, 2 * time.Hour}) {
		t.Errorf("pauses %v", p)
	}
}

func TestARetryOfSeveralActivities(t *testing.T) {
	t.Parallel()
	// The second one fails: the first one is called again, with the key that it had. What
	// it began beside is cancelled.
	a, c := &failing{}, &failing{left: 2}
	body := named("both", seq(a.activity("a"), act("Parallel", nil, wait("never"), c.activity("c"))))
	b := start(t, root(retried(body, inputs{}))).pass(2).wantStatus(workflow.Suspended)
	if len(a.keys) != 3 || !a.oneKey() || !c.oneKey() || a.keys[0] == c.keys[0] {
		t.Errorf("keys %v and %v", a.keys, c.keys)
	}
	if n := len(b.header.Bookmarks); n != 1 {
		t.Errorf("%d bookmarks", n)
	}
	b.resume("never", nil)
	b.wantStatus(workflow.Finished)

	// In a loop each round is another call, also if an attempt begins in the middle.
	f := &failing{left: 1}
	each := act("ForEach", inputs{"items": expr(func(engine.Scope) (any, error) { return []any{"x", "y", "x"}, nil })})
	port(each, "body", f.activity("f"))
	start(t, root(retried(named("loop", each), inputs{}))).pass(1).wantStatus(workflow.Finished)
	if k := f.keys; len(k) != 4 || k[0] != k[1] || k[1] == k[2] || k[1] == k[3] || k[2] == k[3] {
		t.Errorf("keys %v", k)
	}

	f = &failing{left: 2}
	start(t, root(retried(f.activity("call"), inputs{"keys": lit("new")}))).pass(2)
	if k := f.keys; len(k) != 3 || k[0] == k[1] || k[1] == k[2] {
		t.Errorf("keys %v", k)
	}
}

func TestARetryInARetry(t *testing.T) {
	t.Parallel()
	f := &failing{left: 5}
	in := inputs{"attempts": lit(2), "delay": lit("1s")}
	inner := retried(f.activity("call"), in)
	b := start(t, root(retried(inner, inputs{"attempts": lit(2), "delay": lit("1m")}))).pass(3).wantStatus(workflow.Faulted)
	if m := b.header.Incidents[0].Message; m != "no 4 (attempt 2 of 2; it was the last one) (attempt 2 of 2; it was the last one)" {
		t.Errorf("incident %q", m)
	}
	if want := []time.Duration{time.Second, time.Minute, time.Second}; !slices.Equal(f.pauses(), want) || !f.oneKey() {
		t.Errorf("pauses %v, keys %v", f.pauses(), f.keys)
	}
}

func TestARetryThatIsCancelled(t *testing.T) {
	t.Parallel()
	f := &failing{left: 9}
	b := start(t, root(retried(f.activity("call"), inputs{}))).wantStatus(workflow.Suspended)
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Cancelled)
	if len(b.header.Bookmarks) != 0 || len(b.last.Burned) != 1 {
		t.Errorf("bookmarks %v, burned %v", b.bookmarks(), b.last.Burned)
	}
	// By its scope: the other branch of a fork ends first.
	f = &failing{left: 9}
	b = start(t, root(seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, retried(f.activity("call"), inputs{}), wait("ev")), line("on"))))
	b.resume("ev", nil)
	b.wantStatus(workflow.Finished).wantLines("on")
	// A person does not wait for the timer.
	f = &failing{left: 1}
	b = start(t, root(retried(f.activity("call"), inputs{})))
	b.resume("call", nil)
	b.wantStatus(workflow.Finished)
}

func TestARetryOfAnInstanceThatContinuesWithIncidents(t *testing.T) {
	t.Parallel()
	f := &failing{left: 9}
	def := root(act("Parallel", nil, retried(f.activity("call"), inputs{"attempts": lit(2)}), seq(wait("ev"), line("other"))))
	def.Options.IncidentStrategy = "ContinueWithIncidents"
	b := start(t, def).pass(1).wantStatus(workflow.Suspended)
	if len(b.header.Incidents) != 1 {
		t.Errorf("incidents %v", b.header.Incidents)
	}
	b.resume("ev", nil)
	b.wantLines("other")
}

// Of several that fail in one attempt, none begins another one once the policy gave up: what failed
// first waits for an operator.
func TestARetryThatGaveUpDoesNotBeginAgainByItself(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]inputs{
		"the last one": {"attempts": lit(2)},
		"not such one": {"attempts": lit(5), "notOn": lit("no 1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, c := &failing{left: 99}, &failing{left: 99}
			if name == "not such one" {
				c.err = errors.New("another")
			}
			def := root(seq(retried(named("both", act("Parallel", nil, a.activity("a"), seq(wait("ev"), c.activity("c")))), in)))
			def.Options.IncidentStrategy = "ContinueWithIncidents"
			b := start(t, def)
			calls := 1
			if name == "the last one" {
				b.pass(1)
				calls = 2
			}
			b.resume("ev", nil)
			b.wantStatus(workflow.Suspended)
			if len(a.keys) != calls || len(c.keys) != 1 || len(b.header.Bookmarks) != 0 || len(b.header.Incidents) != 2 {
				t.Fatalf("%d and %d calls, it waits at %v, incidents %v", len(a.keys), len(c.keys), b.bookmarks(), b.header.Incidents)
			}
			if m := b.header.Incidents[1].Message; !strings.Contains(m, "(attempt ") {
				t.Errorf("incident %q", m)
			}
			if name == "the last one" { // an operator's retry begins another series
				b.command(workflow.CommandRetry)
				b.pass(1)
				b.resume("ev", nil)
				if len(a.keys) != calls+2 || len(b.header.Bookmarks) != 0 {
					t.Errorf("%d calls, it waits at %v", len(a.keys), b.bookmarks())
				}
			}
		})
	}
}

// In the pause between two attempts an operator may alter what comes.
func TestAlterationsBetweenTwoAttempts(t *testing.T) {
	t.Parallel()
	pausing := func(f *failing) *bench {
		return start(t, root(seq(retried(f.activity("call"), inputs{"delay": lit("10s")}), line("done")))).wantStatus(workflow.Suspended)
	}
	t.Run("another time", func(t *testing.T) {
		t.Parallel()
		f := &failing{left: 1}
		due := t0.Add(time.Hour)
		b := pausing(f).altered(workflow.Alteration{Type: workflow.AlterReschedule, DueAt: &due})
		if m := b.header.Bookmarks[0]; m.Retry() == nil || m.Retry().Attempt != 2 || !m.DueAt.Equal(due) {
			t.Errorf("the pause is %+v", m)
		}
		b.pass(1).wantStatus(workflow.Finished).wantLines("done")
		if !f.oneKey() || !f.at[1].Equal(due) {
			t.Errorf("keys %q, at %v", f.keys, f.at)
		}
	})
	t.Run("at once, from the first attempt", func(t *testing.T) {
		t.Parallel()
		f := &failing{left: 3}
		b := pausing(f).altered(retryOf("call.retry")).wantStatus(workflow.Suspended)
		if m := b.header.Bookmarks[0].Retry(); len(b.header.Bookmarks) != 1 || m.Attempt != 2 || len(f.keys) != 2 {
			t.Fatalf("%d calls, it waits at %v for %+v", len(f.keys), b.bookmarks(), m)
		}
		b.pass(2).wantStatus(workflow.Finished).wantLines("done")
		if !f.oneKey() {
			t.Errorf("keys %q", f.keys)
		}
	})
	t.Run("at once, the activity", func(t *testing.T) {
		t.Parallel()
		f := &failing{left: 1}
		b := pausing(f)
		b.refused("/alterations/0/activity", "cannot-rewind", "call.retry", retryOf("call"))
		b.refused("/alterations/0/activity", "not-running", "call.retry", skipOf("call"))
	})
	t.Run("no other", func(t *testing.T) {
		t.Parallel()
		f := &failing{left: 9}
		pausing(f).altered(skipOf("call.retry")).wantStatus(workflow.Finished).wantLines("done")
		f = &failing{left: 9}
		b := start(t, root(act("Parallel", nil, seq(retried(f.activity("call"), inputs{}), line("never")), pause("w"))))
		b.altered(workflow.Alteration{Type: workflow.AlterCancel, Activity: "call.retry"}).wantStatus(workflow.Suspended)
		b.resume("w", nil)
		b.wantStatus(workflow.Finished).wantLines()
		if len(f.keys) != 1 {
			t.Errorf("%d calls", len(f.keys))
		}
	})
	t.Run("another version", func(t *testing.T) {
		t.Parallel()
		// The attempts that come are those of the policy that began, of the activity as it is now.
		f, now := &failing{left: 1}, &failing{left: 1}
		b := pausing(f)
		to := programFor(t, root(seq(line("before"), retried(now.activity("send"), inputs{"attempts": lit(9), "delay": lit("1h")}), line("new"))), 2)
		out, problems := b.alter(map[int]*engine.Program{2: to}, migrateTo(2))
		if out != engine.Refused {
			t.Fatal(out)
		}
		wantRefusal(t, problems, "/alterations/0/activities", "missing-activity", "call.retry")
		if out, problems = b.alter(map[int]*engine.Program{2: to}, migrateTo(2, "call.retry", "send.retry", "call", "send")); out != engine.Applied {
			t.Fatal(problems)
		}
		b.pass(1).wantStatus(workflow.Suspended)
		if m := b.header.Bookmarks[0]; m.Retry() == nil || *m.Retry() != (workflow.Retry{Activity: "send", Attempt: 3, Attempts: 3, Error: "no 1"}) || m.DueAt.Sub(b.now) != 20*time.Second {
			t.Errorf("the pause is %+v, %+v", m, m.Retry())
		}
		b.pass(1).wantStatus(workflow.Finished).wantLines("new")
		if len(f.keys) != 1 || len(now.keys) != 2 || !now.oneKey() || now.keys[0] != f.keys[0] {
			t.Errorf("keys %q, then %q", f.keys, now.keys)
		}
	})
}

func TestRetriesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`retry: {attempts: 0}`:          "at least 1 attempt, not 0",
		`retry: -1`:                     "at least 1 attempt, not -1",
		`retry: {attempts: many}`:       "whole number",
		`retry: {delay: 0s}`:            "not longer than 0",
		`retry: {delay: -5s}`:           "not longer than 0",
		`retry: {maxDelay: "00:00:00"}`: "not longer than 0",
		`retry: {maxTime: -1h}`:         "not longer than 0",
		`retry: {delay: soon}`:          "not a duration",
		`retry: {factor: 0.5}`:          "at least 1, not 0.5",
		`retry: {on: "  "}`:             "empty text",
		`retry: {notOn: true}`:          "neither a text nor an HTTP status",
		`retry: {keys: other}`:          "not one of same, new",
		`retry: {attempt: 3}`:           "attempt",
		`retry: [3]`:                    "a number of attempts",
		`retry:`:                        "a number of attempts",
		`onGiveUp: []`:                  "onGiveUp needs a retry",
		`timeout: 0s`:                   "a timeout is longer than 0",
		`timeout: -1h`:                  "a timeout is longer than 0, and this one is -1h0m0s",
		"timeout: -1h\n    retry: 2\n    onTimeout: []": "a timeout is longer than 0",
	} {
		problems := problemsOf(t, "id: def\nroot:\n  - event: a\n    "+src+"\n")
		if len(problems) == 0 || !strings.Contains(problems.Error(), want) {
			t.Errorf("%s: %v, want %q", src, problems, want)
			continue
		}
		if problems[0].Place.Line < 3 {
			t.Errorf("%s: no place: %+v", src, problems[0])
		}
	}
}

// problemsOf reads and compiles.
func problemsOf(t *testing.T, src string) workflow.Problems {
	t.Helper()
	def, problems := yaml.Read([]byte(src), "", activities.Default())
	if len(problems) > 0 {
		return problems
	}
	_, problems = engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
	return problems
}

// Times that are known only when they are needed are incidents.
func TestTimesThatAreComputedAndMakeNoSense(t *testing.T) {
	t.Parallel()
	is := func(v any) workflow.Expression { return expr(func(engine.Scope) (any, error) { return v, nil }) }
	timed := func(d any) *workflow.Activity {
		return named("a.timeout", act("Fork", inputs{"joinMode": lit("WaitAny")}, named("a", wait("a")),
			named("a.onTimeout", seq(named("a.timeout.delay", act("Delay", inputs{"timeSpan": is(d)}))))))
	}
	for want, a := range map[string]*workflow.Activity{
		"the timeout is 0s; it must be longer than 0":                                    timed("0s"),
		"the timeout is -1h0m0s; it must be longer than 0":                               timed("-1h"),
		"delay: it is a time that something takes, and -1s is not longer than 0":         retried(named("x", line("x")), inputs{"delay": is("-1s")}),
		"maxTime: it is a time that something takes, and 0s is not longer than 0":        retried(named("x", line("x")), inputs{"maxTime": is("0s")}),
		"attempts: there is at least 1 attempt, not 0":                                   retried(named("x", line("x")), inputs{"attempts": is(0)}),
		"factor: pauses do not become shorter; it is at least 1, not 0.9":                retried(named("x", line("x")), inputs{"factor": is(0.9)}),
		"on: an empty text is part of every error; leave it out":                         retried(named("x", line("x")), inputs{"on": is("  ")}),
		"notOn: true is neither a text nor an HTTP status":                               retried(named("x", line("x")), inputs{"notOn": is(true)}),
		"timeout: it is a time that something takes, and -00:00:01 is not longer than 0": act("SendHttpRequest", inputs{"url": lit("http://x"), "timeout": is("-00:00:01")}),
		"interval: it is a time that something takes, and 0s is not longer than 0":       act("Timer", inputs{"interval": is("0s")}),
	} {
		b := start(t, root(a), withHTTP(true)).wantStatus(workflow.Faulted)
		if len(b.header.Incidents) != 1 || b.header.Incidents[0].Message != want {
			t.Errorf("incidents %v\nwant %s", b.header.Incidents, want)
		}
	}
	start(t, root(seq(act("Delay", inputs{"timeSpan": is("-1h")}), line("what is over is not waited for")))).wantStatus(workflow.Finished)
	if p := problemsOf(t, "id: d\nroot: [{delay: -1s}]"); len(p) != 1 || !strings.Contains(p.Error(), "a time to wait is not shorter than 0") {
		t.Errorf("%v", p)
	}
}

// answers gives one status after the other, then the last one; 0 breaks the connection.
func answers(t *testing.T, statuses ...int) (url string, calls *[]string) {
	t.Helper()
	calls = &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := statuses[min(len(*calls), len(statuses)-1)]
		*calls = append(*calls, r.Header.Get("Idempotency-Key"))
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, calls
}

func TestARetryOfARequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []int
		keys     string // beside the request
		pauses   int
		lines    []string
		incident string
	}{
		"mended":                   {[]int{503, 502, 200}, "", 2, nil, ""},
		"expected":                 {[]int{503, 200}, "expectedStatusCodes: {503: {writeLine: busy}}", 0, []string{"busy"}, ""},
		"expected, and on has it":  {[]int{503, 200}, "retry: {on: 503}\n    expectedStatusCodes: {503: {writeLine: busy}}", 1, nil, ""},
		"no way in the end":        {[]int{502}, "", 2, nil, "answered 502 Bad Gateway (attempt 3 of 3; it was the last one)"},
		"a way in the end":         {[]int{502}, "unmatchedStatusCode: {writeLine: other}", 2, []string{"other"}, ""},
		"another status":           {[]int{400}, "", 0, nil, ""},
		"a class":                  {[]int{400, 404, 200}, "retry: {on: 4xx}", 2, nil, ""},
		"on has others":            {[]int{503}, "retry: {on: 429}", 0, nil, ""},
		"notOn":                    {[]int{503}, "retry: {notOn: 5xx}", 0, nil, ""},
		"fault in a branch":        {[]int{503, 418, 200}, "expectedStatusCodes: {200: {writeLine: good}}\n    unmatchedStatusCode: {fault: no}", 2, []string{"good"}, ""},
		"no connection in the end": {[]int{0}, "failedToConnect: {writeLine: gone}", 2, []string{"gone"}, ""},
		"gives up":                 {[]int{503}, "onGiveUp: {writeLine: gave up}", 2, []string{"gave up"}, ""},
		"its own retries go first": {[]int{503, 503, 503, 503, 200}, "retries: 1\n    retryDelay: 1ms", 2, nil, ""},
	} {
		url, calls := answers(t, c.statuses...)
		src := "id: d\nroot:\n  - sendHttpRequest: " + url + "\n    " + c.keys
		if !strings.Contains(c.keys, "retry:") {
			src += "\n    retry: 3"
		}
		def, problems := yaml.Read([]byte(src), "", activities.Default())
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		b := start(t, def, withHTTP(true))
		for range c.pauses {
			if len(b.header.Bookmarks) == 0 {
				t.Fatalf("%s: too few pauses: %+v", name, b.header)
			}
			b.pass(1)
		}
		if c.incident != "" {
			b.wantStatus(workflow.Faulted)
			if m := b.header.Incidents[0].Message; m != url+" "+c.incident {
				t.Errorf("%s: %s", name, m)
			}
		} else {
			b.wantStatus(workflow.Finished)
		}
		if !slices.Equal(b.lines, c.lines) {
			t.Errorf("%s: lines %q", name, b.lines)
		}
		if len(slices.Compact(*calls)) != 1 {
			t.Errorf("%s: keys %v", name, *calls)
		}
	}
}

// In a flowchart the retry stands for its activity: with its outcomes, and its connections.
func TestARetryInAFlowchart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []int
		want     []string
	}{
		"mended": {[]int{503, 200}, []string{"ok"}}, "unmatched": {[]int{503}, []string{"odd"}}, "no connection": {[]int{0}, []string{"gone"}},
	} {
		url, _ := answers(t, c.statuses...)
		def, problems := yaml.Read([]byte(`
id: d
root:
  flowchart:
    activities:
      call: {flowSendHttpRequest: "`+url+`", retry: {attempts: 2}}
      ok: {writeLine: ok}
      odd: {writeLine: odd}
      gone: {writeLine: gone}
    connections: [call.200 -> ok, call.Unmatched status code -> odd, call.Failed to connect -> gone]
`), "", activities.Default())
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		b := start(t, def, withHTTP(true)).pass(1).wantStatus(workflow.Finished)
		if !slices.Equal(b.lines, c.want) {
			t.Errorf("%s: %q, want %q", name, b.lines, c.want)
		}
	}
}

// A timeout is that of one attempt.
func TestATimeoutWithinARetry(t *testing.T) {
	t.Parallel()
	def, problems := yaml.Read([]byte("id: d\nroot:\n  - event: a\n    timeout: 1h\n    onTimeout: {fault: late}\n    retry: {attempts: 2, delay: 5m}\n    onGiveUp: {writeLine: nobody came}"), "", activities.Default())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	b := start(t, def).pass(3).wantStatus(workflow.Finished).wantLines("nobody came")
	if got := b.now.Sub(t0); got != 2*time.Hour+5*time.Minute {
		t.Errorf("it took %s", got)
	}
	b = start(t, def).pass(2)
	b.resume("a", nil)
	b.wantStatus(workflow.Finished).wantLines()
}

func TestPausesAreWithinTheirBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		attempts := rapid.Int64Range(1, 12).Draw(rt, "attempts")
		delay := time.Duration(rapid.Int64Range(1, int64(48*time.Hour)).Draw(rt, "delay"))
		longest := time.Duration(rapid.Int64Range(1, int64(400*24*time.Hour)).Draw(rt, "longest"))
		factor := rapid.Float64Range(1, 1e300).Draw(rt, "factor")
		f := &failing{left: 99}
		b := start(t, root(retried(f.activity("call"), inputs{"attempts": lit(attempts), "delay": lit(delay.String()), "maxDelay": lit(longest.String()), "factor": lit(factor)})))
		b.pass(int(attempts) - 1).wantStatus(workflow.Faulted)
		if int64(len(f.keys)) != attempts || !f.oneKey() {
			rt.Fatalf("%d calls, keys %v", len(f.keys), f.keys)
		}
		before := time.Duration(0)
		for i, p := range f.pauses() {
			if p > longest || p < min(delay, longest) || p < before {
				rt.Fatalf("pause %d is %s after %s", i, p, before)
			}
			before = p
		}
	})
}

// Beyond 2^53 nanoseconds a float has not every one of them, and the longest pause is still the longest.
func TestALongPauseEndsAtTheNanosecond(t *testing.T) {
	t.Parallel()
	const longest = time.Duration(1<<53 + 3)
	f := &failing{left: 99}
	b := start(t, root(retried(f.activity("call"), inputs{"attempts": lit(int64(3)), "delay": lit("1ns"), "maxDelay": lit(longest.String()), "factor": lit(float64(1<<53 + 4))})))
	b.pass(2).wantStatus(workflow.Faulted)
	if got := f.pauses(); len(got) != 2 || got[1] != longest {
		t.Errorf("pauses %v, want %v", got, longest)
	}
}

var errPlain = errors.New("plain")

// A fault that another handler may still claim carries what was given up below.
func TestWhoGivesUpDoesNotHideTheFault(t *testing.T) {
	t.Parallel()
	f := &failing{left: 99, err: errPlain}
	b := start(t, root(retried(named("s", seq(retried(f.activity("call"), inputs{"attempts": lit(1)}))), inputs{"on": lit("plain"), "attempts": lit(2)}))).pass(1)
	b.wantStatus(workflow.Faulted)
	if len(f.keys) != 2 {
		t.Errorf("%d calls", len(f.keys))
	}
}
