package promises

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/testsize"
)

// step is what leads from one state to the next.
type step[S comparable] struct {
	what  string
	to    S
	fault bool   // it does not happen by itself
	bad   string // what it violates; "": nothing
}

// rules are those of the worlds with states of one type.
type rules[S comparable] struct {
	next func(s S, less guards) []step[S]
	rest func(s S) string // what is wrong with a state where nothing happens by itself any more; "": nothing
}

// guards is a set of compares, or of what the code does first, that are taken away.
type guards uint32

func (g guards) lack(one guards) bool { return g&one != 0 }

// ok is a compare.
func (g guards) ok(one guards, holds bool) bool { return holds || g.lack(one) }

// found is what a walk has shown.
type found struct {
	bad    string
	trace  []string // that leads to it, the shortest
	states int
}

// most is how many states a world may have: all of them are looked at, in either size of the tests.
const most = 300_000

// explore walks through a world, breadth first, until a violation.
func (r rules[S]) explore(first S, less guards) (f found, err error) {
	type link struct {
		from int
		what string
	}
	all, from, index := []S{first}, []link{{-1, ""}}, map[S]int{first: 0}
	fail := func(at int, bad string, last ...string) {
		f.bad, f.trace = bad, last
		for ; at > 0; at = from[at].from {
			f.trace = append([]string{from[at].what}, f.trace...)
		}
	}
	for at := 0; at < len(all) && f.bad == ""; at++ {
		if len(all) > most {
			return f, fmt.Errorf("more than %d states: make the world smaller", most)
		}
		moves := false
		for _, s := range r.next(all[at], less) {
			if s.bad != "" {
				fail(at, s.bad, s.what)
				break
			}
			moves = moves || !s.fault && s.to != all[at]
			if _, known := index[s.to]; !known {
				index[s.to] = len(all)
				all, from = append(all, s.to), append(from, link{at, s.what})
			}
		}
		if f.bad == "" && !moves {
			if bad := r.rest(all[at]); bad != "" {
				fail(at, bad, fmt.Sprintf("nothing more happens: %+v", all[at]))
			}
		}
	}
	f.states = len(all)
	return f, nil
}

// world is one of the worlds of rules.
type world[S comparable] struct {
	name  string
	first S
}

// taken is a guard and the world in which it is missed; "": in none, for the reason that why gives.
type taken struct {
	guard   string
	less    guards
	in, why string
}

// holds walks through all worlds, as they are and without each guard.
func holds[S comparable](t *testing.T, r rules[S], worlds []world[S], all guards, without []taken) {
	t.Helper()
	for _, w := range worlds {
		f, err := r.explore(w.first, 0)
		switch {
		case err != nil:
			t.Errorf("%s: %v", w.name, err)
		case f.bad != "":
			t.Errorf("%s: %s\n%s", w.name, f.bad, strings.Join(f.trace, "\n"))
		}
		t.Logf("%s: %d states", w.name, f.states)
	}
	if t.Failed() {
		return
	}
	var looked guards
	for _, g := range without {
		looked |= g.less
		missed := ""
		for _, w := range worlds {
			if g.in != "" && g.in != w.name || g.in == "" && !testsize.Whole() {
				continue
			}
			f, err := r.explore(w.first, g.less)
			if err == nil && f.bad != "" {
				missed = w.name
				t.Logf("%s: in %q, %d steps: %s", g.guard, w.name, len(f.trace), f.bad)
			}
		}
		switch {
		case missed == "" && g.why == "":
			t.Errorf("%s: nobody misses it in %q", g.guard, g.in)
		case missed != "" && g.why != "":
			t.Errorf("%s: it is missed in %q, and spare because of %q", g.guard, missed, g.why)
		}
	}
	if left := all &^ looked; left != 0 {
		t.Errorf("%d guards are taken away nowhere: %b", bits.OnesCount32(uint32(left)), left)
	}
}
