package runtime

import (
	"testing"

	"github.com/weft-run/weft/pkg/store/etcdstore"
)

// Levels come at their bounds and go below them, so that a store at a bound does
// not make nodes refuse and take by turns.
func TestLevelsAreLeftBelowWhereTheyAreEntered(t *testing.T) {
	t.Parallel()
	at := func(inUse, allocated int64) etcdstore.Space {
		return etcdstore.Space{InUse: inUse, Allocated: allocated, Quota: 1000}
	}
	for _, c := range []struct {
		was  level
		sp   etcdstore.Space
		want level
	}{
		{roomy, at(699, 700), roomy},
		{roomy, at(700, 700), nearlyFull},
		{roomy, at(850, 850), full},
		{nearlyFull, at(651, 700), nearlyFull},
		{nearlyFull, at(649, 700), roomy},
		{nearlyFull, at(849, 850), nearlyFull},
		{full, at(801, 850), full},
		{full, at(799, 850), nearlyFull},
		{full, at(100, 850), roomy},
		{roomy, at(100, 949), roomy},
		{roomy, at(100, 951), nearlyFull},
		{nearlyFull, at(100, 935), nearlyFull},
		{nearlyFull, at(100, 925), roomy},
		{roomy, at(100, 985), full},
		{roomy, etcdstore.Space{InUse: 1, Allocated: 1, Quota: 1000, NoSpace: true}, full},
	} {
		if got := c.was.next(c.sp); got != c.want {
			t.Errorf("%d with %+v: %d, want %d", c.was, c.sp, got, c.want)
		}
	}
}
