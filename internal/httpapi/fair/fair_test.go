package fair

import (
	"strconv"
	"testing"
)

func TestSharesLeaveSomeToOthers(t *testing.T) {
	t.Parallel()
	s := Shares{Most: 4, Each: 2}
	for i, who := range []string{"a", "a", "a", "b", "c", "d"} {
		if got, want := s.Take(who), who != "d" && i != 2; got != want {
			t.Errorf("number %d, of %s: %t, want %t", i, who, got, want)
		}
	}
	s.Give("a")
	if !s.Take("d") || s.taken != 4 {
		t.Errorf("what was given back is not there: %+v", s.by)
	}
	for _, who := range []string{"a", "b", "c", "d"} {
		s.Give(who)
	}
	if s.taken != 0 || len(s.by) != 0 {
		t.Errorf("left over: %d %v", s.taken, s.by)
	}
}

// However few callers fill the budget, and with however many bodies, another one's
// finds room.
func TestSomeCallersLeaveMemoryForBodies(t *testing.T) {
	t.Parallel()
	const most, body = 128 << 20, 1 << 20
	for _, callers := range []int{1, 2, 3, 10} {
		b := Bytes{Most: most}
		for range most / body { // in turns
			for i := range callers {
				b.Take(strconv.Itoa(i), 0, body)
			}
		}
		if b.taken < most*3/4 {
			t.Errorf("%d callers have but %d", callers, b.taken)
		}
		if !b.Take("another", 0, 5*body) {
			t.Errorf("%d callers leave %d, and another one nothing of it", callers, most-b.taken)
		}
	}
}
