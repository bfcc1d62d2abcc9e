package members

import (
	"testing"
	"time"
)

// A process is gone from when nobody is it any more, and no longer than it was asked
// about; one that comes back, also with another epoch, never was.
func TestWhenAProcessIsGone(t *testing.T) {
	t.Parallel()
	m := New()
	is := func(process string, epoch int64) {
		m.mu.Lock()
		m.byKey["k"] = member{node: Node{ID: "n", Process: process, Epoch: epoch}}
		m.publish(true, nil)
		m.mu.Unlock()
	}
	goneFor := func(process string, d time.Duration) {
		m.mu.Lock()
		m.absent[process] = time.Now().Add(-d)
		m.mu.Unlock()
	}
	is("p", 1)
	if d := m.Gone("p"); d != 0 {
		t.Errorf("it is there, and gone for %v", d)
	}
	if d := m.Gone("q"); d <= 0 || d > time.Minute {
		t.Errorf("nobody knows it, and it is gone for %v", d)
	}
	goneFor("q", time.Hour)
	if d := m.Gone("q"); d < time.Hour {
		t.Errorf("it is gone for %v", d)
	}
	is("q", 2) // it is back, in the place of the other
	if d := m.Gone("q"); d != 0 {
		t.Errorf("it is back, and gone for %v", d)
	}
	is("r", 1)
	if d := m.Gone("q"); d <= 0 || d > time.Minute {
		t.Errorf("it went a moment ago, and is gone for %v", d)
	}
	goneFor("q", time.Hour)
	m.ForgetAbsent()
	if d := m.Gone("q"); d > time.Minute {
		t.Errorf("after a session of our own was lost it is gone for %v", d)
	}
	for i := range 2 * maxAbsent {
		m.Gone(time.Duration(i).String())
	}
	if len(m.absent) > maxAbsent {
		t.Errorf("%d are remembered", len(m.absent))
	}
}
