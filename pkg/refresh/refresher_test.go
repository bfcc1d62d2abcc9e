package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/refresh"
)

func (b *bundle) triggers() []string {
	b.Helper()
	prefix := cluster.Root(b.name) + "trigger/"
	resp, err := b.client.Get(b.Context(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		b.Fatal(err)
	}
	var out []string
	for _, kv := range resp.Kvs {
		out = append(out, strings.Split(strings.TrimPrefix(string(kv.Key), prefix), "/")[1])
	}
	slices.Sort(out)
	return out
}

func (b *bundle) dropTriggers() {
	b.Helper()
	if _, err := b.client.Delete(b.Context(), cluster.Root(b.name)+"trigger/", clientv3.WithPrefix()); err != nil {
		b.Fatal(err)
	}
}

func TestARefreshIndexesAgain(t *testing.T) {
	b := newBundle(t)
	n := b.node("node-1")
	for _, id := range []string{"a", "b", "c"} {
		n.publish(waiting(id, "e"))
	}
	if err := n.catalog.Retract(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	b.dropTriggers()
	r, err := n.local().Refresh(t.Context(), []string{"b", "nothing", "b", "c", "no/id"})
	if err != nil || r.Status != refresh.Completed || !slices.Equal(r.Refreshed, []string{"b"}) || len(r.NotRefreshed) != 3 || r.NotRefreshed[0].Reason == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := b.triggers(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("triggers of %v", got)
	}
	if r, err = n.local().Refresh(t.Context(), nil); err != nil || !slices.Equal(r.Refreshed, []string{"a", "b"}) || len(r.NotRefreshed) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := b.triggers(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("triggers of %v", got)
	}
	if h, err := n.catalog.Confirm(t.Context(), "a"); err != nil || h.Published != 1 || h.Latest != 1 {
		t.Errorf("a refresh made a version: %+v, %v", h, err)
	}
	if n.counted(metrics.TargetRefresh, metrics.RefreshCompleted) != 2 {
		t.Error("two refreshes should have been counted")
	}
}

// The case: the same set in any order at once.
func TestTheSameSetIsRefreshedByOneNode(t *testing.T) {
	b := newBundle(t)
	nodes := b.nodes(3)
	for _, id := range []string{"a", "b"} {
		nodes[0].publish(waiting(id, "e"))
	}
	sets := [][]string{{"a", "b"}, {"b", "a", "a"}, {"b", "a"}}
	const rounds = 10
	refused := make([]int, len(nodes))
	for range rounds {
		g := newGate(nodes[0].local())
		results := make([]refresh.Result, len(nodes))
		errs := make([]error, len(nodes))
		var all, others sync.WaitGroup
		others.Add(len(nodes) - 1)
		for i, n := range nodes {
			all.Go(func() {
				results[i], errs[i] = n.refresher(g).Refresh(t.Context(), sets[i])
				if results[i].Status == refresh.AlreadyInProgress {
					others.Done()
				}
			})
		}
		if ids := <-g.entered; !slices.Equal(ids, []string{"a", "b"}) {
			t.Errorf("refreshes %v", ids)
		}
		others.Wait() // they answer while the holder is at work
		close(g.goOn)
		all.Wait()
		winner := slices.IndexFunc(results, func(r refresh.Result) bool { return r.Status == refresh.Completed })
		for i, r := range results {
			switch {
			case errs[i] != nil:
				t.Error(errs[i])
			case i == winner:
				if !slices.Equal(r.Refreshed, []string{"a", "b"}) || r.Holder != "" {
					t.Errorf("%+v", r)
				}
			default:
				refused[i]++
				if r.Status != refresh.AlreadyInProgress || r.Holder != nodes[winner].id || len(r.Refreshed) != 0 {
					t.Errorf("%+v, while %s does it", r, nodes[winner].id)
				}
				if len(r.NotRefreshed) != 2 || r.NotRefreshed[0].ID != "a" || !strings.Contains(r.NotRefreshed[1].Reason, nodes[winner].id) {
					t.Errorf("not refreshed: %+v", r.NotRefreshed)
				}
			}
		}
	}
	completed, already := 0, 0
	for i, n := range nodes {
		completed += n.counted(metrics.TargetRefresh, metrics.RefreshCompleted)
		got := n.counted(metrics.TargetRefresh, metrics.RefreshAlreadyInProgress)
		if already += got; got != refused[i] {
			t.Errorf("%s counted %d refusals, and was refused %d times", n.id, got, refused[i])
		}
	}
	if completed != rounds || already != rounds*(len(nodes)-1) {
		t.Errorf("%d completed and %d already in progress were counted", completed, already)
	}
}

func TestOtherSetsDoNotBlockEachOther(t *testing.T) {
	b := newBundle(t)
	nodes := b.nodes(3)
	var ids []string
	for i := range 6 {
		ids = append(ids, fmt.Sprint("d", i))
		nodes[0].publish(waiting(ids[i], "e"))
	}
	b.dropTriggers()
	gates := make([]*gate, 3)
	var all sync.WaitGroup
	for i, set := range [][]string{ids[:3], ids[2:], nil} {
		gates[i] = newGate(nodes[i].local())
		all.Go(func() {
			r, err := nodes[i].refresher(gates[i]).Refresh(t.Context(), set)
			if want := max(len(set), 6*(i/2)); err != nil || r.Status != refresh.Completed || len(r.Refreshed) != want {
				t.Errorf("%v: %+v, %v", set, r, err)
			}
		})
	}
	for _, g := range gates {
		<-g.entered // all three are inside at once
	}
	for _, g := range gates {
		close(g.goOn)
	}
	// Meanwhile versions are published.
	for range 5 {
		for _, id := range ids {
			all.Go(func() { nodes[1].publish(waiting(id, "other")) })
		}
	}
	all.Wait()
	if got := b.triggers(); !slices.Equal(got, ids) {
		t.Errorf("triggers of %v", got)
	}
	for _, id := range ids {
		if h, err := nodes[2].catalog.Confirm(t.Context(), id); err != nil || h.Published != 2 {
			t.Errorf("%+v, %v", h, err)
		}
	}
}

func TestAHolderThatDiesFreesTheRefresh(t *testing.T) {
	b := newBundle(t)
	nodes := b.nodes(2)
	nodes[0].publish(waiting("a", "e"))
	g := newGate(nodes[0].local())
	died := make(chan error, 1)
	go func() {
		_, err := nodes[0].refresher(g).Refresh(context.WithoutCancel(t.Context()), []string{"a"})
		died <- err
	}()
	<-g.entered
	second := nodes[1].refresher(nodes[1].local())
	if r, err := second.Refresh(t.Context(), []string{"a"}); err != nil || r.Status != refresh.AlreadyInProgress || r.Holder != "node-1" {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := b.client.Revoke(t.Context(), nodes[0].session.Epoch().Lease); err != nil {
		t.Fatal(err)
	}
	if r, err := second.Refresh(t.Context(), []string{"a"}); err != nil || r.Status != refresh.Completed {
		t.Errorf("after its death: %+v, %v", r, err)
	}
	if err := <-died; !errors.Is(err, cluster.ErrLockLost) {
		t.Errorf("the dead holder's work ended with %v", err)
	}
}

func TestAFailingRefreshFreesTheLock(t *testing.T) {
	b := newBundle(t)
	n := b.node("node-1")
	n.publish(waiting("a", "e"))
	g := newGate(n.local())
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { _, err := n.refresher(g).Refresh(ctx, nil); failed <- err }()
	<-g.entered
	// Another goroutine of the same node is refused too.
	if r, err := n.refresher(g).Refresh(t.Context(), nil); err != nil || r.Status != refresh.AlreadyInProgress || r.Holder != "node-1" {
		t.Errorf("%+v, %v", r, err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if r, err := n.refresher(n.local()).Refresh(t.Context(), nil); err != nil || r.Status != refresh.Completed {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWithoutASessionNothingIsRefreshed(t *testing.T) {
	b := newBundle(t)
	n := b.node("node-1")
	if err := n.session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.refresher(n.local()).Refresh(t.Context(), nil); err == nil {
		t.Error("no error")
	}
	if n.counted(metrics.TargetRefresh, metrics.RefreshFailed) != 1 {
		t.Error("the failure was not counted")
	}
}
