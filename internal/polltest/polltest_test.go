package polltest

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestItWaitsUntilItHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		took := Within(t, time.Minute, "a second is over", func() bool { return time.Since(began) >= time.Second })
		if took < time.Second || took > time.Second+most {
			t.Errorf("it took %v", took)
		}
		if Within(t, 0, "it holds", func() bool { return true }) != 0 {
			t.Error("what holds takes time")
		}
	})
}

// failing is a test that may fail.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// What never happens fails the test at its limit, and says what it was.
func TestItFailsAtTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, began := &failing{TB: t}, time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			Eventually(f, "pigs fly", func() bool { return false })
		}()
		<-done
		if took := time.Since(began); f.said != "not within 1m0s: pigs fly" || took > time.Minute+2*most {
			t.Errorf("after %v: %q", took, f.said)
		}
	})
}
