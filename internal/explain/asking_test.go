package explain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// asked takes what the nodes answer, of which busy runs the instance, and gives which were asked.
func asked(f *facts, busy string) (nodes []string) {
	var mu sync.Mutex
	all := ask(context.Background(), f.toAsk(), Question{Instance: "i"}, func(_ context.Context, n cluster.Node, _ Question) (Known, error) {
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, n.ID)
		switch n.ID {
		case busy:
			return Known{Running: doing("go1", 0, 0)}, nil
		case "down":
			return Known{}, errors.New("it does not answer")
		}
		return Known{}, nil
	})
	f.takeRunning(all)
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

// What the others say counts for who has the lock, or for all where nobody has it.
func TestWhoRunsIsWhoHasTheLock(t *testing.T) {
	t.Parallel()
	here := doing("here", 0, 0)
	for name, tc := range map[string]struct {
		f    *facts
		want *client.Running
		by   string
	}{
		"it works here":        {suspended(event("approved")).with(func(f *facts) { f.running = here }), here, ""},
		"this node holds it":   {suspended(event("approved")).with(func(f *facts) { f.running, f.claims = here, []cluster.Holder{holder("n1", 0xa, 0)} }), here, ""},
		"another holds it":     {suspended(event("approved")).with(func(f *facts) { f.running, f.claims = here, []cluster.Holder{holder("n2", 0xb, 0)} }), doing("go1", 0, 0), ""},
		"who holds it is gone": {suspended(event("approved")).with(func(f *facts) { f.running, f.claims = here, []cluster.Holder{holder("n9", 0x9, 0)} }), nil, ""},
		"another works it":     {suspended(event("approved")), doing("go1", 0, 0), "n2"},
		"it has ended": {suspended().with(func(f *facts) {
			f.Record.Header.SubStatus, f.Record.Header.Status = workflow.Finished, workflow.StatusFinished
		}), nil, ""},
	} {
		if nodes := asked(tc.f, "n2"); !slices.Equal(nodes, []string{"n2"}) {
			t.Errorf("%s: asked %q", name, nodes)
		}
		if got := tc.f.running; (got == nil) != (tc.want == nil) || got != nil && got.Doing.ActivityID != tc.want.Doing.ActivityID || tc.f.by != tc.by {
			t.Errorf("%s: %+v by %q", name, got, tc.f.by)
		}
	}
}

// Of what cannot be read, and of what is not there, nobody knows more but who has its lock.
func TestOfADamagedOneItsHolderIsAsked(t *testing.T) {
	t.Parallel()
	damaged := func(f *facts) { f.Record, f.Damage = nil, errors.New("no JSON") }
	if nodes := asked(suspended().with(damaged), ""); len(nodes) > 0 {
		t.Errorf("asked %q", nodes)
	}
	held := suspended().with(damaged).with(func(f *facts) {
		f.members = append(f.members, cluster.Node{ID: "n3", LeaseID: "c"})
		f.claims = []cluster.Holder{holder("n2", 0xb, 0)}
	})
	if nodes := asked(held, "n2"); !slices.Equal(nodes, []string{"n2"}) || held.running == nil {
		t.Errorf("asked %q, %+v", nodes, held.running)
	}
}

// Nobody is asked for nothing.
func TestWithoutAQuestionNobodyIsAsked(t *testing.T) {
	t.Parallel()
	if all := ask(context.Background(), []cluster.Node{{ID: "n2"}}, Question{}, nil); all != nil {
		t.Errorf("%+v", all)
	}
	if x := new(Explainer); x.lately(nil, []told{{node: "n2", Known: Known{Events: []recent.Event{{Name: "a", At: now}}}}}) != nil {
		t.Error("without a name there are events")
	}
}
