package explain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// asked is which nodes were asked for what they run, of which busy runs the instance.
func asked(f *facts, busy string) (nodes []string) {
	var mu sync.Mutex
	f.askOwner(context.Background(), "i", Peers{Running: func(_ context.Context, n cluster.Node, _ string) (*client.Running, error) {
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, n.ID)
		switch n.ID {
		case busy:
			return doing("go1", 0, 0), nil
		case "down":
			return nil, errors.New("it does not answer")
		}
		return nil, nil
	}})
	slices.Sort(nodes)
	return nodes
}

// A resume works without the lock for a moment: no key names its node, which is asked.
func TestWhoWorksWithoutTheLockIsFound(t *testing.T) {
	t.Parallel()
	three := func(f *facts) {
		f.members = append(f.members, cluster.Node{ID: "n3", LeaseID: "c"}, cluster.Node{ID: "down", LeaseID: "d"})
	}
	f := suspended(event("approved")).with(three)
	if nodes := asked(f, "n3"); !slices.Equal(nodes, []string{"down", "n2", "n3"}) {
		t.Errorf("asked %q", nodes)
	}
	x := judge("i", f)
	if x.State != Running || x.Cause != CauseActivity || x.Owner == nil || x.Owner.Node != "n3" || x.Owner.Self || x.Owner.Fence != 0 || !strings.Contains(x.Summary, "node n3 runs it; it is at activity go1") {
		t.Errorf("%+v: %s", x.Owner, x.Summary)
	}
	f = suspended(event("approved")).with(three)
	asked(f, "")
	if x := judge("i", f); x.State != Waiting || x.Owner != nil {
		t.Errorf("nobody works it: %s, %+v", x.State, x.Owner)
	}
}

// Nobody is asked in vain.
func TestWhoIsKnownIsNotLookedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		f    *facts
		want []string
	}{
		"it works here":      {suspended(event("approved")).with(func(f *facts) { f.running = doing("go1", 0, 0) }), nil},
		"this node holds it": {suspended(event("approved")).with(func(f *facts) { f.claims = []cluster.Holder{holder("n1", 0xa, 0)} }), nil},
		"another holds it":   {suspended(event("approved")).with(func(f *facts) { f.claims = []cluster.Holder{holder("n2", 0xb, 0)} }), []string{"n2"}},
		"it has ended": {suspended().with(func(f *facts) {
			f.Record.Header.SubStatus, f.Record.Header.Status = workflow.Finished, workflow.StatusFinished
		}), nil},
		"its record is damaged": {suspended().with(func(f *facts) { f.Record, f.Damage = nil, errors.New("no JSON") }), nil},
	} {
		if nodes := asked(tc.f, "n2"); !slices.Equal(nodes, tc.want) {
			t.Errorf("%s: asked %q, want %q", name, nodes, tc.want)
		}
	}
}
