package admission

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// woken is called for each instance that has a place.
type woken func(instance string)

func (w woken) Again(instance string, _ bool) { w(instance) }

// Whatever comes and goes: no compartment has more bursts than it may; each has
// one at least, or keeps it for who is called; memory is exceeded by those first ones
// only; no more are called than there is room for; once all who were called have come,
// nobody waits for whom there is room; and who waits is called, in the end, when nobody
// else is left.
func TestPlaces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{PerDefinition: rapid.IntRange(1, 4).Draw(t, "per definition"), Bytes: rapid.Int64Range(1, 1000).Draw(t, "bytes")}
		var called []string
		p := New(limits, time.Second, woken(func(id string) { called = append(called, id) }))
		type burst struct {
			id string
			w  Slot
		}
		var running []burst
		wants := map[string]Slot{}
		largest := int64(0)
		try := func(id string) {
			w := wants[id]
			alone := true
			for other, c := range p.called {
				alone = alone && (other == id || c.In != w.In)
			}
			for _, b := range running {
				alone = alone && b.w.In != w.In
			}
			if p.Enter(id, w, true) {
				running = append(running, burst{id, w})
				delete(wants, id)
				if p.Waits(id) {
					t.Fatalf("%s has a place, and waits for one", id)
				}
			} else if alone {
				t.Fatalf("the first of %v has no place", w.In)
			}
			p.Seen(id)
		}
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"come": func(t *rapid.T) {
				next++
				id := fmt.Sprint(next)
				w := Slot{In: Bulkhead{fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "definition")), rapid.Bool().Draw(t, "recovered")}, Bytes: rapid.Int64Range(1, 300).Draw(t, "size")}
				largest = max(largest, w.Bytes)
				wants[id] = w
				try(id)
			},
			"go": func(t *rapid.T) {
				if len(running) == 0 {
					t.Skip("nobody runs")
				}
				i := rapid.IntRange(0, len(running)-1).Draw(t, "who")
				b := running[i]
				running = append(running[:i:i], running[i+1:]...)
				p.Leave(b.w)
			},
			"try unasked": func(t *rapid.T) {
				if len(wants) == 0 {
					t.Skip("nobody waits")
				}
				ids := slices.Sorted(maps.Keys(wants))
				id := rapid.SampledFrom(ids).Draw(t, "who")
				if rapid.Bool().Draw(t, "there is more to do") {
					w := wants[id]
					w.Bytes = rapid.Int64Range(1, 300).Draw(t, "size")
					largest = max(largest, w.Bytes)
					w.In.Recovered = rapid.Bool().Draw(t, "recovered")
					wants[id] = w
				}
				try(id)
			},
			"try": func(t *rapid.T) {
				if len(called) == 0 {
					t.Skip("nobody was called")
				}
				id := called[0]
				called = called[1:]
				if rapid.Bool().Draw(t, "another node was faster") {
					delete(wants, id)
					p.Seen(id)
					return
				}
				try(id)
			},
			"sweep": func(*rapid.T) {
				mailed := map[string]bool{}
				for id := range wants {
					mailed[id] = true
				}
				p.Keep(mailed)
			},
			"": func(t *rapid.T) {
				n, bytes := map[Bulkhead]int{}, int64(0)
				for _, b := range running {
					n[b.w.In]++
					bytes += b.w.Bytes
				}
				kept := bytes
				for _, c := range p.called {
					n[c.In]++
					kept += c.Bytes
				}
				for in, k := range n {
					if k > limits.PerDefinition {
						t.Fatalf("%d bursts of %v", k, in)
					}
				}
				if p.bursts != len(running) || p.bytes != kept {
					t.Fatalf("counted %d bursts of %d bytes; there are %d of %d", p.bursts, p.bytes, len(running), kept)
				}
				for in, line := range p.lines {
					i := slices.IndexFunc(line, func(id string) bool { return p.waiting[id].In == in })
					if i < 0 || len(p.called) > 0 {
						continue
					}
					if w := p.waiting[line[i]]; p.room(&w) {
						t.Fatalf("%s waits for %+v, and there is room", line[i], w)
					}
				}
				if kept > limits.Bytes+int64(len(n))*largest {
					t.Fatalf("%d bytes", kept)
				}
			},
		})
		// All go, one after the other, and nobody comes: who waits has a turn.
		for steps := 0; len(running)+len(called) > 0; steps++ {
			if steps > 10000 {
				t.Fatalf("it does not end: %d run, %d were called, %d want", len(running), len(called), len(wants))
			}
			if len(called) > 0 {
				id := called[0]
				called = called[1:]
				if _, ok := wants[id]; ok && !rapid.Bool().Draw(t, "another node was faster") {
					try(id)
					continue
				}
				delete(wants, id)
				p.Seen(id)
				continue
			}
			p.Leave(running[0].w)
			running = running[1:]
		}
		if len(wants) > 0 {
			t.Fatalf("%d still want a place, and nobody runs: %v", len(wants), wants)
		}
	})
}

// One place calls one, however many wait and sweeps go by: who is called in vain takes
// and gives back a lock. Its place is not somebody else's meanwhile, and is free again
// when it does not come.
func TestWhoIsCalledHasItsPlaceKept(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{"of the definition": {PerDefinition: 1, Bytes: 1 << 20}, "of memory": {PerDefinition: 1000, Bytes: 100}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var called []string
			p := New(limits, time.Second, woken(func(id string) { called = append(called, id) }))
			w := Slot{In: Bulkhead{Definition: "d"}, Bytes: 50}
			if !p.Enter("first", w, true) {
				t.Fatal("the first has no place")
			}
			mailed := map[string]bool{}
			for i := range 300 {
				id := fmt.Sprint(i)
				mailed[id] = true
				if p.Enter(id, w, true) {
					t.Fatal("there is no room for two")
				}
			}
			p.Leave(w)
			p.Keep(mailed)
			if !slices.Equal(called, []string{"0"}) {
				t.Fatalf("%v were called to one place", called)
			}
			if p.Enter("new", w, false) {
				t.Error("who came later took the place of who was called")
			}
			p.Keep(mailed) // it did not come
			if !slices.Equal(called, []string{"0", "1"}) {
				t.Fatalf("%v were called", called)
			}
			if !p.Enter("1", w, true) {
				t.Error("who was called has no place")
			}
			p.Seen("1")
			for i := range 3000 { // who comes and goes does not make the line longer
				p.Enter(fmt.Sprint("x", i), w, true)
				p.Keep(mailed)
			}
			if n := len(p.lines[w.In]); n > 300 || len(called) > 2 {
				t.Errorf("%d stand in line; called were %v", n, called)
			}
		})
	}
}

// One compartment never takes all the memory, nor do many.
func TestMemoryIsSharedOutByWhatIsLeft(t *testing.T) {
	t.Parallel()
	p := New(Limits{PerDefinition: 1 << 20, Bytes: 1 << 20}, time.Second, woken(func(string) {}))
	fill := func(definition string) (n int64) {
		for p.Enter("i", Slot{In: Bulkhead{Definition: definition}, Bytes: 1 << 10}, false) {
			n++
		}
		return n
	}
	for i, want := range []int64{512, 256, 128, 64} {
		if got := fill(fmt.Sprint(i)); got != want {
			t.Errorf("number %d has %d KiB of 1024, want %d", i, got, want)
		}
	}
}
