package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/tasks"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// place is a store with tasks.
type place struct {
	*testing.T
	kept   *etcdstore.Store
	faults *clustertest.Faults
	at     time.Time // when the next task is made
	above  int64     // its priority, from the usual one on
	order  string    // its definition
	by     string    // by which it is to be fair
	made   int
}

func newPlace(t *testing.T) *place {
	t.Helper()
	faults := clustertest.NewFaults(1)
	kept, err := etcdstore.New(etcdstore.Config{Client: faults.Wrap(clustertest.Shared(t).Client(t)), Root: "/weft/" + clustertest.Namespace(t) + "/"})
	if err != nil {
		t.Fatal(err)
	}
	return &place{T: t, kept: kept, faults: faults, at: time.Now().Add(-48 * time.Hour).UTC(), order: "order"}
}

// add makes an instance with tasks of a name, a second apart.
func (p *place) add(name string, n int) {
	p.Helper()
	p.made++
	id := fmt.Sprintf("i%05d", p.made)
	h := workflow.Instance{ID: id, DefinitionID: p.order, Version: 1, Status: workflow.StatusRunning, SubStatus: workflow.Suspended, CreatedAt: p.at, UpdatedAt: p.at}
	for i := range n {
		p.at = p.at.Add(time.Second)
		terms := task.Terms{Above: p.above, FairBy: p.by}
		h.Bookmarks = append(h.Bookmarks, workflow.Bookmark{ID: workflow.BookmarkID(id, fmt.Sprintf("%03d", i)), ActivityID: "a", ActivityType: workflow.TaskType, Name: name, Hash: "hash", CreatedAt: p.at,
			Payload: terms.Into(map[string]any{})})
	}
	if _, err := p.kept.Instances.Commit(p.Context(), &store.Commit{ID: workflow.NewID(), After: store.Record{Header: h, Seq: 1}, At: p.at, Created: h.Bookmarks}); err != nil {
		p.Fatal(err)
	}
}

// desk is one that runs, of a node.
func (p *place) desk(node string, mine func(string) bool) *tasks.Desk {
	p.Helper()
	d := tasks.New(tasks.Config{Claims: p.kept.Claims, Node: node, Mine: mine})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	p.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			p.Error(err)
		}
	})
	return d
}

func (p *place) claim(d *tasks.Desk, most int, wait time.Duration, names ...string) []claims.Got {
	p.Helper()
	got, err := d.Claim(p.Context(), tasks.Ask{Names: names, Max: most, Lease: time.Hour, Wait: wait, Worker: "w"})
	if err != nil {
		p.Fatal(err)
	}
	return got
}

// A claim is one request, and what etcd looks at for it is about the same beside many free tasks and beside few; those that
// were taken are not walked over.
func TestAClaimCostsTheSameBesideMany(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	few, many := 100, testsize.Of(100_000, 6000)
	for _, of := range []struct {
		free  int
		above int64
	}{{few, 0}, {many, 0}, {testsize.Of(20_000, 4000), -task.UsualPriority}} { // the ranks of the last are to come
		p, free := newPlace(t), of.free
		if p.above = of.above; of.above < 0 {
			p.at = time.Now().Add(-time.Duration(free) * time.Second).UTC()
		}
		for range free / 100 {
			p.add("pack", 100)
		}
		d := p.desk("n1", nil)
		if len(p.claim(d, 1, 0, "pack")) != 1 { // it reads the first page, for which etcd counts all
			t.Fatal("nothing is free")
		}
		each := min(free, 2000) - 1
		requests, counted := p.faults.Calls("txn")+p.faults.Calls("get"), p.faults.Counted()
		last := ""
		for range each {
			got := p.claim(d, 1, 0, "pack")
			if len(got) != 1 || got[0].Task.ID <= last {
				t.Fatalf("behind %s came %+v", last, got)
			}
			last = got[0].Task.ID
		}
		requests, counted = p.faults.Calls("txn")+p.faults.Calls("get")-requests, p.faults.Counted()-counted
		if requests > each+each/20+3 || counted > int64(12*each+100) {
			t.Errorf("beside %d of priority %d, %d claims took %d requests, for which etcd counted %d keys", free, task.UsualPriority+of.above, each, requests, counted)
		}
	}
}

// However many workers on however many nodes ask at the same time, each task is given once, and those of all names that
// are asked for.
func TestEachTaskIsGivenOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for range 5 {
		p.add("pack", 20)
		p.add("fold", 20)
		p.add("other", 1)
	}
	desks := []*tasks.Desk{p.desk("n1", func(task string) bool { return task < "i00008" }), p.desk("n2", func(task string) bool { return task >= "i00008" })}
	var mu sync.Mutex
	given := map[string]int{}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for {
				got, err := desks[i%2].Claim(p.Context(), tasks.Ask{Names: []string{"pack", "fold"}, Max: 1 + i, Lease: time.Hour, Worker: fmt.Sprint(i)})
				if err != nil {
					t.Error(err)
				}
				if len(got) == 0 {
					return
				}
				mu.Lock()
				for _, g := range got {
					given[g.Task.ID]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	once := 0
	for task, n := range given {
		if once++; n != 1 {
			t.Errorf("task %s was given %d times", task, n)
		}
	}
	if once != 200 || len(p.claim(desks[0], 10, 0, "other")) != 5 {
		t.Errorf("%d tasks were given", once)
	}
}

// Definitions take turns, and so do the values within one, however many tasks the others have and how old those are; one
// claim costs what it does without.
func TestDefinitionsTakeTurns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.order = "big"
	for range 3 {
		p.add("pack", 100)
	}
	p.order = "small"
	for _, p.by = range []string{"north", "south", "north"} {
		p.add("pack", 2)
	}
	d := p.desk("n1", nil)
	p.claim(d, 1, 0, "other") // it has the watch begin, with which what was read before is read again
	polltest.Eventually(t, "the desk watches", d.Watches)
	p.claim(d, 1, 0, "pack") // of the oldest, and it reads
	before := p.faults.Calls("txn") + p.faults.Calls("get")
	var got []string
	for range 14 {
		g := p.claim(d, 1, 0, "pack")[0]
		fair := task.Of(&g.Task)
		got = append(got, g.Definition+fair.FairBy)
	}
	want := []string{"smallnorth", "big", "smallsouth", "big", "smallnorth", "big", "smallsouth", "big", "smallnorth", "big", "smallnorth", "big", "big", "big"}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if n := p.faults.Calls("txn") + p.faults.Calls("get") - before; n > 15 {
		t.Errorf("14 claims took %d requests", n)
	}
	// What is released, and what its lease frees, is in its lane still.
	g := p.claim(d, 1, 0, "pack")[0]
	p.add("pack", 1) // small, south
	if _, err := p.kept.Claims.Release(t.Context(), g.Task.ID, g.Named(), false, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	free, err := p.kept.Claims.Free(t.Context(), "pack", "", time.Time{}, 1)
	if err != nil || len(free.Free) != 1 || free.Free[0].Past.Definition != "big" || free.Free[0].Task().ID != g.Task.ID {
		t.Errorf("%+v, %v", free, err)
	}
}

// A worker that waits gets what comes, also of a node that is not preferred for it, and what is released; one that gives
// up leaves its turn to the next.
func TestWhoWaitsIsWoken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.desk("n1", func(string) bool { return false })
	ctx, leaves := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := d.Claim(ctx, tasks.Ask{Names: []string{"pack"}, Max: 1, Lease: time.Hour, Wait: time.Hour, Worker: "leaves"})
		left <- err
	}()
	got := make(chan []claims.Got, 2)
	leaves()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 2 {
		go func() { got <- p.claim(d, 1, time.Hour, "none", "pack") }()
	}
	p.add("pack", 1)
	first := <-got
	if len(first) != 1 {
		t.Fatalf("%+v", first)
	}
	if _, err := p.kept.Claims.Release(t.Context(), first[0].Task.ID, first[0].Named(), true, "no paper", time.Now()); err != nil {
		t.Fatal(err)
	}
	second := <-got
	if len(second) != 1 || second[0].Task.ID != first[0].Task.ID || second[0].Claim.Attempt != 2 {
		t.Errorf("%+v", second)
	}
	if none := p.claim(d, 1, 0, "pack"); len(none) != 0 {
		t.Errorf("%+v", none)
	}
}

// A node that takes up nothing tells who asks, and who waits.
func TestWhoWaitsHearsThatNothingIsTakenUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	drains := errors.New("it drains")
	asked := 0
	d := tasks.New(tasks.Config{Claims: p.kept.Claims, Accepts: func() error {
		if asked++; asked > 1 {
			return drains
		}
		return nil
	}})
	if _, err := d.Claim(t.Context(), tasks.Ask{Names: []string{"pack"}, Max: 1, Wait: time.Hour}); !errors.Is(err, drains) {
		t.Errorf("%v", err)
	}
}

// Only so many calls wait at once; who does not wait is served.
func TestAsManyWaitAsMay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	waits, asked := make(chan struct{}), 0
	d := tasks.New(tasks.Config{Claims: p.kept.Claims, Waiting: 1, Accepts: func() error {
		if asked++; asked == 1 {
			close(waits)
		}
		return nil
	}})
	ctx, leaves := context.WithCancel(t.Context())
	left := make(chan error, 1)
	ask := tasks.Ask{Names: []string{"pack"}, Max: 1, Lease: time.Hour, Wait: time.Hour}
	go func() {
		_, err := d.Claim(ctx, ask)
		left <- err
	}()
	<-waits
	if _, err := d.Claim(t.Context(), ask); workflow.CodeOf(err) != workflow.CodeBusy {
		t.Errorf("%v", err)
	}
	leaves()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.add("pack", 1)
	if got := p.claim(d, 1, time.Hour, "pack"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// Without a watch, as where etcd begins none, a desk finds what is free and what comes all the same.
func TestADeskWithoutAWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := tasks.New(tasks.Config{Claims: p.kept.Claims}) // which nobody runs
	p.add("pack", 3)
	var names []string
	for _, g := range p.claim(d, 2, 0, "pack") {
		names = append(names, g.Task.ID)
	}
	if !slices.Equal(names, []string{"i00001~000", "i00001~001"}) {
		t.Error(names)
	}
	p.claim(d, 2, 0, "pack")
	got := make(chan []claims.Got, 1)
	go func() { got <- p.claim(d, 1, time.Hour, "pack") }()
	p.add("pack", 1)
	if g := <-got; len(g) != 1 {
		t.Errorf("%+v", g)
	}
}
