package tasks

import "testing"

// Who reads for a feed that the watch has replaced by then wakes nobody: those who wait are the new one's, and may have left.
func TestWhoReadsInVainWakesNobody(t *testing.T) {
	t.Parallel()
	d := New(Config{})
	old := &feed{reading: true}
	var waits []*waiter
	for range 3 {
		w := &waiter{wake: make(chan struct{}, 1)}
		waits = append(waits, w)
		old.waiters = append(old.waiters, w)
	}
	d.feeds["pack"] = old
	d.reset(true)
	for _, w := range waits[:2] {
		d.leave(w, []string{"pack"})
	}
	for range old.waiters {
		old.wake()
	}
	if left := d.feeds["pack"].waiters; len(left) != 1 || left[0] != waits[2] || len(old.waiters) != 0 {
		t.Errorf("%d wait, and %d for the old one", len(left), len(old.waiters))
	}
}
