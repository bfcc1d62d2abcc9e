package upkeep_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// outside is what activities of the type test.Hang wait for.
type outside struct {
	answers chan struct{} // closed when it does
	begun   atomic.Int64
	waits   atomic.Int64
	most    atomic.Int64
	seen    sync.Map // instance → true
}

func newOutside(t testing.TB) *outside {
	t.Helper()
	o := &outside{answers: make(chan struct{})}
	t.Cleanup(o.answer)
	return o
}

func (o *outside) answer() {
	select {
	case <-o.answers:
	default:
		close(o.answers)
	}
}

func (o *outside) hang(ctx context.Context, x *engine.Execution, _ struct{}) (struct{}, error) {
	o.begun.Add(1)
	n := o.waits.Add(1)
	defer o.waits.Add(-1)
	for {
		most := o.most.Load()
		if n <= most || o.most.CompareAndSwap(most, n) {
			break
		}
	}
	o.seen.Store(x.InstanceID(), true)
	select {
	case <-o.answers:
		return struct{}{}, nil
	case <-ctx.Done():
		return struct{}{}, ctx.Err()
	}
}

// registry has test.Hang.
func (o *outside) registry(t testing.TB) *engine.Registry {
	t.Helper()
	r := activities.Default()
	if err := engine.RegisterFunc(r, workflow.Descriptor{Type: "test.Hang"}, o.hang); err != nil {
		t.Fatal(err)
	}
	return r
}

// members are nodes whose activities wait for o, within limits.
func (o *outside) members(t testing.TB, n int, limits admission.Limits) []*member {
	t.Helper()
	name := clustertest.Namespace(t)
	out := make([]*member, n)
	hangs := func(c *membertest.Config) {
		c.Registry, c.Limits, c.Opening = o.registry(t), limits, 4 // fewer than run
	}
	for i := range out {
		out[i] = newMember(t, name, string(rune('a'+i)), hangs)
	}
	// Before the nodes stop, which would wait for it.
	t.Cleanup(o.answer)
	return out
}

func (m *member) dispatch(def, id string) {
	m.T.Helper()
	if _, err := m.Starts.Dispatch(m.T.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: id, CorrelationID: id}); err != nil {
		m.T.Fatal(err)
	}
}

const hangs = "id: hangs\nroot:\n  - test.Hang:\n  - writeLine: done\n"

// While what one definition asks of the outside does not answer, and more of its
// instances want to run than may, everything else goes on: timers, events, starts,
// children and their ends, and what another node left. And all of it is done once
// there is an answer.
func TestADefinitionThatHangsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	out := newOutside(t)
	c := out.members(t, 2, admission.Limits{PerDefinition: 16})
	c[0].Publish(hangs, membertest.Waits,
		"id: timed\nroot:\n  - delay: 1s\n  - writeLine: rang\n",
		"id: child\nroot:\n  - event: end\n",
		"id: parent\nroot:\n  - executeWorkflow: {workflowDefinitionId: child, correlationId: kid, waitForCompletion: true}\n  - writeLine: told\n")
	const n = 140
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { c[i%2].dispatch("hangs", fmt.Sprint("h", i)) })
	}
	wg.Wait()
	eventually(t, "as many hang as may, of those that are new and of those that were found", func() bool { return out.waits.Load() == 4*16 })

	c[0].Start("timed", "timed", "")
	c[0].Start("waits", "waits", "waits")
	c[1].Start("parent", "parent", "")
	c[0].dispatch("waits", "dispatched")
	soon := func(id string) {
		t.Helper()
		in, err := c[1].Inspector.WaitInstance(t.Context(), id, 10*time.Second)
		if err != nil || in.SubStatus != workflow.Finished {
			t.Errorf("%s: %s, %v", id, in.SubStatus, err)
		}
	}
	c[1].Event("go", "waits", nil)
	c[1].Event("end", "kid", nil)
	c[1].Event("go", "dispatched", nil)
	for _, id := range []string{"timed", "waits", "parent", "dispatched"} {
		soon(id)
	}
	if out.most.Load() > 4*16 {
		t.Errorf("%d hung at once", out.most.Load())
	}
	// A start that finds no place is accepted, and waits.
	res, err := c[0].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "hangs", InstanceID: "one-more"})
	if err != nil || !res.Accepted {
		t.Errorf("one more: %+v, %v", res, err)
	}
	out.answer()
	for i := range n {
		c[i%2].Finished(fmt.Sprint("h", i))
	}
	c[0].Finished("one-more")
}

// While all places of a definition hang, what waits for one ends when somebody cancels
// or deletes it, on whichever node, and so do the children that are told by mail.
func TestWhatWaitsBehindAFullDefinitionEnds(t *testing.T) {
	t.Parallel()
	out := newOutside(t)
	c := out.members(t, 2, admission.Limits{PerDefinition: 2})
	c[0].Publish("id: kid\nroot:\n  - event: never\n", `
id: jam
inputs:
  items: list
  fans: {type: boolean, default: false}
root:
  - if: ${{ inputs.fans }}
    then:
      - bulkDispatchWorkflows: {workflowDefinitionId: kid, items: "${{ inputs.items }}", waitForCompletion: true}
  - test.Hang:
`, `
id: family
root:
  - bulkDispatchWorkflows: {workflowDefinitionId: jam, items: [1, 2, 3, 4, 5, 6], waitForCompletion: true}
`)
	count := func(def string, is workflow.SubStatus) (n int) {
		p := runtime.Paging{Limit: 100}
		for {
			page, err := c[0].Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: def, SubStatus: is}, p)
			if err != nil {
				t.Fatal(err)
			}
			n += len(page.Items)
			if p.Cursor = page.Next; p.Cursor == "" {
				return n
			}
		}
	}
	const kids, n = 250, 24 // a commit cancels 100 children
	if _, err := c[0].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "jam", InstanceID: "parent", Input: map[string]any{"fans": true, "items": make([]any, kids)}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kids wait", func() bool { return count("kid", workflow.Suspended) == kids })
	for i := range n {
		c[i%2].dispatch("jam", fmt.Sprint("h", i))
	}
	eventually(t, "as many hang as may", func() bool { return out.waits.Load() == 8 })
	if _, err := c[0].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "family", InstanceID: "family"}); err != nil {
		t.Fatal(err)
	}
	var ended, left []string
	for i := range n {
		id := fmt.Sprint("h", i)
		if _, hangs := out.seen.Load(id); hangs || len(ended) == 8 {
			left = append(left, id)
			continue
		}
		var err error
		if len(ended)%4 > 1 {
			_, err = c[i%2].Commands.Delete(t.Context(), id)
		} else {
			_, err = c[i%2].Commands.Cancel(t.Context(), id, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		ended = append(ended, id)
	}
	for _, id := range []string{"parent", "family"} {
		if _, err := c[1].Commands.Cancel(t.Context(), id, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range ended {
		eventually(t, id+" has ended", func() bool {
			in, err := c[0].Inspector.Instance(t.Context(), id)
			if i%4 > 1 {
				return workflow.CodeOf(err) == workflow.CodeInstanceNotFound
			}
			return err == nil && in.SubStatus == workflow.Cancelled
		})
	}
	eventually(t, "the parents have ended, with all children", func() bool {
		return count("family", workflow.Cancelled) == 1 && count("kid", workflow.Cancelled) == kids && count("jam", workflow.Cancelled) == 4+1+6
	})
	if out.waits.Load() != 8 {
		t.Errorf("%d hang", out.waits.Load())
	}
	out.answer()
	for _, id := range left {
		c[0].Finished(id)
	}
	if n := out.begun.Load(); n != int64(len(left)) {
		t.Errorf("%d were run, of %d", n, len(left))
	}
}

// What a dead node left of another definition is taken over in time by a node on
// which a definition hangs.
func TestATakeoverFindsAPlaceBesideWhatHangs(t *testing.T) {
	t.Parallel()
	out, other := newOutside(t), newOutside(t)
	name := clustertest.Namespace(t)
	both := func(c *membertest.Config) {
		c.Limits = admission.Limits{PerDefinition: 8}
		c.Registry = out.registry(t)
		if err := engine.RegisterFunc(c.Registry, workflow.Descriptor{Type: "test.Other"}, other.hang); err != nil {
			t.Fatal(err)
		}
	}
	a, b := newMember(t, name, "a", both), newMember(t, name, "b", both)
	t.Cleanup(func() { out.answer(); other.answer() })
	a.Publish(hangs, "id: left\nroot:\n  - test.Other:\n  - writeLine: done\n")
	for i := range 64 {
		b.dispatch("hangs", fmt.Sprint("h", i))
	}
	eventually(t, "as many hang as may", func() bool { return out.waits.Load() >= 16 })
	if res, err := a.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "left", InstanceID: "left"}); err != nil || !res.Accepted {
		t.Fatalf("got %+v, %v", res, err) // it hangs on a, and is durable
	}
	a.die(func(clustertest.Call) bool { return true })
	b.expire("a")
	eventually(t, "b takes over", func() bool { return other.begun.Load() == 2 })
	other.answer()
	b.Finished("left")
}

// Hundreds of definitions hang, on a node with memory for a few of their bursts:
// each still has one, and so has what comes.
func TestHundredsOfDefinitionsHaveAPlaceEach(t *testing.T) {
	t.Parallel()
	out := newOutside(t)
	const n = 200
	m := out.members(t, 1, admission.Limits{Bytes: 1 << 20})[0]
	m.Publish("id: timed\nroot:\n  - delay: 1s\n  - writeLine: rang\n")
	var wg sync.WaitGroup
	for i := range n {
		def := fmt.Sprint("d", i)
		wg.Go(func() {
			m.Publish("id: " + def + "\nroot:\n  - test.Hang:\n")
			for k := range 3 {
				m.dispatch(def, fmt.Sprint(def, "-", k))
			}
		})
	}
	wg.Wait()
	eventually(t, "one of each definition runs", func() bool {
		for i := range n {
			ran := false
			for k := range 3 {
				_, ok := out.seen.Load(fmt.Sprint("d", i, "-", k))
				ran = ran || ok
			}
			if !ran {
				return false
			}
		}
		return true
	})
	if most := out.most.Load(); most >= 3*n {
		t.Errorf("%d bursts at once, as if memory had no bounds", most)
	}
	m.Start("timed", "timed", "")
	m.Finished("timed")
	out.answer()
	for i := range n {
		for k := range 3 {
			m.Finished(fmt.Sprint("d", i, "-", k))
		}
	}
}
