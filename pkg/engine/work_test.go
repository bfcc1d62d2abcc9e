package engine

import (
	"slices"
	"testing"
	"time"
)

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

// Nor does it keep what led to the work, and the room for bookmarks that are burned.
func TestACommittedBurstLetsGoOfItsBusiestTime(t *testing.T) {
	t.Parallel()
	b := &Burst{prog: &Program{root: &Node{inner: &unit{}}}, env: Env{Now: time.Now}, turn: turn{cmd: &command{ID: "c"}, calling: &Execution{}}}
	for range 10 * usualRoom {
		b.marks = append(b.marks, &mark{})
	}
	waits := b.marks[len(b.marks)-1]
	b.marks = slices.Delete(b.marks, 0, len(b.marks)-1)
	if !b.Committed() || b.cmd != nil || b.calling != nil {
		t.Errorf("it keeps command %v and execution %v", b.cmd, b.calling)
	}
	if len(b.marks) != 1 || b.marks[0] != waits || cap(b.marks) > usualRoom {
		t.Errorf("it keeps room for %d bookmarks", cap(b.marks))
	}
	b.marks = b.marks[:0]
	b.secrets = 1
	if b.Committed() {
		t.Error("it is worth keeping, and Renew refuses it")
	}
}
