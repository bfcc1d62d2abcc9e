package client_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// found is the look of a node for an event: of all that wait for it, or of the bookmark of
// an instance that is named.
func (w *unlockedWorld) found(m *member, event, instance string) *store.BookmarkRef {
	w.t.Helper()
	st := workflow.Stimulus{ActivityType: workflow.EventType, Payload: map[string]any{"eventName": event}, InstanceID: instance}
	hash := must(workflow.Hash(st.ActivityType, st.Payload))(w.t)
	met := must(m.store.Stimuli.Match(w.t.Context(), st, hash, ""))(w.t)
	if len(met.Bookmarks) != 1 {
		w.t.Fatalf("%d bookmarks wait for %s", len(met.Bookmarks), event)
	}
	return &met.Bookmarks[0]
}

// send resumes what was found.
func (w *unlockedWorld) send(m *member, id string, found *store.BookmarkRef) <-chan outcome {
	w.t.Helper()
	eventually(w.t, "its last owner there has left, which comes after the answer", func() bool { return !m.Holds("i") })
	got := make(chan outcome, 1)
	go func() {
		r, err := m.open("i").Resume(w.t.Context(), workflow.Command{ID: id, Kind: workflow.CommandResume, Bookmark: found.ID}, found)
		got <- outcome{r, err}
	}()
	return got
}

// requests tells what a node asks of instance i and of its lock from now on.
func (w *unlockedWorld) requests(m *member) func() []string {
	var mu sync.Mutex
	var ops []string
	m.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.Touches(cluster.Root(w.name)+"instance/") || c.PutsUnder(cluster.Root(w.name)+"lock/") {
			mu.Lock()
			defer mu.Unlock()
			ops = append(ops, map[bool]string{true: "write", false: "read"}[c.Mutating])
		}
		return false
	}})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(ops)
	}
}

// inARow are two nodes, and instance i of node a, which waits for go, then for on, then for end.
func inARow(t *testing.T, branch ...*workflow.Activity) *unlockedWorld {
	t.Helper()
	def := define("d", seq(slices.Concat([]*workflow.Activity{waitFor("go")}, branch, []*workflow.Activity{waitFor("on"), line("on"), waitFor("end")})...))
	w := &unlockedWorld{world: newWorld(t, def)}
	w.a, w.b = w.member("a", cluster.ModeDistributed, slow, auto), w.member("b", cluster.ModeDistributed, slow, auto)
	w.in = must(w.a.open("i").Begin(t.Context(), startOf("d", "s")))(t).Instance
	return w
}

func TestWhatThisNodeCommittedLastIsNotLookedAt(t *testing.T) {
	t.Parallel()
	for _, addressed := range []string{"", "i"} {
		w := inARow(t, line("went"))
		asked := w.requests(w.a)
		w.applied(w.told(w.send(w.a, "r", w.found(w.a, "go", addressed))))
		w.applied(w.told(w.send(w.a, "r2", w.found(w.a, "on", addressed))))
		want := []string{"write", "write"}
		if addressed != "" { // the look itself reads the instance
			want = []string{"read", "write", "read", "write"}
		}
		if got := asked(); !slices.Equal(got, want) || w.count(w.a, "committed") != 2 {
			t.Errorf("addressed %q: asked %q, counted %v", addressed, got, w.count(w.a, ""))
		}
		w.waits(1, 3)
		if lines := w.a.written(); !slices.Equal(lines, []string{"went", "on"}) {
			t.Error(lines)
		}
	}
}

// TestWhatOthersCommittedIsLookedAt has a node that knows an older state of the instance.
func TestWhatOthersCommittedIsLookedAt(t *testing.T) {
	t.Parallel()
	w := inARow(t)
	w.applied(w.told(w.send(w.b, "r", w.found(w.b, "go", ""))))
	asked := w.requests(w.a)
	w.applied(w.told(w.send(w.a, "r2", w.found(w.a, "on", ""))))
	if got := asked(); !slices.Equal(got, []string{"read", "read", "write"}) { // by its key, and then all of it
		t.Errorf("asked %q", got)
	}
	w.waits(1, 3)
}

// TestWhatWaitsInSeveralPlacesIsLookedAt: it may have gone on at another one.
func TestWhatWaitsInSeveralPlacesIsLookedAt(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, line("went"))
	asked := w.requests(w.b)
	w.applied(w.told(w.send(w.b, "r", w.found(w.b, "go", ""))))
	if got := asked(); !slices.Equal(got, []string{"read", "write"}) {
		t.Errorf("asked %q", got)
	}
	w.waits(2, 2)
}

// TestWhatMovedUnseenIsDoneOnce: the look found the instance as the node knows it, and then
// another node moved it.
func TestWhatMovedUnseenIsDoneOnce(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, line("went"))
	here := w.found(w.b, "go", "i")
	w.applied(w.told(w.send(w.a, "r", w.found(w.a, "other", "i"))))
	w.applied(w.told(w.send(w.b, "r2", here)))
	if n := w.b.count("commits_total", "conflict"); n != 1 {
		t.Errorf("%v conflicts", n)
	}
	w.waits(1, 3)
	// And where the bookmark itself is gone, its sender looks again.
	gone := w.found(w.b, "end", "i")
	w.applied(w.told(w.send(w.a, "r3", w.found(w.a, "end", "i"))))
	if got := w.told(w.send(w.b, "r4", gone)); got.err != nil && workflow.CodeOf(got.err) == "" || got.Effect.Outcome == workflow.OutcomeResumed {
		t.Errorf("%+v, %v", got.Effect, got.err)
	}
}

func TestAResumeWithoutALookThatMeetsAHolderIsBusy(t *testing.T) {
	t.Parallel()
	w := inARow(t)
	here := w.found(w.a, "go", "")
	lock := w.held()
	if got := w.told(w.send(w.a, "r", here)); !errors.Is(got.err, client.ErrBusy) {
		t.Errorf("%+v, %v", got.Effect, got.err)
	}
	if n := w.count(w.a, "held"); n != 1 {
		t.Errorf("%v made void", n)
	}
	asked := w.requests(w.a)
	if got := w.told(w.send(w.a, "r2", here)); !errors.Is(got.err, client.ErrBusy) {
		t.Errorf("%+v, %v", got.Effect, got.err)
	}
	if got := asked(); slices.Contains(got, "write") && w.count(w.a, "held") != 1 {
		t.Errorf("who was busy a moment ago is not looked at: %q", got)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.waits(1, 1)
	w.applied(w.told(w.send(w.a, "r", here)))
}

// TestAResumeWithoutALookBesideMail: it does not know of the mail, which is worked all the same.
func TestAResumeWithoutALookBesideMail(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, line("went"))
	w.b.put(t, "i", resumeOf("mail", w.in, 1))
	w.applied(w.told(w.send(w.b, "r", w.found(w.b, "go", "i"))))
	if n := w.count(w.b, "committed"); n != 1 {
		t.Errorf("%v committed without the lock", n)
	}
	if err := w.b.open("i").Work(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	w.waits(1, 3)
}

// TestMailIsSeenByWhoTakesTheLockLater: at the barrier nobody has looked into the mailbox
// yet, and what lies there goes first.
func TestMailIsSeenByWhoTakesTheLockLater(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, within(), through())
	w.b.put(t, "i", resumeOf("mail", w.in, 1))
	got := w.send(w.b, "r", w.found(w.b, "go", "i"))
	w.reached(w.inside)
	if held := must(w.a.locked("i"))(t); held {
		t.Error("it began under the lock")
	}
	w.inside.pass <- struct{}{}
	w.reached(w.inside)
	if lines := w.b.written(); !slices.Equal(lines, []string{"other"}) {
		t.Errorf("before it begins again: %q", lines)
	}
	w.inside.pass <- struct{}{}
	w.reached(w.valve)
	w.valve.pass <- struct{}{}
	w.applied(w.told(got))
	w.waits(1, 2)
}

// TestACancelThatWaitsIsBeforeTheOutside: who was told that a cancel is accepted sees no call that comes after it.
func TestACancelThatWaitsIsBeforeTheOutside(t *testing.T) {
	t.Parallel()
	w := unlockedWorldOf(t, asItIs, through())
	w.b.put(t, "i", workflow.Command{ID: "c", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()})
	w.valve.pass <- struct{}{}
	got := w.told(w.send(w.b, "r", w.found(w.b, "go", "i")))
	if got.err != nil || got.Effect.Outcome == workflow.OutcomeResumed || len(w.valve.entered) != 0 {
		t.Errorf("%+v, %v, %d calls", got.Effect, got.err, len(w.valve.entered))
	}
	if l := must(w.b.store.Instances.Load(t.Context(), "i", "", ""))(t); l.Record.Header.SubStatus != workflow.Cancelled || len(l.Mail) > 0 {
		t.Errorf("it is %s", l.Record.Header.SubStatus)
	}
}
