package admission

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type owner struct{ id string }

// Whatever comes and goes: one suspect at most is in quarantine, and who waits is
// called, in the end, when nobody else is left.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var called []string
		q := Quarantine{wake: woken(func(id string) { called = append(called, id) })}
		var in *owner
		wants := map[string]bool{}
		try := func(id string) {
			o := &owner{id: id}
			asks := rapid.Bool().Draw(t, "asks first")
			if (!asks || !q.MustWait(Suspect{id, "c"})) && q.Enter(o, Suspect{id, "c"}) {
				if in != nil {
					t.Fatalf("%s is in beside %s", id, in.id)
				}
				in = o
				delete(wants, id)
			} else if in == nil {
				t.Fatal("nobody is in, and yet it is full")
			}
			q.Seen(id)
		}
		missed := func(id string) { // another node was faster
			delete(wants, id)
			q.Seen(id)
		}
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"come": func(*rapid.T) {
				next++
				id := fmt.Sprint(next)
				wants[id] = true
				try(id)
			},
			"go": func(t *rapid.T) {
				if in == nil {
					t.Skip("nobody is in")
				}
				o := in
				in = nil
				q.Leave(&owner{id: o.id}) // another one of the same instance
				q.Leave(o)
			},
			"try": func(t *rapid.T) {
				if len(called) == 0 {
					t.Skip("nobody was called")
				}
				id := called[0]
				called = called[1:]
				if !wants[id] || rapid.Bool().Draw(t, "another node was faster") {
					missed(id)
					return
				}
				try(id)
			},
			"sweep": func(t *rapid.T) {
				if n := q.Keep(wants); n > len(wants) {
					t.Fatalf("%d wait of %d", n, len(wants))
				}
			},
		})
		for steps := 0; in != nil || len(called) > 0; steps++ {
			if steps > 10000 {
				t.Fatalf("it does not end: %d were called, %d want", len(called), len(wants))
			}
			if len(called) > 0 {
				id := called[0]
				called = called[1:]
				if wants[id] && !rapid.Bool().Draw(t, "another node was faster") {
					try(id)
				} else {
					missed(id)
				}
				continue
			}
			q.Leave(in)
			in = nil
		}
		if len(wants) > 0 {
			t.Fatalf("%d still wait, and nobody is in: %v", len(wants), wants)
		}
	})
}

// Who waits is looked at again after a while, since it may be no suspect any more, and
// keeps its place in the line.
func TestWhoWaitsForQuarantineIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	var called []string
	q := Quarantine{wake: woken(func(id string) { called = append(called, id) })}
	o, a, b := &owner{id: "in"}, Suspect{"a", "c"}, Suspect{"b", "c"}
	if !q.Enter(o, Suspect{"in", "c"}) || !q.MustWait(a) || !q.MustWait(b) || !q.Waits(a) || q.Waits(Suspect{"a", "other"}) {
		t.Fatal("it is not as it should be at first")
	}
	q.queued[a] = time.Now().Add(-Longest)
	if q.Waits(a) || !q.MustWait(a) || !q.Waits(a) {
		t.Error("it is not looked at again, or does not wait again")
	}
	q.Leave(o)
	if len(called) != 1 || called[0] != "a" {
		t.Errorf("%v are called", called)
	}
}
