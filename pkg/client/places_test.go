package client

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Whatever comes and goes: no compartment has more bursts than it may; each has
// one at least; memory is exceeded by those first ones only; and who waits is
// called, in the end, when nobody else is left.
func TestPlaces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{PerDefinition: rapid.IntRange(1, 4).Draw(t, "per definition"), Bytes: rapid.Int64Range(1, 1000).Draw(t, "bytes")}
		var called []string
		p := newPlaces(limits, func(id string, _ bool) { called = append(called, id) })
		type burst struct {
			id string
			w  want
		}
		var running []burst
		wants := map[string]want{}
		largest := int64(0)
		try := func(id string) {
			w := wants[id]
			alone := true
			for _, b := range running {
				alone = alone && b.w.in != w.in
			}
			if p.enter(id, w, true) {
				running = append(running, burst{id, w})
				delete(wants, id)
			} else if alone {
				t.Fatalf("the first of %v has no place", w.in)
			}
			p.seen(id)
		}
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"come": func(t *rapid.T) {
				next++
				id := fmt.Sprint(next)
				w := want{in: compartment{fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "definition")), rapid.Bool().Draw(t, "recovered")}, bytes: rapid.Int64Range(1, 300).Draw(t, "size")}
				largest = max(largest, w.bytes)
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
				p.leave(b.w)
			},
			"try": func(t *rapid.T) {
				if len(called) == 0 {
					t.Skip("nobody was called")
				}
				id := called[0]
				called = called[1:]
				if rapid.Bool().Draw(t, "another node was faster") {
					delete(wants, id)
					p.seen(id)
					return
				}
				try(id)
			},
			"sweep": func(*rapid.T) {
				mailed := map[string]bool{}
				for id := range wants {
					mailed[id] = true
				}
				p.keep(mailed)
			},
			"": func(t *rapid.T) {
				n, bytes := map[compartment]int{}, int64(0)
				for _, b := range running {
					n[b.w.in]++
					bytes += b.w.bytes
				}
				for in, k := range n {
					if k > limits.PerDefinition {
						t.Fatalf("%d bursts of %v", k, in)
					}
				}
				if p.bursts != len(running) || p.bytes != bytes {
					t.Fatalf("counted %d bursts of %d bytes; there are %d of %d", p.bursts, p.bytes, len(running), bytes)
				}
				if bytes > limits.Bytes+int64(len(n))*largest {
					t.Fatalf("%d bytes", bytes)
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
				p.seen(id)
				continue
			}
			p.leave(running[0].w)
			running = running[1:]
		}
		if len(wants) > 0 {
			t.Fatalf("%d still want a place, and nobody runs: %v", len(wants), wants)
		}
	})
}

// One compartment never takes all the memory, nor do many.
func TestMemoryIsSharedOutByWhatIsLeft(t *testing.T) {
	t.Parallel()
	p := newPlaces(Limits{PerDefinition: 1 << 20, Bytes: 1 << 20}, func(string, bool) {})
	fill := func(definition string) (n int64) {
		for p.enter("i", want{in: compartment{definition: definition}, bytes: 1 << 10}, false) {
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
