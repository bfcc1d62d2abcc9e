package cluster

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

// Lines that no node tells any more are let go, also beside a node whose last lines are days old, which are shown once.
func TestAuditLetsGoBesideAQuietNode(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := commands{ask.New(ask.Streams{Out: &out, Err: &out}, nil, "test", "")}
	began := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	quiet := apiclient.AuditLine{NodeID: "quiet", RequestID: "q", Operation: "pause", Target: "of-quiet", Time: began}
	seen := map[auditKey]bool{}
	all := func(*apiclient.AuditLine) bool { return true }
	const rounds, page = 30, 1000
	for round := range rounds {
		var items []apiclient.AuditLine
		for i := range page { // the newest first
			n := (round+1)*page - i
			items = append(items, apiclient.AuditLine{NodeID: "busy", RequestID: fmt.Sprint(n), Operation: "sendEvent", Target: "of-busy", Time: began.Add(time.Duration(n) * time.Second)})
		}
		if err := a.auditNew(append(items, quiet), all, seen); err != nil {
			t.Fatal(err)
		}
		if len(seen) > auditSeen+page+1 {
			t.Fatalf("%d lines are remembered in round %d", len(seen), round)
		}
	}
	if got := strings.Count(out.String(), "of-quiet"); got != 1 {
		t.Errorf("the line of the quiet node was shown %d times", got)
	}
	if got := strings.Count(out.String(), "of-busy"); got != rounds*page {
		t.Errorf("%d lines of the busy node", got)
	}
}
