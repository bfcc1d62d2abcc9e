package answers_test

import (
	"context"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestMain(m *testing.M) { membertest.Main(m) }

func newWaiter(t *testing.T, wait time.Duration) (*membertest.Member, *answers.Waiter) {
	t.Helper()
	m := membertest.New(t, clustertest.Namespace(t), "a")
	m.Publish(membertest.Waits)
	return m, answers.NewWaiter(m.Store.Stimuli, wait)
}

// An answer is for a repeat with the same body, and the answer of an endpoint for those
// who were asked what its callers are asked.
func TestAnAnswerIsForItsRequest(t *testing.T) {
	t.Parallel()
	m, w := newWaiter(t, time.Second)
	key := &answers.Key{Scope: "starts", Value: "k", BodyHash: "b"}
	if a, err := w.Used(t.Context(), key.Command()); a != nil || err != nil {
		t.Errorf("before: %+v, %v", a, err)
	}
	res, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.Used(t.Context(), key.Command())
	if err != nil || a == nil || a.Instance == nil || a.Instance.ID != res.Instance.ID {
		t.Errorf("after: %+v, %v", a, err)
	}
	other := *key
	other.BodyHash = "another"
	if _, err := w.Used(t.Context(), other.Command()); workflow.CodeOf(err) != workflow.CodeKeyReused {
		t.Errorf("another body: %v", err)
	}
	guard, strict := workflow.Guard{Authorize: true}, workflow.Guard{Authorize: true, Policy: "admins"}
	guarded := &store.Answer{BodyHash: "b", Guard: &guard}
	for _, c := range []struct {
		asked *workflow.Guard
		want  workflow.Code
	}{{nil, workflow.CodeKeyReused}, {&strict, workflow.CodeKeyReused}, {&guard, ""}} {
		k := key.Command()
		k.Guard = c.asked
		if err := answers.Check(guarded, k); workflow.CodeOf(err) != c.want {
			t.Errorf("asked %+v: %v", c.asked, err)
		}
	}
	if name := answers.Made("k").Command().Name; name == (&answers.Key{Value: "k"}).Command().Name {
		t.Errorf("a key that was made is called as a caller's: %s", name)
	}
}

// Who waits for several commands is told of each that was applied, under the instance
// that it asked for, and of the others what was known before.
func TestWhatBecameOfCommands(t *testing.T) {
	t.Parallel()
	m, w := newWaiter(t, 100*time.Millisecond)
	var accepted []store.Effect
	for _, id := range []string{"one", "two"} {
		m.Start("waits", id, id)
		res := m.Event("go", id, &runtime.Key{Scope: "events", Value: id, BodyHash: "b"})
		if len(res.Outcomes) != 1 || res.Outcomes[0].Outcome != workflow.OutcomeResumed {
			t.Fatalf("%s: %+v", id, res)
		}
		command := (&runtime.Key{Scope: "events", Value: id}).Command().Name
		accepted = append(accepted, store.Effect{InstanceID: id, Outcome: workflow.OutcomeAccepted, Command: command})
	}
	accepted = append(accepted, store.Effect{InstanceID: "one", Outcome: workflow.OutcomeAccepted, Command: "never"},
		store.Effect{InstanceID: "two", Outcome: workflow.OutcomeRefused, Command: accepted[0].Command})
	want := []workflow.Outcome{workflow.OutcomeResumed, workflow.OutcomeResumed, workflow.OutcomeAccepted, workflow.OutcomeRefused}
	for name, ask := range map[string]func(context.Context, []store.Effect) []store.Effect{"now": w.EffectsNow, "waiting": w.Effects} {
		got := ask(t.Context(), accepted)
		for i, e := range got {
			if e.Outcome != want[i] || e.InstanceID != accepted[i].InstanceID {
				t.Errorf("%s: %d is %+v, want %s", name, i, e, want[i])
			}
		}
	}
	if e := w.Effects(t.Context(), accepted[:1]); e[0].Outcome != workflow.OutcomeResumed || e[0].InstanceID != "one" {
		t.Errorf("of one: %+v", e)
	}
	if e := w.Effect(t.Context(), "one", "never"); e != nil {
		t.Errorf("a command that nobody sent: %+v", e)
	}
}

// A wait for an answer goes on until there is one that is enough.
func TestAnAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	m, w := newWaiter(t, time.Second)
	key := &answers.Key{Scope: "starts", Value: "late", BodyHash: "b"}
	done := make(chan string)
	go func() {
		id := ""
		w.Answer(t.Context(), key.Command().Name, func(_ context.Context, a *store.Answer) bool {
			if a.Instance != nil {
				id = a.Instance.ID
			}
			return a.Instance != nil
		})
		done <- id
	}()
	res, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if id := <-done; id != res.Instance.ID {
		t.Errorf("waited for %q, started %q", id, res.Instance.ID)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	w.Answer(ctx, "nobody's", func(context.Context, *store.Answer) bool { t.Error("there is an answer"); return true })
	if ctx.Err() == nil {
		t.Error("the wait ended before its time")
	}
}
