package activities_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// receiver is what calls go to: a key that came with two bodies is a broken promise.
type receiver struct {
	bodies map[string]string
	calls  int
	broken string
	fails  func(key string) bool
	ends   func() // called in each call; nil: nothing is
}

func (r *receiver) take(key, body string) error {
	if r.bodies == nil {
		r.bodies = map[string]string{}
	}
	if was, ok := r.bodies[key]; ok && was != body && r.broken == "" {
		r.broken = fmt.Sprintf("the key %s came with %s and with %s", key, was, body)
	}
	r.bodies[key] = body
	r.calls++
	if r.fails != nil && r.fails(key) {
		return fmt.Errorf("no %d", r.calls)
	}
	return nil
}

// call goes out with what it is told, what it draws, and what a script before it kept.
func (r *receiver) call(id string) *workflow.Activity {
	keeps := named(id+".keeps", act("SetVariable", inputs{"variable": lit("kept"), "value": expr(func(s engine.Scope) (any, error) { return fmt.Sprint(s.Now().UnixMilli(), s.NewID()), nil })}))
	call := named(id, activities.Inline(func(ctx context.Context, x *engine.Execution) error {
		if r.ends != nil {
			r.ends()
		}
		kept, _ := x.Variable("kept")
		err := r.take(x.IdempotencyKey(), fmt.Sprintln(x.Now().UnixMilli(), x.NewID(), x.NewID(), kept))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}))
	s := named(id+".pair", seq(keeps, call))
	s.Variables = []workflow.Variable{{Name: "kept"}}
	return s
}

// genCalls is a tree in which calls are tried again, wait, loop and run beside each other.
func (r *receiver) genCalls(t *rapid.T, n *int, depth int) *workflow.Activity {
	*n++
	id := fmt.Sprint("c", *n)
	kinds := []string{"call", "call", "wait", "seq"}
	if depth > 0 {
		kinds = append(kinds, "retry", "retry", "fork", "each", "seq", "flow")
	}
	kids := func() (out []*workflow.Activity) {
		for range rapid.IntRange(1, 3).Draw(t, "kids") {
			out = append(out, r.genCalls(t, n, depth-1))
		}
		return out
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "wait":
		return named(id, wait("a"))
	case "seq":
		return named(id, seq(r.call(id+".one"), r.call(id+".two")))
	case "retry":
		in := inputs{"attempts": lit(3), "delay": lit("1s")}
		if rapid.Bool().Draw(t, "new") {
			in["keys"] = lit("new")
		}
		return retried(named(id, seq(kids()...)), in)
	case "fork":
		return named(id, act("Parallel", nil, kids()...))
	case "each":
		return named(id, body(act("ForEach", inputs{"items": lit([]any{1, 2})}), kids()...))
	case "flow":
		f := named(id, act("Flowchart", nil, r.call(id+".one"), r.call(id+".two")))
		f.Connections = []workflow.Connection{{Source: id + ".one.pair", Target: id + ".two.pair"}}
		return f
	}
	return r.call(id)
}

// TestAKeyHasOneBody runs random workflows whose calls fail, are tried again by the workflow and by an operator,
// are interrupted, and whose bursts get lost at any commit and are run again an hour later, maybe by a burst that
// is interrupted elsewhere: what comes with one key is the same, to the byte.
func TestAKeyHasOneBody(t *testing.T) {
	t.Parallel()
	again := 0
	rapid.Check(t, func(t *rapid.T) {
		r, n := &receiver{}, 0
		def := &workflow.Definition{ID: "d", Root: named("root", seq(r.genCalls(t, &n, 3), r.genCalls(t, &n, 3)))}
		def.Options.IncidentStrategy = rapid.SampledFrom([]string{"", "ContinueWithIncidents"}).Draw(t, "strategy")
		def.Options.CommitStrategy = rapid.SampledFrom([]string{"", "WorkflowExecuting", "ActivityExecuted", "ActivityExecuting", "ActivityExecutedStrict", "ActivityExecutingStrict", "Periodic"}).Draw(t, "commit")
		def.Options.CommitInterval = "90m" // of a clock that is an hour ahead after each loss
		prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
		if problems != nil {
			t.Fatal(problems)
		}
		clock, at := t0, 0 // at: the command, whose repeat the receiver answers as it did before
		r.fails = func(key string) bool {
			h := fnv.New32a()
			_, _ = fmt.Fprint(h, key, at)
			return h.Sum32()%3 == 0
		}
		env := engine.Env{Now: func() time.Time { clock = clock.Add(time.Millisecond); return clock }, Limits: engine.Limits{Activities: 40}}
		var b *engine.Burst
		interrupt := false
		r.ends = func() {
			if interrupt {
				interrupt = false
				b.Interrupt()
			}
		}
		b, err := engine.New(prog, "i", &workflow.Start{}, clock, env)
		if err != nil {
			t.Fatal(err)
		}
		var h workflow.Instance
		var state []byte
		save := func() {
			res, err := b.Result()
			if err != nil {
				t.Fatal(err)
			}
			h, state = res.Instance, res.State
		}
		save()
		run := func(cmd workflow.Command) (out engine.Outcome) {
			for lost := rapid.IntRange(0, 2).Draw(t, "lost"); lost >= 0; lost-- {
				if b, err = engine.Load(prog, h, state, env); err != nil {
					t.Fatal(err)
				}
				interrupt = rapid.IntRange(0, 3).Draw(t, "interrupt") == 0
				if out, err = b.Run(t.Context(), cmd); err != nil {
					t.Fatal(err)
				}
				clock = clock.Add(time.Hour)
			}
			env.Stopped = engine.StoppedIn(b)
			save()
			return out
		}
		do := func(cmd workflow.Command) {
			at++
			cmd.ID, cmd.CreatedAt = fmt.Sprint("c", at), clock
			out := run(cmd)
			for range maxCommits {
				if out != engine.CommitFirst && out != engine.Interrupted {
					return
				}
				out = run(workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: clock})
			}
		}
		do(workflow.Command{Kind: workflow.CommandStart, Start: &workflow.Start{}})
		for range rapid.IntRange(0, 8).Draw(t, "commands") {
			switch {
			case h.SubStatus == workflow.Faulted || rapid.IntRange(0, 9).Draw(t, "retry") == 0:
				do(workflow.Command{Kind: workflow.CommandRetry})
			case len(h.Bookmarks) > 0:
				do(workflow.Command{Kind: workflow.CommandResume, Bookmark: h.Bookmarks[rapid.IntRange(0, len(h.Bookmarks)-1).Draw(t, "bookmark")].ID})
			}
		}
		if r.broken != "" {
			t.Fatal(r.broken)
		}
		again += r.calls - len(r.bodies)
	})
	if again < 100 {
		t.Errorf("only %d calls were made again", again)
	}
}

// With `keys: new` each attempt is another call, and is told the time when it is made.
func TestWithNewKeysTheTimeMovesOn(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"same", "new"} {
		var told []time.Time
		left := 2
		call := named("call", activities.Inline(func(_ context.Context, x *engine.Execution) error {
			told = append(told, x.Now())
			if left--; left < 0 {
				return nil
			}
			return fmt.Errorf("not yet")
		}))
		start(t, root(retried(call, inputs{"attempts": lit(3), "delay": lit("1m"), "factor": lit(1), "keys": lit(keys)}))).pass(2).wantStatus(workflow.Finished)
		want := []time.Time{t0, t0, t0}
		if keys == "new" {
			want = []time.Time{t0, t0.Add(time.Minute), t0.Add(2 * time.Minute)}
		}
		if !slices.EqualFunc(told, want, time.Time.Equal) {
			t.Errorf("keys: %s: told %v, want %v", keys, told, want)
		}
	}
}

// What runs for one command is told one time, until a save for which the definition asks, or after so many activities
// that others have their turn: a long loop sees that time passes.
func TestTheTimeMovesOnWithSaves(t *testing.T) {
	t.Parallel()
	for strategy, moves := range map[string]bool{"": false, "ActivityExecuted": true, "ActivityExecutedStrict": true, "ActivityExecuting": true, "Periodic": false} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			var told []string
			var b *bench
			call := func() *workflow.Activity {
				return activities.Inline(func(_ context.Context, x *engine.Execution) error {
					told = append(told, x.Now().Format(time.TimeOnly))
					b.now = b.now.Add(time.Minute)
					return nil
				})
			}
			def := root(seq(wait("go"), call(), call(), call()))
			def.Options.CommitStrategy = strategy
			b = start(t, def)
			b.resume("go", nil)
			b.wantStatus(workflow.Finished)
			if want := "12:00:00 12:01:00 12:02:00"; moves != (strings.Join(told, " ") == want) || !moves && strings.Join(told, " ") != "12:00:00 12:00:00 12:00:00" {
				t.Errorf("told %v", told)
			}
		})
	}
	var b *bench
	rounds := 0
	loop := body(act("While", inputs{"condition": expr(func(s engine.Scope) (any, error) { return s.Now().Before(t0.Add(time.Hour)), nil })}), activities.Inline(func(context.Context, *engine.Execution) error {
		rounds++
		b.now = b.now.Add(time.Minute)
		return nil
	}))
	b = start(t, root(seq(wait("go"), loop)), withEnv(func(e *engine.Env) { e.Limits.Activities = 30 }))
	b.resume("go", nil)
	if b.wantStatus(workflow.Finished); rounds < 60 || rounds > 120 {
		t.Errorf("%d rounds of a minute for an hour", rounds)
	}
}

// An interrupt in one round of a loop takes no key of another one, and no commit comes at another place: a burst that
// was lost was maybe not interrupted there.
func TestAnInterruptShiftsNoKey(t *testing.T) {
	t.Parallel()
	keys := func(interrupted bool) (of []string, commits int) {
		var b *engine.Burst
		call := activities.Inline(func(ctx context.Context, x *engine.Execution) error {
			if interrupted {
				interrupted = false
				b.Interrupt()
				return ctx.Err()
			}
			item, _ := x.Variable("CurrentValue")
			of = append(of, fmt.Sprint(item, x.IdempotencyKey(), x.NewID(), x.Now()))
			return nil
		})
		prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: body(act("ForEach", inputs{"items": lit([]any{1, 2, 3, 4})}), call)}, engine.Options{Registry: activities.Default()})
		if problems != nil {
			t.Fatal(problems)
		}
		now := t0
		env := engine.Env{Now: func() time.Time { return now }, Limits: engine.Limits{Activities: 3}}
		b, _ = engine.New(prog, "i", &workflow.Start{}, t0, env)
		out, err := b.Run(t.Context(), workflow.Command{ID: "s", Kind: workflow.CommandStart, CreatedAt: t0})
		for out != engine.Applied && err == nil {
			if out == engine.CommitFirst {
				commits++
				now = now.Add(time.Hour)
			}
			env.Stopped = engine.StoppedIn(b)
			b.Committed()
			b.Renew(prog, env)
			out, err = b.Run(t.Context(), workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue})
		}
		if err != nil || commits == 0 {
			t.Fatal(err, commits)
		}
		return of, commits
	}
	plain, commits := keys(false)
	again, others := keys(true)
	if !slices.Equal(plain, again) || commits != others {
		t.Errorf("without an interrupt, %d commits:\n%s\nwith one, %d:\n%s", commits, strings.Join(plain, "\n"), others, strings.Join(again, "\n"))
	}
}

// resumed is called outside when it is resumed, and fails once then.
type resumed struct{ r *receiver }

func (resumed) Execute(_ context.Context, x *engine.Execution) error {
	_, err := x.Wait(engine.Wait{Name: "outside"})
	return err
}

func (c resumed) Resume(_ context.Context, x *engine.Execution, _ engine.Resume) error {
	return c.r.take(x.IdempotencyKey(), fmt.Sprint(x.NewID(), x.Now(), x.NewID()))
}

// A call that an operator has made again says what it said: also one that was made as the activity was resumed, and
// one whose outcome led to a fault.
func TestWhatAnOperatorRepeatsSaysTheSame(t *testing.T) {
	t.Parallel()
	r := &receiver{}
	r.fails = func(string) bool { return r.calls < 3 }
	reg := activities.Default()
	if err := reg.Register(workflow.Descriptor{Type: "test.Resumed"}, resumed{r}); err != nil {
		t.Fatal(err)
	}
	b := start(t, root(seq(&workflow.Activity{Type: "test.Resumed"})), func(_ *bench, o *engine.Options, _ *workflow.Start) { o.Registry = reg })
	b.run(workflow.Command{ID: "r", Kind: workflow.CommandResume, Bookmark: b.header.Bookmarks[0].ID})
	for range 2 {
		b.now = b.now.Add(time.Hour)
		b.wantStatus(workflow.Faulted).command(workflow.CommandRetry)
	}
	if b.wantStatus(workflow.Finished); r.broken != "" || r.calls != 3 || len(r.bodies) != 1 {
		t.Errorf("%s; %d calls, %q", r.broken, r.calls, r.bodies)
	}

	a := &transport{status: 503}
	ship := named("ship", act("FlowSendHttpRequest", inputs{"url": lit("http://shop/ship"), "method": lit("POST"), "expectedStatusCodes": lit([]any{204}), "content": expr(func(s engine.Scope) (any, error) { return fmt.Sprint(s.Now(), s.NewID()), nil })}))
	b = start(t, root(flow("ship.Unmatched status code -> gaveUp, ship.204 -> paid", ship, faultOf("no"), named("paid", line("paid")))), withAnswers(a)).wantStatus(workflow.Faulted)
	b.now = b.now.Add(time.Hour)
	b.command(workflow.CommandRetry)
	if len(a.keys) != 2 || a.keys[0] != a.keys[1] || a.bodies[0] != a.bodies[1] || a.bodies[0] == "" {
		t.Errorf("keys %q, bodies %q", a.keys, a.bodies)
	}
}

// What comes behind a save is told no earlier time than before it, although it was sent while a call went on.
func TestTheTimeDoesNotGoBack(t *testing.T) {
	t.Parallel()
	var b *bench
	var told []time.Time
	call := activities.Inline(func(_ context.Context, x *engine.Execution) error {
		told = append(told, x.Now())
		b.now = b.now.Add(time.Minute)
		return nil
	})
	later := lineOf(expr(func(s engine.Scope) (any, error) { told = append(told, s.Now()); return "", nil }))
	def := root(seq(wait("one"), call, line("a"), wait("two"), later))
	def.Options.CommitStrategy = "ActivityExecuted"
	b = start(t, def)
	b.resume("one", nil)
	b.now = t0 // the clock of another node
	b.run(workflow.Command{ID: "two", Kind: workflow.CommandResume, Bookmark: b.header.Bookmarks[0].ID, CreatedAt: t0.Add(time.Second)})
	if b.wantStatus(workflow.Finished); !told[1].Equal(t0.Add(time.Minute)) {
		t.Errorf("told %v", told)
	}
}
