package client

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// handed are places of one definition, with some of them taken.
type handed struct {
	*places
	ctx    context.Context
	stop   chan struct{}
	called []string // by mail
	got    chan string
}

func newHanded(t *testing.T, limits Limits, taken int) *handed {
	h := &handed{ctx: t.Context(), stop: make(chan struct{}), got: make(chan string, 10)}
	h.places = newPlaces(limits, time.Second, func(id string, _ bool) { h.called = append(h.called, id) })
	for range taken {
		h.enter("taken", want{in: compartment{definition: "d"}, bytes: 1}, false)
	}
	return h
}

func ofD(bytes int64) want { return want{in: compartment{definition: "d"}, bytes: bytes} }

// await waits in hand, and tells when that is over.
func (h *handed) await(id string, bytes int64) {
	go func() {
		if h.places.await(h.ctx, h.stop, id, ofD(bytes)) {
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
		h.enter("mail", ofD(1), true)
		h.await("a", 1)
		h.await("b", 1)
		h.says(t)
		if h.waits("a") || !h.waits("mail") {
			t.Error("the mailbox of what waits in hand may be worked, and that of what waits with mail not")
		}
		if c := h.keep(map[string]bool{"mail": true}); c.WaitDefinition != 1 {
			t.Errorf("%+v", c)
		}
		h.leave(ofD(1))
		if !slices.Equal(h.called, []string{"mail"}) {
			t.Errorf("called %q", h.called)
		}
		h.says(t)
		h.enter("mail", ofD(1), true)
		h.leave(ofD(1))
		h.says(t, "a")
		h.leave(ofD(1))
		h.says(t, "b")
		h.leave(ofD(1))
		h.leave(ofD(1))
		if len(h.used) != 0 || h.inHand != 0 || h.bursts != 0 || h.bytes != 0 {
			t.Errorf("left: %+v", h.places)
		}
	})
}

func TestACommandInHandWaitsForAMoment(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *handed, leave context.CancelFunc){
		"its patience is over": func(*handed, context.CancelFunc) { time.Sleep(time.Second) },
		"the node drains":      func(h *handed, _ context.CancelFunc) { close(h.stop) },
		"the ownership ends":   func(_ *handed, leave context.CancelFunc) { leave() },
		"what ends it came":    func(h *handed, _ context.CancelFunc) { h.interrupt("a") },
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
			h.leave(ofD(1))
			if len(h.used) != 0 || len(h.waiting) != 0 || len(h.called) != 0 || h.inHand != 0 {
				t.Errorf("%s: left: %+v", name, h.places)
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
		h.leave(ofD(1))
		h.await("a", 1)
		h.says(t, "a")
		h.await("b", 1) // one has gone by now
		h.says(t)
		h.leave(ofD(1))
		h.says(t, "b")
	})
}
