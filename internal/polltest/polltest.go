// Package polltest waits in tests for what other goroutines, processes and nodes
// bring about.
//
// It guarantees that a test fails with what it waited for instead of hanging. It
// does not see a state that lasts for less than 50 ms: a test of such a state needs
// a signal from the code under test, and for time there is testing/synctest.
package polltest

import (
	"testing"
	"time"
)

// least and most are the pauses between two questions: short at first, for what
// is about to happen, and then a tenth of what was waited, so that asking takes no
// time from what is waited for, nor from the tests beside.
const (
	least = time.Millisecond
	most  = 50 * time.Millisecond
)

// Eventually asks ok until it holds, and fails the test after a minute: what has
// not happened by then on a slow machine does not happen.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	Within(t, time.Minute, what, ok)
}

// Within asks ok until it holds, fails the test after the limit, and says how long
// it took. It is for what must not take longer.
func Within(t testing.TB, limit time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !ok() {
		waited := time.Since(began)
		if waited > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(max(least, min(waited/10, most)))
	}
	return time.Since(began)
}
