package client

import (
	"testing"
	"time"
)

// All long commands of a node together take half of a processor and write some bytes a second, at most; none
// pauses for longer than longPause.
func TestLongCommandsShareWhatTheyMayTake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     int
		took  time.Duration
		wrote int
		want  time.Duration
	}{
		{1, 100 * time.Millisecond, 0, 100 * time.Millisecond},
		{1, 100 * time.Millisecond, longBytes, time.Second},
		{1, time.Second, longBytes / 2, time.Second},
		{4, 100 * time.Millisecond, longBytes / 2, 2 * time.Second},
		{0, time.Millisecond, 0, time.Millisecond},
		{1000, time.Second, longBytes, longPause},
	} {
		if got := pauseOf(c.n, c.took, c.wrote); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
