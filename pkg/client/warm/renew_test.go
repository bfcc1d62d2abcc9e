package warm

import (
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
)

// A burst goes on only on the very record that it was committed with, and once.
func TestABurstIsOfOneRevision(t *testing.T) {
	t.Parallel()
	env := engine.Env{Now: time.Now}
	for modified, want := range map[int64]bool{1: true, 2: false} {
		l := Instance{Record: &store.Record{Modified: 1}, Burst: &engine.Burst{}}
		if got := l.Renew(&store.Record{Modified: modified}, nil, env); (got != nil) != want {
			t.Errorf("revision %d: %v", modified, got)
		}
		if l.Burst != nil {
			t.Error("it is to be had again")
		}
	}
}
