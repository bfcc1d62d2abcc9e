package engine

import "testing"

// A burst that is kept after its commit keeps no room for the work of its busiest time.
func TestAScheduleLetsGoOfItsRoom(t *testing.T) {
	t.Parallel()
	var s schedule
	for range 10 * usualRoom {
		s.push(work{kind: workExecute})
	}
	for len(s.left()) > 1 {
		s.pop()
	}
	if s.rest(); len(s.left()) != 1 {
		t.Fatal("work is gone")
	}
	s.pop()
	if s.rest(); cap(s.items) != 0 || s.head != 0 {
		t.Errorf("it keeps room for %d", cap(s.items))
	}
	s.push(work{kind: workExecute})
	s.pop()
	if s.rest(); cap(s.items) == 0 {
		t.Error("it lets go of what is usual too")
	}
}
