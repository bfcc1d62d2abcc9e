package admission

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// handed are places of one definition, with some of them taken.
type handed struct {
	*Slots
	ctx    context.Context
	stop   chan struct{}
	called []string // by mail
	got    chan string
}

func newHanded(t *testing.T, limits Limits, taken int) *handed {
	h := &handed{ctx: t.Context(), stop: make(chan struct{}), got: make(chan string, 10)}
	h.Slots = New(limits, time.Second, woken(func(id string) { h.called = append(h.called, id) }))
	for range taken {
		h.Enter("taken", Slot{In: Bulkhead{Definition: "d"}, Bytes: 1}, false)
	}
	return h
}

func ofD(bytes int64) Slot { return Slot{In: Bulkhead{Definition: "d"}, Bytes: bytes} }

// await waits in hand, and tells when that is over.
func (h *handed) await(id string, bytes int64) {
	go func() {
		if h.Await(h.ctx, h.stop, id, ofD(bytes)) {
			h.got <- id
		} else {
			h.got <- "no place for " + id
		}
	}()
	synctest.Wait()
}

// told is what has become of those who waited, in order.
func (h *handed) told() (all []string) {
	synctest.Wait()
	for {
		select {
		case s := <-h.got:
			all = append(all, s)
		default:
			return all
		}
	}
}

func (h *handed) says(t *testing.T, want ...string) {
	t.Helper()
	if got := h.told(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACommandInHandStandsInLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHanded(t, Limits{PerDefinition: 2, Bytes: 1000}, 2)
		h.Enter("mail", ofD(1), true)
		h.await("a", 1)
		h.await("b", 1)
		h.says(t)
		if h.Waits("a") || !h.Waits("mail") {
			t.Error("the mailbox of what waits in hand may be worked, and that of what waits with mail not")
		}
		if c := h.Keep(map[string]bool{"mail": true}); c.WaitDefinition != 3 {
			t.Errorf("%+v", c)
		}
		h.Leave(ofD(1))
		if !slices.Equal(h.called, []string{"mail"}) {
			t.Errorf("called %q", h.called)
		}
		h.says(t)
		h.Enter("mail", ofD(1), true)
		h.Leave(ofD(1))
		h.says(t, "a")
		h.Leave(ofD(1))
		h.says(t, "b")
		h.Leave(ofD(1))
		h.Leave(ofD(1))
		if len(h.used) != 0 || h.inHand != 0 || h.bursts != 0 || h.bytes != 0 {
			t.Errorf("left: %+v", h.Slots)
		}
	})
}

func TestACommandInHandWaitsForAMoment(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *handed, leave context.CancelFunc){
		"its patience is over": func(*handed, context.CancelFunc) { time.Sleep(time.Second) },
		"the node drains":      func(h *handed, _ context.CancelFunc) { close(h.stop) },
		"the ownership ends":   func(_ *handed, leave context.CancelFunc) { leave() },
		"what ends it came":    func(h *handed, _ context.CancelFunc) { h.Interrupt("a") },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHanded(t, Limits{PerDefinition: 1, Bytes: 1000}, 1)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			h.ctx = ctx
			h.await("a", 1)
			h.says(t)
			end(h, leave)
			if got := h.told(); !slices.Equal(got, []string{"no place for a"}) {
				t.Errorf("%s: %q", name, got)
			}
			h.Leave(ofD(1))
			if len(h.used) != 0 || len(h.waiting) != 0 || len(h.called) != 0 || h.inHand != 0 {
				t.Errorf("%s: left: %+v", name, h.Slots)
			}
		})
	}
}

// TestACommandInHandDoesNotWaitForWhatHangs: neither where no place became free for long, nor for memory.
func TestACommandInHandDoesNotWaitForWhatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHanded(t, Limits{PerDefinition: 2, Bytes: 100}, 2)
		h.await("large", 99)
		h.says(t, "no place for large")
		h.await("half", 40)
		h.await("other", 60)
		h.says(t, "no place for other") // those who wait have what they are in memory already
		time.Sleep(time.Second)
		h.says(t, "no place for half")
		h.await("late", 1)
		h.says(t, "no place for late")
		h.Leave(ofD(1))
		h.await("a", 1)
		h.says(t, "a")
		h.await("b", 1) // one has gone by now
		h.says(t)
		h.Leave(ofD(1))
		h.says(t, "b")
	})
}

// TestWhoGivesUpInFrontCallsTheNext: there may be room for those behind it.
func TestWhoGivesUpInFrontCallsTheNext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *handed){
		"its patience is over": func(*handed) { time.Sleep(500 * time.Millisecond) },
		"what ends it came":    func(h *handed) { h.Interrupt("large") },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHanded(t, Limits{PerDefinition: 3, Bytes: 100}, 3)
			h.await("large", 40)
			time.Sleep(500 * time.Millisecond)
			h.await("small", 1)
			h.Enter("mail", ofD(1), true)
			h.Enter("other", Slot{In: Bulkhead{Definition: "e"}, Bytes: 60}, false)
			h.Leave(ofD(1))
			h.Leave(ofD(1))
			h.says(t)
			end(h)
			got := h.told()
			slices.Sort(got)
			if !slices.Equal(got, []string{"no place for large", "small"}) {
				t.Errorf("%s: %q", name, got)
			}
			h.Enter("mail", ofD(1), true)
			if !slices.Equal(h.called, []string{"mail"}) {
				t.Errorf("%s: called %q", name, h.called)
			}
			for range 3 {
				h.Leave(ofD(1))
			}
			if h.used[Bulkhead{Definition: "d"}] != nil || len(h.waiting) != 0 {
				t.Errorf("%s: left: %+v", name, h.Slots)
			}
		})
	}
}

// TestAPlaceIsKeptForWhoWasCalledInHand: a look at its mailbox that ends between its call and
// its coming does not give it away, and what ends its instance then is noted.
func TestAPlaceIsKeptForWhoWasCalledInHand(t *testing.T) {
	t.Parallel()
	h := newHanded(t, Limits{PerDefinition: 1, Bytes: 100}, 1)
	w := ofD(1)
	w.caller = &caller{called: make(chan struct{})}
	h.wait("a", w) // as await does
	h.Leave(ofD(1))
	select {
	case <-w.caller.called:
	default:
		t.Fatal("it is not called")
	}
	h.Seen("a")
	if h.Slots.called["a"].caller != w.caller || w.caller.ended {
		t.Error("its place is gone")
	}
	if h.Interrupt("a"); !w.caller.ended {
		t.Error("what ends it is forgotten")
	}
}
