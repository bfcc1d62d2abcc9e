package pace

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPauseLastsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, 1, time.Millisecond, time.Hour, 1000 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if !Pause(t.Context(), d) || time.Since(began) != d {
				t.Errorf("a pause of %v took %v", d, time.Since(began))
			}
		})
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{0, time.Second, time.Minute - 1} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			began := time.Now()
			if Pause(ctx, time.Minute) || time.Since(began) != after {
				t.Errorf("it waited %v of a context that lasts %v", time.Since(began), after)
			}
			for range 100 { // both ready: the end counts
				if Pause(ctx, 0) {
					t.Fatal("a pause went well after the end of its context")
				}
			}
			cancel()
		}
	})
}

func TestNothingWaitsWithoutPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithCancel(WithoutPauses(t.Context()))
		if !Pause(ctx, time.Hour) || time.Since(began) != 0 {
			t.Errorf("it waited %v", time.Since(began))
		}
		cancel()
		if Pause(ctx, time.Hour) {
			t.Error("a pause went well after the end of its context")
		}
	})
}

func TestJitterIsAFifthToEitherSide(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, 1, 4, 5, 7, time.Millisecond, 1500 * time.Millisecond, 10 * time.Minute, 100 * 365 * 24 * time.Hour} {
		least, most := time.Duration(1<<63-1), time.Duration(0)
		for range 5_000 {
			got := Jitter(d)
			least, most = min(least, got), max(most, got)
		}
		if least < d-d/5 || most > d+d/5+1 {
			t.Errorf("%v became %v to %v", d, least, most)
		}
		if wide := d / 100; least > d-d/5+wide || most < d+d/5-wide {
			t.Errorf("of 5,000 times %v became only %v to %v", d, least, most)
		}
	}
}

func take(n int, w Waits) (all []time.Duration) {
	for range n {
		d, ok := w.Next()
		if !ok {
			break
		}
		all = append(all, d)
	}
	return all
}

func TestWaits(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		waits Waits
		want  []time.Duration
	}{
		"even":             {Every(100 * ms), []time.Duration{100 * ms, 100 * ms, 100 * ms, 100 * ms, 100 * ms, 100 * ms}},
		"even, some":       {Every(100 * ms).Times(2), []time.Duration{100 * ms, 100 * ms}},
		"none":             {Every(100 * ms).Times(0), nil},
		"doubling":         {Doubling(20 * ms), []time.Duration{20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms}},
		"limited":          {Doubling(20 * ms).UpTo(100 * ms), []time.Duration{20 * ms, 40 * ms, 80 * ms, 100 * ms, 100 * ms, 100 * ms}},
		"limited and some": {Doubling(20 * ms).UpTo(30 * ms).Times(3), []time.Duration{20 * ms, 30 * ms, 30 * ms}},
		"a limit at once":  {Doubling(time.Hour).UpTo(time.Second).Times(1), []time.Duration{time.Second}},
		"a spread of none": {Doubling(20 * ms).Spread(0).Times(2), []time.Duration{20 * ms, 40 * ms}},
	} {
		if got := take(6, tt.waits); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// Doubling does not overflow, so that a loop which lasts for days still waits.
func TestDoublingLastsForEver(t *testing.T) {
	t.Parallel()
	for i, d := range take(10_000, Doubling(time.Millisecond).UpTo(time.Second).Spread(20)) {
		if d <= 0 || d > 1200*time.Millisecond {
			t.Fatalf("wait %d is %v", i, d)
		}
	}
}

// The order of a limit and a spread counts.
func TestSpread(t *testing.T) {
	t.Parallel()
	const s = time.Second
	before, after := map[time.Duration]bool{}, map[time.Duration]bool{}
	for range 1_000 {
		b, a := take(9, Doubling(s).UpTo(10*s).Spread(30)), take(9, Doubling(s).Spread(30).UpTo(10*s))
		for i, d := range b {
			if mid := min(s<<i, 10*s); d < mid*7/10-1 || d > mid*13/10+1 {
				t.Fatalf("wait %d is %v, around %v", i, d, mid)
			}
		}
		if a[8] != 10*s {
			t.Fatalf("a limit behind the spread gives %v", a[8])
		}
		before[b[8]], after[a[0]] = true, true
	}
	if len(before) < 10 || len(after) < 10 {
		t.Errorf("of 1,000 waits only %d and %d differ", len(before), len(after))
	}
}

var errTest = errors.New("not yet")

func TestRepeatGivesTheLastError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		waits Waits
		wants int // how often do asks for another call
		calls int
		took  time.Duration
		err   error
	}{
		"at once":             {Every(time.Second), 0, 1, 0, nil},
		"after some":          {Every(time.Second), 3, 4, 3 * time.Second, nil},
		"longer each time":    {Doubling(time.Second), 4, 5, 15 * time.Second, nil},
		"the waits are over":  {Every(time.Second).Times(3), 9, 4, 3 * time.Second, errTest},
		"there were none":     {Every(time.Second).Times(0), 9, 1, 0, errTest},
		"the time is over":    {Every(4 * time.Second).Within(10 * time.Second), 9, 4, 10 * time.Second, errTest},
		"the context is over": {Every(7 * time.Second), 99, 9, time.Minute, errTest},
	} {
		synctest.Test(t, func(t *testing.T) {
			// Made here: a time limit begins in the test's own time.
			if name == "the time is over" {
				tt.waits = Every(4 * time.Second).Within(10 * time.Second)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began, calls := time.Now(), 0
			err := Repeat(ctx, tt.waits, func() (bool, error) {
				if calls++; calls > tt.wants {
					return false, nil
				}
				return true, errTest
			})
			if !errors.Is(err, tt.err) || calls != tt.calls || time.Since(began) != tt.took {
				t.Errorf("%s: %v after %d calls and %v", name, err, calls, time.Since(began))
			}
		})
	}
}

func TestRepeatEndsAtWhatIsNotRepeated(t *testing.T) {
	t.Parallel()
	calls := 0
	err := Repeat(t.Context(), Every(time.Hour), func() (bool, error) {
		calls++
		return false, errTest
	})
	if !errors.Is(err, errTest) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// What has an outcome that must be known is tried once, however late it is.
func TestRepeatTriesOnceAfterTheEnd(t *testing.T) {
	t.Parallel()
	gone := errors.New("this node ends")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	for _, tt := range []struct{ own, want error }{{errTest, errTest}, {nil, gone}} {
		calls := 0
		err := Repeat(ctx, Every(time.Nanosecond), func() (bool, error) {
			calls++
			return true, tt.own
		})
		if !errors.Is(err, tt.want) || calls != 1 {
			t.Errorf("%v after %d calls, want %v after one", err, calls, tt.want)
		}
	}
}
