package client

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client/warm"
	"github.com/weft-run/weft/pkg/workflow"
)

func call(id string) *waiter { return newWaiter(workflow.Command{ID: id}) }

func keyed(id, body string) *waiter {
	return newWaiter(workflow.Command{ID: id, Key: &workflow.CommandKey{Name: id, BodyHash: body}})
}

// inboxOf is an inbox in which these calls wait.
func inboxOf(t *testing.T, ws ...*waiter) *inbox {
	t.Helper()
	in := &inbox{}
	for _, w := range ws {
		if got, open := in.offer(w); got != w || !open {
			t.Fatalf("call %s was not taken in: %v, %v", w.cmd.ID, got, open)
		}
	}
	return in
}

// take takes n commands into a burst.
func (in *inbox) take(n int) (hands []*waiter) {
	in.choose(func(c choice) { hands = c.take(n) })
	return hands
}

// order are the ids of those who wait.
func (in *inbox) order() (ids []string) {
	in.choose(func(c choice) {
		for _, w := range c.first(inboxLimit) {
			ids = append(ids, w.cmd.ID)
		}
	})
	return ids
}

func TestATwinWaitsForTheCallThatIsHere(t *testing.T) {
	t.Parallel()
	for name, come := range map[string]func(in *inbox, w *waiter){
		"that waits": func(*inbox, *waiter) {},
		"that runs":  func(in *inbox, _ *waiter) { in.take(1) },
		"whose burst goes on": func(in *inbox, w *waiter) {
			in.take(1)
			in.commit([]served{{w: w}}, nil, workflow.Instance{}, true, false)
		},
		"that was given back": func(in *inbox, _ *waiter) { in.giveBack(in.take(1)) },
	} {
		first := keyed("call", "body")
		in := inboxOf(t, first)
		come(in, first)
		if got, open := in.offer(keyed("call", "body")); got != first || !open {
			t.Errorf("%s: a twin waits for %v, open %v", name, got, open)
		}
		other := keyed("call", "other body")
		got, open := in.offer(other)
		if got != other || !open || !other.finished() || workflow.CodeOf(other.err) != workflow.CodeKeyReused {
			t.Errorf("%s: another body with its key: %v, open %v, finished %v with %v", name, got, open, other.finished(), other.err)
		}
		if first.finished() {
			t.Errorf("%s: the first call was answered", name)
		}
	}
}

func TestAFullInboxTakesNoMore(t *testing.T) {
	t.Parallel()
	in := &inbox{}
	for range inboxLimit {
		in.offer(newWaiter(workflow.Command{ID: workflow.DeriveID("call", string(rune(len(in.waiting))))}))
	}
	if got, open := in.offer(call("one more")); got != nil || !open {
		t.Errorf("one more than the limit: %v, open %v", got, open)
	}
	in.take(1)
	if got, open := in.offer(call("one more")); got == nil || !open {
		t.Errorf("after a burst took one: %v, open %v", got, open)
	}
}

func TestWhatIsGivenBackGoesInFront(t *testing.T) {
	t.Parallel()
	in := inboxOf(t, call("a"), call("b"), call("c"))
	hands := in.take(3)
	in.offer(call("d"))
	in.giveBack(hands[1:], hands[0])
	if got := in.order(); !slices.Equal(got, []string{"b", "c", "d"}) {
		t.Errorf("they wait in the order %v", got)
	}
	if got := in.firstRunning(); got == nil || got.ID != "a" {
		t.Errorf("the burst goes on with %v", got)
	}
}

func TestWhatMayBeTakenBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		come func(in *inbox, w *waiter)
		want bool
	}{
		"it waits":        {func(*inbox, *waiter) {}, true},
		"it runs":         {func(in *inbox, _ *waiter) { in.take(1) }, false},
		"it was run once": {func(in *inbox, _ *waiter) { in.giveBack(in.take(1)) }, true},
		"it is durable":   {func(in *inbox, w *waiter) { in.persisted(w, 7) }, false},
		"its twin is mail": {func(in *inbox, _ *waiter) {
			in.choose(func(c choice) { c.twin(&store.Mail{Command: workflow.Command{ID: "call"}, Created: 7}, false) })
		}, false},
		"its burst goes on": {func(in *inbox, w *waiter) {
			in.take(1)
			in.commit([]served{{w: w}}, nil, workflow.Instance{}, true, false)
		}, false},
	} {
		w := call("call")
		in := inboxOf(t, w, call("behind"))
		tt.come(in, w)
		if got := in.takeBack(w); got != tt.want {
			t.Errorf("%s: taken back %v", name, got)
		}
		if w.finished() != tt.want || tt.want && !errors.Is(w.err, ErrBusy) {
			t.Errorf("%s: answered %v with %v", name, w.finished(), w.err)
		}
		if tt.want && !slices.Equal(in.order(), []string{"behind"}) {
			t.Errorf("%s: there wait %v", name, in.order())
		}
	}
}

// Mail whose twin waits is run for who waits, unless it was taken over: then it is
// mail, whose attempts count, but for what this inbox made durable itself.
func TestTheTwinOfMail(t *testing.T) {
	t.Parallel()
	m := &store.Mail{Command: workflow.Command{ID: "call"}, Created: 7}
	for name, tt := range map[string]struct {
		created int64
		foreign bool
		want    bool
	}{
		"new mail":                          {0, false, true},
		"taken over":                        {0, true, false},
		"taken over, and made durable here": {7, true, true},
	} {
		w := call("call")
		in := inboxOf(t, w)
		in.persisted(w, tt.created)
		in.choose(func(c choice) {
			if got := c.twin(m, tt.foreign); got != tt.want {
				t.Errorf("%s: a twin: %v", name, got)
			}
		})
		if got := in.durable(w) == 7; got != tt.want {
			t.Errorf("%s: it counts as durable: %v", name, got)
		}
	}
}

func TestAnswersAfterACommit(t *testing.T) {
	t.Parallel()
	gone := served{effect: store.Effect{Outcome: workflow.OutcomeGone}, inHand: true}
	applied := served{effect: store.Effect{Outcome: workflow.OutcomeApplied}, inHand: true}
	before, after := workflow.Instance{ID: "i", Name: "before"}, workflow.Instance{ID: "i", Name: "after"}
	applied.w, gone.w = call("applied"), call("gone")
	in := inboxOf(t, applied.w, gone.w)
	in.take(2)
	in.commit([]served{applied, gone}, nil, before, true, false)
	if !gone.w.finished() || gone.w.result.Effect.Outcome != workflow.OutcomeGone || gone.w.result.Instance.Name != "before" {
		t.Errorf("what came to nothing: answered %v, %+v", gone.w.finished(), gone.w.result)
	}
	if applied.w.finished() || !in.lasting(applied.w) {
		t.Errorf("of a burst that goes on: answered %v, lasting %v", applied.w.finished(), in.lasting(applied.w))
	}
	wrote := &workflow.Response{Status: 201}
	in.commit(nil, wrote, after, false, true)
	if r := applied.w.result; !applied.w.finished() || r.Instance.Name != "after" || r.Response != wrote || r.Accepted {
		t.Errorf("at the end of the burst: answered %v, %+v", applied.w.finished(), r)
	}
	if _, open := in.offer(call("late")); open || in.tell() {
		t.Error("it is open after a commit that freed the lock")
	}
}

func TestCloseAnswersEverybody(t *testing.T) {
	t.Parallel()
	applied, running, durable, waits := call("applied"), call("running"), call("durable"), call("waits")
	in := inboxOf(t, applied, running, durable, waits)
	in.take(1)
	in.commit([]served{{w: applied}}, nil, workflow.Instance{}, true, false)
	in.take(1)
	in.persisted(durable, 7)
	now := workflow.Instance{ID: "i"}
	in.close(now, func(w *waiter) (Result, error) { return w.acceptedOr(now, errLeft) })
	for _, w := range []*waiter{applied, durable} {
		if !w.finished() || w.err != nil || !w.result.Accepted || w.result.Instance.ID != "i" {
			t.Errorf("%s: answered %v, %+v, %v", w.cmd.ID, w.finished(), w.result, w.err)
		}
	}
	for _, w := range []*waiter{running, waits} {
		if !w.finished() || !errors.Is(w.err, errLeft) {
			t.Errorf("%s: answered %v with %v", w.cmd.ID, w.finished(), w.err)
		}
	}
	if _, open := in.offer(call("late")); open || in.tell() || !in.idle() {
		t.Error("it is open")
	}
}

// Mail that was told of before the look began is seen by it; what is told later is not.
func TestWhatIsToldOfMail(t *testing.T) {
	t.Parallel()
	in := &inbox{}
	in.tell()
	in.looks()
	if in.unseen() {
		t.Error("what was told before the look counts as unseen")
	}
	if !in.tell() || !in.unseen() {
		t.Error("what is told after the look is lost")
	}
}

// TestWhatIsToldIsLeftWhereNobodyLooks: an owner that knows its instance looks for no mail,
// so what it was told of before is there for the next one.
func TestWhatIsToldIsLeftWhereNobodyLooks(t *testing.T) {
	t.Parallel()
	for _, looked := range []int64{0, 5} {
		life, end := context.WithCancelCause(context.Background())
		h := newHandle(&Node{warm: warm.New(warm.Bytes, nil), life: life, end: end}, "i")
		h.inbox.tell()
		o, _, err := h.take(t.Context(), func(context.Context, preload) (ownership, *store.Loaded, error) {
			return free{}, &store.Loaded{Revision: looked}, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if h.inbox.unseen() != (looked == 0) {
			t.Errorf("a look at revision %d: left is %t", looked, h.inbox.unseen())
		}
		o.stop(nil)
		end(nil)
	}
}
