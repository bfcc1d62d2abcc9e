package client

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
)

// What must not happen is told with what one looks for then: the instance, the number of the commit that was refused, and
// the revision at which the node had the instance.
func TestABreachIsToldWithItsCommit(t *testing.T) {
	t.Parallel()
	for base, want := range map[*store.Record]string{nil: "sequence=1 revision=0", {Seq: 4, Modified: 77}: "sequence=5 revision=77"} {
		var log bytes.Buffer
		n := &Node{}
		n.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		o := &owner{handle: newHandle(n, "i"), ctx: t.Context(), base: base}
		_ = o.fail(store.ErrBreach)
		if !strings.Contains(log.String(), "instanceId=i "+want) {
			t.Errorf("it says %q, want %s", log.String(), want)
		}
	}
}
