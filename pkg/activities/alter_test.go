package activities_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// alter makes alterations; versions are those that can be migrated to.
func (b *bench) alter(versions map[int]*engine.Program, alts ...workflow.Alteration) (engine.Outcome, workflow.Problems) {
	b.t.Helper()
	b.env.Version = func(v int) (*engine.Program, error) {
		if p := versions[v]; p != nil {
			return p, nil
		}
		return nil, workflow.Fail(workflow.CodeDefinitionNotFound, "none")
	}
	alter := &workflow.Alter{Alterations: alts, By: "key:ops", Reason: "test"}
	before := b.state
	preview, err := engine.PreviewOf(context.Background(), b.load(), alter)
	if err != nil {
		b.t.Fatal(err)
	}
	burst := b.load()
	out, err := burst.Run(context.Background(), workflow.Command{ID: b.id("alter"), Kind: workflow.CommandAlter, Alter: alter})
	for err == nil && out == engine.CommitFirst {
		b.keep(burst)
		burst = b.load()
		out, err = burst.Run(context.Background(), workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if preview.Outcome != out {
		b.t.Errorf("the preview says %s %v, and it is %s %v", preview.Outcome, preview.Problems, out, burst.Refusal())
	}
	b.keep(burst)
	if p := versions[b.header.Version]; p != nil {
		b.prog = p
	}
	b.load()
	if out != engine.Applied && string(b.state) != string(before) {
		b.t.Errorf("it was refused, and changed\n%s\nto\n%s", before, b.state)
	}
	if out == engine.Applied && len(preview.Did) != len(alts) && alts[0].Type != workflow.AlterRetry {
		b.t.Errorf("%d alterations, and the preview says %q", len(alts), preview.Did)
	}
	return out, burst.Refusal()
}

func (b *bench) altered(alts ...workflow.Alteration) *bench {
	b.t.Helper()
	if out, problems := b.alter(nil, alts...); out != engine.Applied {
		b.t.Fatalf("outcome %s: %v", out, problems)
	}
	return b
}

// refused holds that alterations are refused for one reason, at a place.
func (b *bench) refused(pointer, code, text string, alts ...workflow.Alteration) {
	b.t.Helper()
	out, problems := b.alter(nil, alts...)
	if out != engine.Refused || len(problems) == 0 {
		b.t.Fatalf("outcome %s: %v", out, problems)
	}
	wantRefusal(b.t, problems, pointer, code, text)
}

func wantRefusal(t *testing.T, problems workflow.Problems, pointer, code, text string) {
	t.Helper()
	for _, p := range problems {
		if p.Place.Pointer == pointer && p.Code == code && strings.Contains(p.Detail, text) {
			return
		}
	}
	t.Errorf("no problem %s at %s with %q in %v", code, pointer, text, problems)
}

func retryOf(activity string) workflow.Alteration {
	return workflow.Alteration{Type: workflow.AlterRetry, Activity: activity}
}

func skipOf(activity string, outcomes ...string) workflow.Alteration {
	return workflow.Alteration{Type: workflow.AlterSkip, Activity: activity, Outcomes: outcomes}
}

func setOf(name string, v any) workflow.Alteration {
	return workflow.Alteration{Type: workflow.AlterSetVariable, Variable: name, Value: v}
}

func migrateTo(version int, renamed ...string) workflow.Alteration {
	alt := workflow.Alteration{Type: workflow.AlterMigrate, Version: version}
	for i := 0; i+1 < len(renamed); i += 2 {
		if alt.Activities == nil {
			alt.Activities = map[string]string{}
		}
		alt.Activities[renamed[i]] = renamed[i+1]
	}
	return alt
}

func programFor(t *testing.T, def *workflow.Definition, version int) *engine.Program {
	t.Helper()
	def.ID, def.Version = "def", version
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return prog
}

// answers is a transport that answers with status, and keeps the idempotency keys.
type transport struct {
	status int
	err    error
	keys   []string
	bodies []string
}

func (a *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	a.keys = append(a.keys, r.Header.Get("Idempotency-Key"))
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		a.bodies = append(a.bodies, string(raw))
	}
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{StatusCode: a.status, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
}

func withAnswers(a *transport) option {
	return withEnv(func(e *engine.Env) { e.HTTP = &http.Client{Transport: a} })
}

func faultOf(text string) *workflow.Activity {
	return named("gaveUp", act("Fault", inputs{"message": lit(text)}))
}

// The case that the first users met: the retry of a fault in the branch of a call makes
// the call again, and with the key of before unless another one is asked for.
func TestARetryAfterAFaultMakesTheCallAgain(t *testing.T) {
	t.Parallel()
	call := func() *workflow.Activity {
		return named("charge", act("SendHttpRequest", inputs{"url": lit("http://pay/charge")}))
	}
	flowCall := named("charge", act("FlowSendHttpRequest", inputs{"url": lit("http://pay/charge")}))
	body204 := func(a *workflow.Activity) *workflow.Activity {
		a.Cases = append(a.Cases, workflow.Case{Label: "204", Activity: line("paid")})
		return a
	}
	for name, def := range map[string]*workflow.Definition{
		"a branch":                  root(seq(body204(port(call(), "unmatchedStatusCode", faultOf("no"))))),
		"steps in a branch":         root(seq(body204(port(call(), "unmatchedStatusCode", seq(line("oh"), port(act("If", inputs{"condition": lit(true)}), "then", faultOf("no"))))))),
		"a flowchart":               root(flow("charge.Unmatched status code -> gaveUp, charge.204 -> paid", flowCall, faultOf("no"), say("paid"))),
		"a step in a flowchart":     root(flow("charge.Unmatched status code -> oh, oh -> gaveUp, charge.204 -> paid", named("charge", act("FlowSendHttpRequest", inputs{"url": lit("http://pay/charge")})), say("oh"), faultOf("no"), say("paid"))),
		"a definition is around it": root(seq(act("ForEach", inputs{"items": lit([]any{1})}, nil))),
	} {
		if name == "a definition is around it" {
			def = root(body(act("ForEach", inputs{"items": lit([]any{1})}), seq(body204(port(call(), "unmatchedStatusCode", faultOf("no"))))))
		}
		if c := def.Root; c.Type == "Elsa.Flowchart" {
			c.Activities[0].Inputs["expectedStatusCodes"] = lit([]any{204})
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &transport{status: 503}
			b := start(t, def, withAnswers(a)).wantStatus(workflow.Faulted)
			b.command(workflow.CommandRetry)
			b.wantStatus(workflow.Faulted)
			b.altered(retryOf("")).wantStatus(workflow.Faulted)
			b.altered(workflow.Alteration{Type: workflow.AlterRetry, NewKey: true}).wantStatus(workflow.Faulted)
			a.status = 204
			b.altered(retryOf("")).wantStatus(workflow.Finished)
			if last := b.lines[len(b.lines)-1]; last != "paid" {
				t.Errorf("lines %q", b.lines)
			}
			if k := a.keys; len(k) != 5 || k[0] != k[1] || k[1] != k[2] || k[2] == k[3] || k[3] != k[4] {
				t.Errorf("keys %q", k)
			}
		})
	}
}

// What a policy gave up is tried again from its first attempt, though its branch faulted.
func TestARetryAfterAPolicyGaveUpMakesTheCallAgain(t *testing.T) {
	t.Parallel()
	f := &failing{left: 2}
	b := start(t, root(seq(port(retried(f.activity("call"), inputs{"attempts": lit(2), "delay": lit("10s")}), "onGiveUp", seq(faultOf("not charged"))))))
	b.pass(1).wantStatus(workflow.Faulted)
	b.altered(retryOf("")).wantStatus(workflow.Finished)
	if len(f.keys) != 3 || !f.oneKey() {
		t.Errorf("%d calls with the keys %q", len(f.keys), f.keys)
	}
}

// A branch that has not begun when its sibling faulted runs once, whoever asks for it.
func TestARetryOfWhatHasNotBegunIsRefused(t *testing.T) {
	t.Parallel()
	f := &failing{left: 1}
	b := start(t, root(act("Parallel", nil, f.activity("a"), say("b")))).wantStatus(workflow.Faulted)
	b.refused("/alterations/0/activity", "about-to-run", "would run twice", retryOf("b"))
	b.refused("/alterations/1/activity", "about-to-run", "would run twice", retryOf("a"), retryOf("a"))
	b.altered(retryOf("a")).wantStatus(workflow.Finished)
	if len(f.keys) != 2 || !slices.Equal(b.lines, []string{"b"}) {
		t.Errorf("%d calls, lines %q", len(f.keys), b.lines)
	}
}

// A condition that an author wrote is no failure of the call before it: the fault is
// repeated, and where else to begin is said by who asks.
func TestARetryAfterAConditionRepeatsTheFault(t *testing.T) {
	t.Parallel()
	a := &transport{status: 200}
	def := root(seq(named("ship", act("SendHttpRequest", inputs{"url": lit("http://x/")})), port(named("ok", act("If", inputs{"condition": varExpr("bad")})), "then", faultOf("no")), line("over")))
	def.Variables = []workflow.Variable{{Name: "bad", Type: "Boolean", Value: true}}
	b := start(t, def, withAnswers(a)).wantStatus(workflow.Faulted)
	b.altered(retryOf("")).wantStatus(workflow.Faulted)
	if len(a.keys) != 1 {
		t.Fatalf("it was shipped again: %q", a.keys)
	}
	b.altered(setOf("bad", false)).wantStatus(workflow.Faulted)
	b.altered(retryOf("ok")).wantStatus(workflow.Finished).wantLines("over")
	if len(a.keys) != 1 {
		t.Errorf("it was shipped again: %q", a.keys)
	}
}

func TestARetryOfAResumedCallKeepsItsKey(t *testing.T) {
	t.Parallel()
	var keys []string
	fails := true
	def := root(seq(named("x", activities.Inline(func(_ context.Context, x *engine.Execution) error {
		keys = append(keys, x.IdempotencyKey())
		if fails {
			return errors.New("not now")
		}
		return nil
	}))))
	b := start(t, def).wantStatus(workflow.Faulted)
	b.altered(retryOf("")).altered(retryOf("x")).altered(workflow.Alteration{Type: workflow.AlterRetry, Activity: "x", NewKey: true})
	fails = false
	b.altered(retryOf("")).wantStatus(workflow.Finished)
	if len(keys) != 5 || keys[0] != keys[1] || keys[1] != keys[2] || keys[2] == keys[3] || keys[3] != keys[4] {
		t.Errorf("keys %q", keys)
	}
}

func TestRetryFromAnActivity(t *testing.T) {
	t.Parallel()
	t.Run("before, in a sequence", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(seq(say("a"), say("b"), pause("w"), say("c")))).wantStatus(workflow.Suspended)
		b.altered(retryOf("b")).wantStatus(workflow.Suspended).wantLines("a", "b", "b")
		if len(b.last.Burned) != 1 || len(b.header.Bookmarks) != 1 {
			t.Errorf("burned %v, waits at %v", b.last.Burned, b.bookmarks())
		}
		b.resume("w", nil)
		b.wantStatus(workflow.Finished).wantLines("a", "b", "b", "c")
	})
	t.Run("what waits", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(seq(pause("w"), say("c"))))
		was := b.header.Bookmarks[0].ID
		b.altered(retryOf("w")).wantStatus(workflow.Suspended)
		if b.header.Bookmarks[0].ID == was {
			t.Error("the bookmark is the same")
		}
	})
	t.Run("another branch", func(t *testing.T) {
		t.Parallel()
		d := named("if", act("If", inputs{"condition": lit(true)}))
		b := start(t, root(seq(port(port(d, "then", pause("yes")), "else", say("no")), say("over"))))
		b.altered(retryOf("no")).wantStatus(workflow.Finished).wantLines("no", "over")
	})
	t.Run("a branch beside others", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(act("Parallel", nil, say("a"), pause("w"))))
		b.altered(retryOf("a")).wantStatus(workflow.Suspended).wantLines("a", "a")
		b.resume("w", nil)
		b.wantStatus(workflow.Finished)
	})
	t.Run("in a loop", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(body(named("each", act("ForEach", inputs{"items": lit([]any{"x", "y"})})), seq(named("one", lineOf(varExpr("CurrentValue"))), pause("w")))))
		b.resume("w", nil)
		b.altered(retryOf("one")).wantStatus(workflow.Suspended).wantLines("x", "y", "y")
		b.altered(retryOf("each")).wantStatus(workflow.Suspended).wantLines("x", "y", "y", "x")
		b.untilEnd()
		b.wantStatus(workflow.Finished).wantLines("x", "y", "y", "x", "y")
	})
	t.Run("of a state machine", func(t *testing.T) {
		t.Parallel()
		def := machine()
		def.Root.Activities[0].States[1].Entry.ID = "enter"
		def.Variables[0].Value = "True"
		b := start(t, def)
		b.resume("paid", nil)
		b.altered(retryOf("enter")).wantStatus(workflow.Suspended)
		if got := b.bookmarks(); !slices.Equal(got, []string{"paid", "stop"}) {
			t.Fatalf("bookmarks %v", got)
		}
		b.resume("stop", nil)
		b.wantStatus(workflow.Finished)
		if b.header.Output["state"] != "Done" {
			t.Errorf("output %v", b.header.Output)
		}
	})
	t.Run("beside what else is faulted", func(t *testing.T) {
		t.Parallel()
		broken, keys := true, []string{}
		b := start(t, root(act("Parallel", nil, pause("w"), seq(say("a"), named("bad", flaky(&broken, &keys))))))
		b.altered(retryOf("w")).wantStatus(workflow.Faulted)
		broken = false
		b.altered(retryOf("")).wantStatus(workflow.Suspended)
		b.resume("w", nil)
		b.wantStatus(workflow.Finished)
	})
}

// In a flowchart, all counts are as if the activity had not run: each join runs once.
func TestRetryFromAnActivityOfAFlowchart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		connections string
		kids        []*workflow.Activity
		resume      []string
		from        string
		then        []string
		lines       string
		tokens      bool // the token engine does the same
	}{
		"a line":                     {"a -> b, b -> w, w -> c", []*workflow.Activity{say("a"), say("b"), pause("w"), say("c")}, nil, "b", []string{"w"}, "a b b c", true},
		"the start":                  {"a -> b, b -> w, w -> c", []*workflow.Activity{say("a"), say("b"), pause("w"), say("c")}, nil, "a", []string{"w"}, "a b a b c", true},
		"before join":                {"a -> b, a -> c, b -> j, c -> j, j -> w, w -> d", []*workflow.Activity{say("a"), say("b"), say("c"), say("j"), pause("w"), say("d")}, nil, "b", []string{"w"}, "a b c j b j d", false},
		"one of two that are joined": {"a -> b, a -> w, b -> j, w -> j, j -> d", []*workflow.Activity{say("a"), say("b"), pause("w"), say("j"), say("d")}, nil, "b", []string{"w"}, "a b b j d", true},
		"any joins":                  {"a -> b, a -> c, b -> j, c -> j, j -> w, w -> d", []*workflow.Activity{say("a"), say("b"), say("c"), join("j", "WaitAny"), pause("w"), say("d")}, nil, "b", []string{"w"}, "a b b d", false},
		"in a loop":                  {"a -> w, w -> d, d.False -> a, d.True -> e", []*workflow.Activity{say("a"), pause("w"), decide("d", reached(3)), say("e")}, []string{"w"}, "a", []string{"w", "w"}, "a a a a e", true},
	} {
		for _, mode := range []string{"CounterBased", "TokenBased"} {
			if mode == "TokenBased" && !c.tokens {
				continue
			}
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				kids := make([]*workflow.Activity, len(c.kids))
				for i, k := range c.kids {
					kid := *k
					kids[i] = &kid
				}
				def := root(flow(c.connections, kids...))
				def.Variables = []workflow.Variable{{Name: "n", Type: "Int64", Value: 0}}
				b := start(t, def, withProperty("Flowchart:ExecutionMode", mode))
				for _, name := range c.resume {
					b.resume(name, nil)
				}
				b.altered(retryOf(c.from))
				for _, name := range c.then {
					b.resume(name, nil)
				}
				b.wantStatus(workflow.Finished)
				if got := strings.Join(b.lines, " "); got != c.lines {
					t.Errorf("lines %q, want %q", got, c.lines)
				}
			})
		}
	}
}

// What an activity was not told yet of those that ran before is taken back too: what comes after a
// skipped activity does not run beside the one that runs again.
func TestARetryOfAnEarlierActivityTakesBackASkip(t *testing.T) {
	t.Parallel()
	t.Run("in a sequence", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(seq(pause("a"), pause("b"), say("c"))))
		b.resume("a", nil)
		b.altered(skipOf("b"), retryOf("a")).wantStatus(workflow.Suspended).wantLines()
		if got := b.bookmarks(); !slices.Equal(got, []string{"a"}) {
			t.Fatalf("bookmarks %v", got)
		}
		b.resume("a", nil)
		b.resume("b", nil)
		b.wantStatus(workflow.Finished).wantLines("c")
	})
	t.Run("in a sequence that has faulted", func(t *testing.T) {
		t.Parallel()
		broken, keys := true, []string{}
		b := start(t, root(act("Parallel", nil, seq(pause("a"), pause("b"), say("c")), seq(pause("w"), named("bad", flaky(&broken, &keys))))))
		b.resume("a", nil)
		b.resume("w", nil)
		b.wantStatus(workflow.Faulted)
		b.altered(skipOf("b"), retryOf("a")).wantStatus(workflow.Faulted)
		broken = false
		b.altered(retryOf("")).wantStatus(workflow.Suspended).wantLines()
		if got := b.bookmarks(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("bookmarks %v", got)
		}
	})
	t.Run("in a branch", func(t *testing.T) {
		t.Parallel()
		d := named("if", act("If", inputs{"condition": lit(true)}))
		b := start(t, root(seq(port(port(d, "then", pause("yes")), "else", pause("no")), say("over"))))
		b.altered(skipOf("yes"), retryOf("no")).wantStatus(workflow.Suspended).wantLines()
		b.resume("no", nil)
		b.wantStatus(workflow.Finished).wantLines("over")
	})
	for _, mode := range []string{"CounterBased", "TokenBased"} {
		t.Run("in a flowchart "+mode, func(t *testing.T) {
			t.Parallel()
			// c is not after a: what ended there still counts.
			b := start(t, root(flow("s -> a, s -> c, a -> b, b -> d, c -> e", say("s"), pause("a"), pause("b"), pause("c"), say("d"), say("e"))), withProperty("Flowchart:ExecutionMode", mode))
			b.resume("a", nil)
			b.refused("/alterations/1/activity", "cannot-rewind", "it has just ended", skipOf("b"), retryOf("b"))
			b.refused("/alterations/1/activity", "cannot-rewind", "runs or has just ended", skipOf("b"), retryOf("d"))
			b.altered(skipOf("b"), skipOf("c"), retryOf("a")).wantStatus(workflow.Suspended).wantLines("s", "e")
			if got := b.bookmarks(); !slices.Equal(got, []string{"a"}) {
				t.Fatalf("bookmarks %v", got)
			}
			b.resume("a", nil)
			b.resume("b", nil)
			b.wantStatus(workflow.Finished).wantLines("s", "e", "d")
		})
	}
	t.Run("of a state machine", func(t *testing.T) {
		t.Parallel()
		def := machine()
		def.Root.Activities[0].States[1].Entry.ID = "enter"
		def.Variables[0].Value = "True"
		b := start(t, def)
		paid, stop := skipOf(b.header.Bookmarks[0].ActivityID), skipOf(b.header.Bookmarks[1].ActivityID)
		b.altered(stop, retryOf("enter")).wantStatus(workflow.Suspended).wantLines("enter new", "enter new")
		if got := b.bookmarks(); !slices.Equal(got, []string{"paid", "stop"}) {
			t.Errorf("bookmarks %v", got)
		}
		b.altered(paid, stop).wantLines("enter new", "enter new", "thanks", "exit new") // it leaves its state once
	})
}

// What a flowchart failed at when it was told of one branch is not lost when another branch goes back.
func TestARetryOfAnActivityKeepsWhatItsParentFailedAt(t *testing.T) {
	t.Parallel()
	bad := true
	mode := expr(func(engine.Scope) (any, error) {
		if bad {
			return nil, errors.New("not now")
		}
		return "WaitAll", nil
	})
	b := start(t, root(flow("s -> a, s -> b, a -> w, b -> j", say("s"), say("a"), pause("b"), pause("w"), named("j", act("FlowJoin", inputs{"mode": mode})))))
	b.resume("b", nil)
	b.wantStatus(workflow.Faulted)
	bad = false
	b.altered(retryOf("a")).wantStatus(workflow.Suspended).wantLines("s", "a", "a")
	b.resume("w", nil)
	b.wantStatus(workflow.Finished)
	if n := len(b.texts(engine.EventCompleted)); n == 0 || b.outcomes("j") == nil {
		t.Error("the join did not run")
	}
}

// Each time that something runs again, the calls in it have new keys; its own is the same.
func TestTheKeysOfWhatIsInWhatRunsAgain(t *testing.T) {
	t.Parallel()
	again := func(b *bench, id string) {
		for range 3 {
			b.altered(retryOf(id)).wantStatus(workflow.Suspended)
		}
	}
	distinct := func(keys []string) int {
		keys = slices.Sorted(slices.Values(keys))
		return len(slices.Compact(keys))
	}
	t.Run("of a sequence", func(t *testing.T) {
		t.Parallel()
		f := &failing{}
		again(start(t, root(seq(named("all", seq(f.activity("call"), pause("w")))))), "all")
		if len(f.keys) != 4 || distinct(f.keys) != 4 {
			t.Errorf("keys %q", f.keys)
		}
	})
	t.Run("of a call with branches", func(t *testing.T) {
		t.Parallel()
		f, a := &failing{}, &transport{status: 503}
		call := named("charge", act("SendHttpRequest", inputs{"url": lit("http://pay/charge")}))
		b := start(t, root(seq(port(call, "unmatchedStatusCode", seq(f.activity("inner"), pause("w"))))), withAnswers(a))
		again(b, "charge")
		if len(f.keys) != 4 || distinct(f.keys) != 4 || len(a.keys) != 4 || distinct(a.keys) != 1 {
			t.Errorf("keys %q, its own %q", f.keys, a.keys)
		}
	})
	t.Run("that a policy tries again", func(t *testing.T) {
		t.Parallel()
		// The attempts that follow make the calls that the operator's made.
		f, last := &failing{}, &failing{left: 1}
		b := start(t, root(retried(named("both", seq(f.activity("call"), pause("w"), last.activity("last"))), inputs{})))
		b.altered(retryOf("both")).altered(retryOf("both"))
		b.resume("w", nil)
		b.pass(1)
		if k := f.keys; len(k) != 4 || distinct(k[:3]) != 3 || k[2] != k[3] {
			t.Errorf("keys %q", k)
		}
		b.resume("w", nil)
		b.wantStatus(workflow.Finished)
		if !last.oneKey() {
			t.Errorf("keys %q", last.keys)
		}
	})
	t.Run("with a timeout", func(t *testing.T) {
		t.Parallel()
		// That it was late is told by a fault, and the retry makes the call again that was late.
		f := &failing{}
		late := named("call.onTimeout", seq(named("d", act("Delay", inputs{"timeSpan": lit("1h")})), faultOf("late")))
		both := named("call.timeout", act("Fork", inputs{"joinMode": lit("WaitAny")}, named("call", activities.Inline(func(_ context.Context, x *engine.Execution) error {
			f.keys = append(f.keys, x.IdempotencyKey())
			_, err := x.Wait(engine.Wait{Name: "never"})
			return err
		})), late))
		b := start(t, root(seq(both))).pass(1).wantStatus(workflow.Faulted)
		b.altered(retryOf("")).wantStatus(workflow.Suspended)
		if len(f.keys) != 2 || !f.oneKey() {
			t.Errorf("keys %q", f.keys)
		}
	})
}

// A cancel of an activity takes its retry and its timeout with it, so that nothing comes after it.
func TestACancelOfAnActivityThatHasARetryOrATimeout(t *testing.T) {
	t.Parallel()
	cancel := workflow.Alteration{Type: workflow.AlterCancel, Activity: "call"}
	for name, src := range map[string]string{
		"retry":   "retry: 3",
		"timeout": "timeout: 1h",
		"both":    "timeout: 1h\n        retry: 3\n        onGiveUp: {writeLine: gave up}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(src string) *workflow.Definition {
				def, problems := yaml.Read([]byte(src), "", activities.Default())
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				return def
			}
			b := start(t, read("id: d\nroot:\n  - parallel:\n    - - id: call\n        event: a\n        "+src+"\n      - writeLine: never\n    - - event: b\n      - writeLine: other\n  - writeLine: over\n"))
			b.altered(cancel).wantStatus(workflow.Suspended).wantLines()
			if got := b.bookmarks(); !slices.Equal(got, []string{"b"}) {
				t.Fatalf("bookmarks %v", got)
			}
			b.resume("b", nil)
			b.wantStatus(workflow.Finished).wantLines("other", "over")
			whole := strings.ReplaceAll("id: d\nroot:\n  id: call\n        event: a\n        "+src+"\n", "\n        ", "\n  ")
			start(t, read(whole)).refused("/alterations/0/activity", "is-all", "all of the workflow", cancel)
		})
	}
}

func TestSkipAndCancel(t *testing.T) {
	t.Parallel()
	t.Run("what failed", func(t *testing.T) {
		t.Parallel()
		broken, keys := true, []string{}
		b := start(t, root(seq(named("bad", flaky(&broken, &keys)), say("c")))).wantStatus(workflow.Faulted)
		b.altered(skipOf("bad")).wantStatus(workflow.Finished).wantLines("c")
	})
	t.Run("what waits, with an outcome", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(flow("d.True -> a, d.False -> b, w -> d", pause("w"), decide("d", lit(true)), say("a"), say("b"))))
		b.refused("/alterations/0/outcomes", "unknown-outcome", "choose of Done", skipOf("w", "Nope"))
		b.altered(skipOf("w")).wantStatus(workflow.Finished).wantLines("a")
		broken, keys := true, []string{}
		f := flow("d.x -> a, d.y -> b", named("d", flaky(&broken, &keys)), say("a"), say("b"))
		start(t, root(f)).altered(skipOf("d", "y")).wantStatus(workflow.Finished).wantLines("b")
	})
	t.Run("the only outcomes of a decision", func(t *testing.T) {
		t.Parallel()
		fails := expr(func(engine.Scope) (any, error) { return nil, errors.New("cannot say") })
		b := start(t, root(flow("d.True -> a, d.False -> b", decide("d", fails), say("a"), say("b")))).wantStatus(workflow.Faulted)
		b.refused("/alterations/0/outcomes", "unknown-outcome", "choose of True, False", skipOf("d"))
		b.altered(skipOf("d", "False")).wantStatus(workflow.Finished).wantLines("b")
	})
	t.Run("a round of a loop", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(body(act("ForEach", inputs{"items": lit([]any{"x", "y"})}), named("s", seq(lineOf(varExpr("CurrentValue")), pause("w"))))))
		b.altered(skipOf("s")).wantStatus(workflow.Suspended).wantLines("x", "y")
		b.altered(skipOf("w")).wantStatus(workflow.Finished)
	})
	t.Run("several executions", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(body(act("ParallelForEach", inputs{"items": lit([]any{"x", "y"})}), pause("w"))))
		b.refused("/alterations/0/execution", "several-executions", "choose one of its executions", skipOf("w"))
		number := b.journal[len(b.journal)-1].Execution
		one := skipOf("w")
		one.Execution = number
		b.altered(one).wantStatus(workflow.Suspended)
		if len(b.header.Bookmarks) != 1 {
			t.Errorf("bookmarks %v", b.bookmarks())
		}
		b.altered(skipOf("w")).wantStatus(workflow.Finished)
	})
	t.Run("cancel a branch", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(seq(act("Parallel", nil, seq(pause("w"), say("never")), seq(pause("v"), say("b"))), say("over"))))
		b.altered(workflow.Alteration{Type: workflow.AlterCancel, Activity: "w"}).wantStatus(workflow.Suspended)
		if got := b.bookmarks(); !slices.Equal(got, []string{"v"}) {
			t.Fatalf("bookmarks %v", got)
		}
		b.resume("v", nil)
		b.wantStatus(workflow.Finished).wantLines("b", "over")
	})
	t.Run("cancel the last branch", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(seq(seq(pause("w"), say("never")), say("over"))))
		b.altered(workflow.Alteration{Type: workflow.AlterCancel, Activity: "w"}).wantStatus(workflow.Finished).wantLines("over")
	})
	t.Run("cancel the instance", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(named("all", seq(pause("w"), say("never")))))
		b.refused("/alterations/0/activity", "is-all", "cancel the instance", workflow.Alteration{Type: workflow.AlterCancel, Activity: "all"})
		b.refused("/alterations/1/type", "after-cancel", "put the cancel last", workflow.Alteration{Type: workflow.AlterCancel}, skipOf("w"))
		b.altered(workflow.Alteration{Type: workflow.AlterCancel}).wantStatus(workflow.Cancelled)
		if out, _ := b.alter(nil, retryOf("")); out != engine.NotRunning {
			t.Errorf("outcome %s", out)
		}
	})
	t.Run("a child goes with it", func(t *testing.T) {
		t.Parallel()
		b := start(t, root(seq(named("kid", act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")})), say("over")))).wantStatus(workflow.Suspended)
		b.altered(skipOf("kid")).wantStatus(workflow.Finished).wantLines("over")
		if len(b.canceled) != 1 || b.canceled[0] != b.children[0].InstanceID {
			t.Errorf("cancelled %v of %v", b.canceled, b.children)
		}
	})
}

func TestSetVariable(t *testing.T) {
	t.Parallel()
	inner := act("Container", nil, pause("w"), lineOf(varExpr("n")))
	inner.ID, inner.Variables = "in", []workflow.Variable{{Name: "n", Type: "Int64", Value: 5}}
	def := root(seq(inner, lineOf(varExpr("n"))))
	def.Variables = []workflow.Variable{{Name: "n", Type: "Int64", Value: 1}, {Name: "gone", Value: 1}}
	b := start(t, def).wantStatus(workflow.Suspended)
	b.refused("/alterations/0/variable", "unknown-variable", "did you mean", setOf("m", 1))
	b.refused("/alterations/0/variable", "several-variables", "the workflow", setOf("n", 1))
	one := setOf("n", "x")
	one.Activity = "in"
	b.refused("/alterations/0/value", "bad-value", "variable n", one)
	one.Value = 7
	b.altered(one)
	if v := b.last.Variables.Set; len(v) != 1 || v[0].Name != "n" || v[0].Value != int64(7) {
		t.Errorf("the journal says %+v", v)
	}
	b.resume("w", nil)
	b.wantStatus(workflow.Finished).wantLines("7", "1")
	if it := b.journal[slices.IndexFunc(b.journal, func(i workflow.JournalItem) bool { return i.Event == engine.EventAltered })]; it.Data.(map[string]any)["by"] != "key:ops" || it.Data.(map[string]any)["reason"] != "test" {
		t.Errorf("the journal says %+v", it)
	}
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	b := start(t, root(seq(named("d", act("Delay", inputs{"timeSpan": lit("1h")})), say("over")))).wantStatus(workflow.Suspended)
	was := b.header.Bookmarks[0]
	due := t0.Add(3 * time.Hour)
	at := workflow.Alteration{Type: workflow.AlterReschedule, DueAt: &due}
	b.altered(at).wantStatus(workflow.Suspended)
	is := b.header.Bookmarks[0]
	if !is.DueAt.Equal(due) || is.ID == was.ID || is.Hash == was.Hash {
		t.Errorf("bookmark %+v", is)
	}
	if len(b.last.Burned) != 1 || b.last.Burned[0].ID != was.ID || !b.last.Burned[0].DueAt.Equal(*was.DueAt) || len(b.last.Created) != 1 || b.last.Created[0].ID != is.ID {
		t.Errorf("burned %+v, created %+v", b.last.Burned, b.last.Created)
	}
	if out := b.run(workflow.Command{ID: "late", Kind: workflow.CommandResume, Bookmark: was.ID, Timer: true}); out != engine.NoBookmark {
		t.Errorf("the timer of before: %s", out)
	}
	b.resume("d", nil)
	b.wantStatus(workflow.Finished)
	b = start(t, root(act("Parallel", nil, named("d", act("Delay", inputs{"timeSpan": lit("1h")})), named("e", act("Delay", inputs{"timeSpan": lit("2h")})))))
	b.refused("/alterations/0/activity", "which-timer", "2 timers fit", at)
	at.Activity = "e"
	b.altered(at)
	start(t, root(pause("w"))).refused("/alterations/0/activity", "no-timer", "no timer", workflow.Alteration{Type: workflow.AlterReschedule, DueAt: &due})
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	type world struct {
		from, to *workflow.Definition
		renamed  []string
		resume   []string
		then     []string
		lines    string
	}
	loopOf := func(kids ...*workflow.Activity) *workflow.Definition {
		return root(body(named("each", act("ForEach", inputs{"items": lit([]any{"x", "y"})})), named("in", seq(kids...))))
	}
	machineWith := func(extra bool) *workflow.Definition {
		m := named("m", act("StateMachine", nil))
		m.Initial = "New"
		m.States = []workflow.State{
			{Name: "New", Transitions: []workflow.Transition{{Name: "pay", To: "Done", Trigger: pause("p"), Action: line("paid")}, {Name: "stop", To: "Done", Trigger: pause("s"), Action: line("stopped")}}},
			{Name: "Done", Final: true},
		}
		if extra {
			m.States = append([]workflow.State{{Name: "Before", Transitions: []workflow.Transition{{Name: "x", To: "New"}}}}, m.States...)
			m.States[1].Transitions[0], m.States[1].Transitions[1] = m.States[1].Transitions[1], m.States[1].Transitions[0]
		}
		return root(m)
	}
	for name, c := range map[string]world{
		"steps come after":       {root(named("s", seq(say("a"), pause("w"), say("b")))), root(named("s", seq(say("a"), pause("w"), say("x"), say("b")))), nil, nil, []string{"w"}, "a x b"},
		"steps come before":      {root(named("s", seq(say("a"), pause("w"), say("b")))), root(named("s", seq(say("a"), say("x"), pause("w"), say("b")))), nil, nil, []string{"w"}, "a b"},
		"renamed":                {root(named("s", seq(pause("w"), say("b")))), root(named("t", seq(named("v", wait("w")), say("c")))), []string{"s", "t", "w", "v"}, nil, []string{"w"}, "c"},
		"swapped":                {root(named("s", act("Parallel", nil, named("v", wait("one")), named("w", wait("two"))))), root(named("s", act("Parallel", nil, named("v", wait("two")), named("w", wait("one"))))), []string{"v", "w", "w", "v"}, nil, []string{"one", "two"}, ""},
		"in a loop":              {loopOf(pause("w"), lineOf(varExpr("CurrentValue"))), loopOf(pause("w"), line("-"), lineOf(varExpr("CurrentValue"))), nil, []string{"w"}, []string{"w"}, "x - y"},
		"a flowchart, moved":     {root(named("f", flow("a -> w, w -> b", say("a"), pause("w"), say("b")))), root(named("f", flow("a -> w, w -> x, x -> b", say("x"), say("b"), pause("w"), say("a")))), nil, nil, []string{"w"}, "a x b"},
		"a flowchart's join":     {root(named("f", flow("a -> b, a -> w, b -> j, w -> j", say("a"), say("b"), pause("w"), say("j")))), root(named("f", flow("a -> n, n -> j, a -> b, a -> w, b -> j, w -> j", say("n"), say("j"), say("a"), say("b"), pause("w")))), nil, nil, []string{"w"}, "a b j"},
		"a state machine, moved": {machineWith(false), machineWith(true), nil, nil, []string{"s"}, "stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, c.from)
			for _, name := range c.resume {
				b.resume(name, nil)
			}
			marks := b.header.Bookmarks
			if out, problems := b.alter(map[int]*engine.Program{2: programFor(t, c.to, 2)}, migrateTo(2, c.renamed...)); out != engine.Applied {
				t.Fatalf("outcome %s: %v", out, problems)
			}
			if b.header.Version != 2 || len(b.last.Created)+len(b.last.Burned) > 0 || len(marks) != len(b.header.Bookmarks) {
				t.Errorf("version %d, created %v, burned %v", b.header.Version, b.last.Created, b.last.Burned)
			}
			for _, name := range c.then {
				b.resume(name, nil)
			}
			b.wantStatus(workflow.Finished)
			if got := strings.Join(b.lines, " "); got != c.lines {
				t.Errorf("lines %q, want %q", got, c.lines)
			}
		})
	}
}

// An input that is lost at the end of a burst is not asked for again.
func TestAMigrationAsksForNoInputThatIsNotKept(t *testing.T) {
	t.Parallel()
	def := root(seq(named("p", pause("go")), say("end")))
	def.Inputs = []workflow.Input{{Name: "token", Required: true, StorageDriver: "Elsa.Workflows.MemoryStorageDriver"}, {Name: "who", Required: true}}
	b := start(t, def, withInput(map[string]any{"token": "t", "who": "w"}))
	out, problems := b.alter(map[int]*engine.Program{2: programFor(t, def, 2)}, migrateTo(2))
	if out != engine.Applied {
		t.Errorf("outcome %s: %v", out, problems)
	}
	b.resume("go", nil)
	b.wantLines("end")
}

func TestAMigrationThatDoesNotFitChangesNothing(t *testing.T) {
	t.Parallel()
	def := root(named("s", act("Parallel", nil, pause("v"), pause("w"), named("q", seq(pause("u"))))))
	def.Variables = []workflow.Variable{{Name: "n", Type: "Object", Value: "many"}}
	to := root(named("s", act("Parallel", nil, say("v"), seq(pause("u")))))
	to.Variables = []workflow.Variable{{Name: "n", Type: "Int64", Value: 1}}
	to.Inputs = []workflow.Input{{Name: "needed", Required: true}}
	b := start(t, def)
	versions := map[int]*engine.Program{2: programFor(t, to, 2)}
	out, problems := b.alter(versions, migrateTo(2))
	if out != engine.Refused {
		t.Fatalf("outcome %s", out)
	}
	at := "/alterations/0/activities"
	wantRefusal(t, problems, at, "other-type", "v (execution")
	wantRefusal(t, problems, at, "missing-activity", "w (execution")
	wantRefusal(t, problems, at, "missing-activity", "q (execution")
	wantRefusal(t, problems, at, "bad-value", "variable n")
	wantRefusal(t, problems, at, "missing-input", "needed")
	for _, c := range []struct {
		alt           workflow.Alteration
		pointer, code string
	}{
		{migrateTo(1), "/alterations/0/version", "unknown-version"},
		{migrateTo(3), "/alterations/0/version", "unknown-version"},
		{migrateTo(2, "nope", "v"), at, "unknown-activity"},
		{migrateTo(2, "w", "nope"), at, "unknown-activity"},
		{migrateTo(2, "v", "u", "w", "u"), at, "ambiguous-activity"},
	} {
		out, problems := b.alter(versions, c.alt)
		if out != engine.Refused {
			t.Errorf("%+v: outcome %s", c.alt, out)
		}
		wantRefusal(t, problems, c.pointer, c.code, "")
	}
	// All or none: the first one fits.
	broken, keys := true, []string{}
	b = start(t, root(seq(named("bad", flaky(&broken, &keys)), say("c"))))
	b.refused("/alterations/1/activity", "unknown-activity", "", skipOf("bad"), skipOf("nope"))
	b.wantStatus(workflow.Faulted).wantLines()
}

// Together: to a version that has the mend, then from the activity that failed.
func TestMigrateAndRetry(t *testing.T) {
	t.Parallel()
	a := &transport{status: 200}
	def := root(named("s", seq(named("charge", act("SendHttpRequest", inputs{"url": lit("ftp://typo/")})), say("over"))))
	b := start(t, root(named("s", seq(named("charge", act("SendHttpRequest", inputs{"url": expr(func(engine.Scope) (any, error) { return "ftp://typo/", nil })})), say("over")))), withAnswers(a)).wantStatus(workflow.Faulted)
	def.Root.Activities[0].Inputs["url"] = lit("http://right/")
	if out, problems := b.alter(map[int]*engine.Program{2: programFor(t, def, 2)}, migrateTo(2), retryOf("charge")); out != engine.Applied {
		t.Fatalf("outcome %s: %v", out, problems)
	}
	b.wantStatus(workflow.Finished).wantLines("over")
	if len(a.keys) != 1 {
		t.Errorf("keys %q", a.keys)
	}
}

// Between two attempts the policy of the version before goes on, and who migrates is told.
func TestMigrateBetweenTwoAttempts(t *testing.T) {
	t.Parallel()
	f := &failing{left: 1}
	def := func(delay string) *workflow.Definition {
		return root(retried(f.activity("charge"), inputs{"attempts": lit(3), "delay": lit(delay)}))
	}
	b := start(t, def("1m")).wantStatus(workflow.Suspended)
	b.env.Version = func(int) (*engine.Program, error) { return programFor(t, def("1h"), 2), nil }
	p, err := engine.PreviewOf(t.Context(), b.load(), &workflow.Alter{Alterations: []workflow.Alteration{migrateTo(2)}})
	if err != nil || p.Outcome != engine.Applied || !strings.Contains(strings.Join(p.Did, " "), "with the attempts and pauses that it began with") {
		t.Errorf("%+v, %v", p, err)
	}
	if out, problems := b.alter(map[int]*engine.Program{2: programFor(t, def("1h"), 2)}, migrateTo(2)); out != engine.Applied {
		t.Fatalf("outcome %s: %v", out, problems)
	}
	b.pass(1).wantStatus(workflow.Finished)
	if got := f.pauses(); len(got) != 1 || got[0] != time.Minute {
		t.Errorf("pauses %v", got)
	}
}

func TestAlterationsAreChecked(t *testing.T) {
	t.Parallel()
	b := start(t, root(named("all", seq(pause("w"), say("c")))))
	for _, c := range []struct {
		alt           workflow.Alteration
		pointer, code string
	}{
		{workflow.Alteration{Type: "nope"}, "/alterations/0/type", "unknown-alteration"},
		{workflow.Alteration{}, "/alterations/0/type", "unknown-alteration"},
		{workflow.Alteration{Type: workflow.AlterSkip}, "/alterations/0/activity", "missing-field"},
		{workflow.Alteration{Type: workflow.AlterSkip, Activity: "w", Variable: "x"}, "/alterations/0/variable", "unknown-field"},
		{workflow.Alteration{Type: workflow.AlterSetVariable}, "/alterations/0/variable", "missing-field"},
		{workflow.Alteration{Type: workflow.AlterMigrate}, "/alterations/0/version", "bad-version"},
		{workflow.Alteration{Type: workflow.AlterReschedule}, "/alterations/0/dueAt", "missing-field"},
		{workflow.Alteration{Type: workflow.AlterRetry, Execution: -1}, "/alterations/0/execution", "bad-execution"},
		{retryOf("nope"), "/alterations/0/activity", "unknown-activity"},
		{skipOf("c"), "/alterations/0/activity", "not-running"},
		{workflow.Alteration{Type: workflow.AlterSkip, Execution: 99}, "/alterations/0/execution", "not-running"},
	} {
		b.refused(c.pointer, c.code, "", c.alt)
	}
	b.refused("/alterations", "missing-field", "at least one")
	b.refused("/alterations", "too-many-alterations", "10000", slices.Repeat([]workflow.Alteration{skipOf("w")}, 10_000)...)
	if out, _ := b.alter(nil, retryOf("")); out != engine.NotFaulted {
		t.Errorf("outcome %s", out)
	}
	b.resume("w", nil)
	b.wantStatus(workflow.Finished)
}

// A value that the journal does not tell stands in no refusal of another one, and in no incident.
func TestARefusedValueIsHidden(t *testing.T) {
	t.Parallel()
	set := func(v any) *workflow.Activity {
		a := act("SetVariable", inputs{"variable": lit("pin"), "value": lit(v)})
		a.LogPersistence = "Exclude"
		return a
	}
	def := root(seq(set(1234), wait("go"), set("s3cret")))
	def.Variables = []workflow.Variable{{Name: "pin", Type: "Int32"}, {Name: "open", Type: "Int32"}}
	b := start(t, def).wantStatus(workflow.Suspended)
	for name, shown := range map[string]bool{"pin": false, "open": true} {
		out, problems := b.alter(nil, setOf(name, "s3cret"))
		if out != engine.Refused || len(problems) != 1 || problems[0].Code != "bad-value" || strings.Contains(problems[0].Detail, "s3cret") != shown {
			t.Errorf("%s: %s %v", name, out, problems)
		}
	}
	b.resume("go", nil)
	if b.wantStatus(workflow.Faulted); len(b.header.Incidents) != 1 || strings.Contains(b.header.Incidents[0].Message+b.header.Incidents[0].Cause, "s3cret") || !strings.Contains(b.header.Incidents[0].Message, "is hidden") {
		t.Errorf("%v", b.header.Incidents)
	}
}
