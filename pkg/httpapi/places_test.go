package httpapi

import (
	"strings"
	"testing"
)

func TestCountValues(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int64{
		`1`: 1, `{}`: 1, `[ ]`: 1, `[{},{}]`: 3, `[[],[[]], 1 , "a,[{b\",\\"]`: 6, `{"a": 1, "b": [1, 2]}`: 5, "": 0, `"open`: 1, `"\`: 1,
		"[" + strings.Repeat("{},", 999) + "{}]": 1001,
	} {
		if got := countValues([]byte(body)); got != want {
			t.Errorf("%.40s has %d values, want %d", body, got, want)
		}
	}
}

func TestSharesLeaveSomeToOthers(t *testing.T) {
	t.Parallel()
	s := shares{most: 4, each: 2}
	for i, who := range []string{"a", "a", "a", "b", "c", "d"} {
		if got, want := s.take(who), who != "d" && i != 2; got != want {
			t.Errorf("number %d, of %s: %t, want %t", i, who, got, want)
		}
	}
	s.give("a")
	if !s.take("d") || s.taken != 4 {
		t.Errorf("what was given back is not there: %+v", s.by)
	}
	for _, who := range []string{"a", "b", "c", "d"} {
		s.give(who)
	}
	if s.taken != 0 || len(s.by) != 0 {
		t.Errorf("left over: %d %v", s.taken, s.by)
	}
}

func TestBodiesShareTheirMemory(t *testing.T) {
	t.Parallel()
	p := newPlaces(4, 1000)
	a := &API{places: p}
	one, two := &call{api: a}, &call{api: a}
	if one.charge(600) != nil || two.charge(600) == nil || two.charge(400) != nil {
		t.Error("1000 bytes were not shared as they should be")
	}
	two.release()
	if one.charge(5000) != nil { // a body that is larger than all of it has it alone
		t.Error("one alone has no room")
	}
	one.release()
	if left := p.bodies.left.Load(); left != 1000 {
		t.Errorf("%d bytes are left", left)
	}
	if !p.shedding() {
		t.Error("nobody would know that it sheds")
	}
}
