package activities_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

func withLimit(name any, body *workflow.Activity, more inputs) *workflow.Activity {
	in := inputs{"name": lit(name)}
	for k, v := range more {
		in[k] = v
	}
	a := act("WithLimit", in)
	a.Ports = map[string]*workflow.Activity{"body": body}
	return a
}

// place gives the first that waits its place.
func (b *bench) place() engine.Outcome {
	b.t.Helper()
	for _, m := range b.header.Bookmarks {
		if _, ok := limit.Of(&m); ok && m.Callback == "given" {
			return b.run(workflow.Command{ID: b.id("place"), Kind: workflow.CommandResume, Bookmark: m.ID, Timer: true})
		}
	}
	b.t.Fatal("nothing waits for a place")
	return ""
}

// The body runs with the place only, and the place goes with its end.
func TestALimitsBodyRunsWithAPlace(t *testing.T) {
	t.Parallel()
	b := start(t, root(seq(line("before"), withLimit("cards", seq(line("in"), act("Event", inputs{"eventName": lit("go")}), line("out")), inputs{"key": lit("acme"), "priority": lit(7)}), line("after"))))
	b.wantStatus(workflow.Suspended).wantLines("before")
	if len(b.header.Bookmarks) != 1 {
		t.Fatalf("it waits at %v", b.bookmarks())
	}
	w, ok := limit.Of(&b.header.Bookmarks[0])
	if want := (limit.Wait{Line: limit.Line{Limit: "cards", Key: "acme"}, Priority: 7}); !ok || w != want {
		t.Errorf("it waits for %+v, want %+v", w, want)
	}
	waits := b.header.Bookmarks[0].ID
	b.place()
	b.wantLines("before", "in")
	given := ""
	for i := range b.header.Bookmarks {
		if p := limit.PlaceOf(&b.header.Bookmarks[i]); p != "" {
			given = p
		}
	}
	if given != waits || len(b.header.Bookmarks) != 3 {
		t.Errorf("of %v the place of %q is given, want %q", b.bookmarks(), given, waits)
	}
	b.place() // told again, it means nothing
	b.wantLines("before", "in")
	b.resume("go", nil)
	b.wantStatus(workflow.Finished).wantLines("before", "in", "out", "after")
	if len(b.header.Bookmarks) != 0 || len(b.last.Burned) != 3 {
		t.Errorf("bookmarks %v, burned %d", b.bookmarks(), len(b.last.Burned))
	}
}

// A body that fails has given its place back when that is an incident. A retry waits for one again, and runs the
// body from its beginning.
func TestALimitsBodyThatFails(t *testing.T) {
	t.Parallel()
	fails := true
	b := start(t, root(withLimit("cards", seq(line("in"), failsWhile(&fails), line("out")), nil)))
	b.place()
	b.wantStatus(workflow.Faulted).wantLines("in")
	if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, "broken") || b.header.Incidents[0].ActivityType != limit.Type {
		t.Errorf("incidents %+v", b.header.Incidents)
	}
	if len(b.last.Burned) != 1 {
		t.Errorf("burned %d, want the one that waited", len(b.last.Burned))
	}
	fails = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Suspended).wantLines("in")
	if len(b.header.Bookmarks) != 1 || b.header.Bookmarks[0].Callback != "given" {
		t.Fatalf("after the retry it waits at %+v", b.header.Bookmarks)
	}
	b.place()
	b.wantStatus(workflow.Finished).wantLines("in", "in", "", "out")
}

// An instance that ends has no place. When it comes back, a body that was under way begins again, with a place of its own.
func TestABodyUnderWayBeginsAgainAfterTheEnd(t *testing.T) {
	t.Parallel()
	fails := true
	par := act("Parallel", nil)
	par.Activities = []*workflow.Activity{
		withLimit("cards", seq(line("in"), act("Event", inputs{"eventName": lit("go")}), line("out")), nil),
		seq(act("Event", inputs{"eventName": lit("fail")}), failsWhile(&fails)),
	}
	b := start(t, root(par))
	b.place()
	b.resume("fail", nil)
	b.wantStatus(workflow.Faulted).wantLines("in")
	if len(b.last.Burned) != 4 {
		t.Errorf("burned %d, want what waited for the place, what says that it was given, and both events", len(b.last.Burned))
	}
	fails = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Suspended)
	if len(b.header.Bookmarks) != 1 || limit.PlaceOf(&b.header.Bookmarks[0]) != "" {
		t.Fatalf("it waits at %v, want for a place only", b.header.Bookmarks)
	}
	b.place()
	b.resume("go", nil)
	b.wantStatus(workflow.Finished).wantLines("in", "", "in", "out")
}

// failsWhile is an activity that fails while it is told to.
func failsWhile(fails *bool) *workflow.Activity {
	return act("WriteLine", inputs{"text": expr(func(engine.Scope) (any, error) {
		if *fails {
			return nil, errors.New("broken")
		}
		return nil, nil
	})})
}

// A retry around a limit gives the place back between two attempts.
func TestARetryAroundALimit(t *testing.T) {
	t.Parallel()
	fails := true
	policy := act("RetryPolicy", inputs{"attempts": lit(2)})
	policy.Ports = map[string]*workflow.Activity{"body": withLimit("cards", failsWhile(&fails), nil)}
	b := start(t, root(policy))
	b.place()
	b.wantStatus(workflow.Suspended)
	if len(b.header.Bookmarks) != 1 || b.header.Bookmarks[0].ActivityType != workflow.RetryType {
		t.Fatalf("in the pause it waits at %+v", b.header.Bookmarks)
	}
	fails = false
	b.untilEnd()
	b.wantStatus(workflow.Finished)
}

// What a retry has to know of a failure comes through the limit.
func TestAFailureKeepsItsKindThroughALimit(t *testing.T) {
	t.Parallel()
	policy := act("RetryPolicy", inputs{"attempts": lit(2), "on": lit("5xx")})
	policy.Ports = map[string]*workflow.Activity{"body": withLimit("cards", act("WriteLine", inputs{"text": expr(func(engine.Scope) (any, error) {
		return nil, &retry.StatusError{URL: "https://a.example", Status: 503}
	})}), nil)}
	b := start(t, root(policy))
	b.place()
	b.wantStatus(workflow.Suspended)
}

func TestBadLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a    *workflow.Activity
		want string
	}{
		"long name":   {withLimit(strings.Repeat("x", limit.MaxName+1), line("a"), nil), "may have up to 100 bytes"},
		"long key":    {withLimit("a", line("a"), inputs{"key": lit(strings.Repeat("x", limit.MaxKey+1))}), "may have up to 200 bytes"},
		"priority":    {withLimit("a", line("a"), inputs{"priority": lit(10)}), "from 0 to 9"},
		"no name":     {withLimit(nil, line("a"), nil), "name"},
		"no amount":   {withLimit("a", line("a"), inputs{"amount": lit(0)}), "from 1 to"},
		"used":        {withLimit("a", line("a"), inputs{"used": lit(-1)}), "from 0 to"},
		"no priority": {withLimit("a", line("a"), inputs{"priority": lit(-1)}), "from 0 to 9"},
	} {
		_, problems := engine.Compile(root(c.a), engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
		if len(problems) != 1 || !strings.Contains(problems[0].Detail, c.want) {
			t.Errorf("%s: %v, want %q", name, problems, c.want)
		}
	}
	for name, in := range map[string]inputs{
		"no name":  {"name": expr(func(engine.Scope) (any, error) { return "", nil })},
		"long key": {"key": expr(func(engine.Scope) (any, error) { return strings.Repeat("x", limit.MaxKey+1), nil })},
		"priority": {"priority": expr(func(engine.Scope) (any, error) { return 11, nil })},
		"amount":   {"amount": expr(func(engine.Scope) (any, error) { return -3, nil })},
	} {
		b := start(t, root(withLimit("cards", line("in"), in)))
		if b.wantStatus(workflow.Faulted).wantLines(); len(b.header.Incidents) != 1 {
			t.Errorf("%s: %v", name, b.header.Incidents)
		}
	}
}

// granted gives the one that came last its place, with what the command says.
func (b *bench) granted(g limit.Grant) {
	b.t.Helper()
	for _, m := range slices.Backward(b.header.Bookmarks) {
		if _, ok := limit.Of(&m); ok && m.Callback == "given" {
			b.run(workflow.Command{ID: b.id("place"), Kind: workflow.CommandResume, Bookmark: m.ID, Timer: true, Input: g.Input()})
			return
		}
	}
	b.t.Fatal("nothing waits for a place")
}

// settled is what the journal has to settle.
func (b *bench) settled() (all []limit.Settlement) {
	for i := range b.journal {
		if l, s, ok := limit.SettlementIn(&b.journal[i]); ok && l == (limit.Line{Limit: "tokens", Key: "acme"}) {
			all = append(all, s)
		}
	}
	return all
}

// Units are reserved before the body, and settled behind it by what it used; what fails or says nothing has used what it reserved.
func TestALimitsUnits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		used any
		want []limit.Settlement
		end  workflow.SubStatus
	}{
		"less":         {expr(func(s engine.Scope) (any, error) { n, _ := s.Variable("n"); return n, nil }), []limit.Settlement{{At: 77, Units: 60, Used: 12}}, workflow.Finished},
		"more":         {lit(90), []limit.Settlement{{At: 77, Units: 60, Used: 90}}, workflow.Finished},
		"nothing said": {nil, nil, workflow.Finished},
		"null":         {expr(func(engine.Scope) (any, error) { return nil, nil }), nil, workflow.Finished},
		"below zero":   {expr(func(engine.Scope) (any, error) { return -1, nil }), nil, workflow.Faulted},
		"a part":       {expr(func(engine.Scope) (any, error) { return 1.5, nil }), nil, workflow.Faulted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inputs{"key": lit("acme"), "amount": lit(60)}
			if c.used != nil {
				in["used"] = c.used.(workflow.Expression)
			}
			def := root(withLimit("tokens", act("SetVariable", inputs{"variable": lit("n"), "value": lit(12)}), in))
			def.Variables = []workflow.Variable{{Name: "n", Type: "Int64"}}
			b := start(t, def)
			if w, _ := limit.Of(&b.header.Bookmarks[0]); w.Units != 60 {
				t.Errorf("it waits for %+v", w)
			}
			b.granted(limit.Grant{At: 77})
			if b.wantStatus(c.end); !slices.Equal(b.settled(), c.want) {
				t.Errorf("settled %+v, want %+v", b.settled(), c.want)
			}
		})
	}
	b := start(t, root(withLimit("tokens", line("in"), inputs{"amount": lit(60)})))
	b.granted(limit.Grant{Refused: "it wants 60 units of limit tokens, which has 50 in all"})
	if b.wantStatus(workflow.Faulted).wantLines(); len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, "which has 50 in all") || len(b.header.Bookmarks) != 0 {
		t.Errorf("incidents %+v, bookmarks %v", b.header.Incidents, b.bookmarks())
	}
	b.command(workflow.CommandRetry)
	b.granted(limit.Grant{})
	b.wantStatus(workflow.Finished).wantLines("in")
}

// A call in the body whose service asks to wait tells the innermost limit, also where a retry inside takes the answer; one outside of a body tells nobody.
func TestACallTellsItsLimitToWait(t *testing.T) {
	t.Parallel()
	asks := "120"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", asks)
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(srv.Close)
	call := func() *workflow.Activity { return named("call", act("SendHttpRequest", inputs{"url": lit(srv.URL)})) }
	in := inputs{"key": lit("acme")}
	b := start(t, root(withLimit("outer", withLimit("tokens", retried(call(), inputs{"on": lit(int64(429))}), in), nil)), withHTTP(true))
	b.place()
	b.granted(limit.Grant{})
	b.wantStatus(workflow.Suspended)
	all := b.settled()
	if len(all) != 1 || !all[0].Hold.Equal(t0.Add(2*time.Minute)) {
		t.Errorf("settled %+v", all)
	}
	asks = "86400"
	b = start(t, root(withLimit("tokens", call(), in)), withHTTP(true))
	b.place()
	if all := b.settled(); len(all) != 1 || !all[0].Hold.Equal(t0.Add(limit.MaxHold)) {
		t.Errorf("settled %+v", all)
	}
	b = start(t, root(call()), withHTTP(true))
	if all := b.settled(); len(all) != 0 {
		t.Errorf("settled %+v", all)
	}
}
