package catalog_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// heads matches reads of one head.
func (n *node) heads(id string) func(clustertest.Call) bool {
	return func(c clustertest.Call) bool { return !c.Mutating && c.Touches(n.b.root()+"definition/"+id+"/head") }
}

func TestAMissIsConfirmedBeforeItIsNotFound(t *testing.T) {
	b := newBundle(t)
	writer, reader := b.node(), b.node() // without a watch
	_, err := reader.Head(t.Context(), "a")
	wantCode(t, err, workflow.CodeDefinitionNotFound)
	writer.mustPublish(simple("a", "x"))
	if h, err := reader.Head(t.Context(), "a"); err != nil || h.Published != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	reads := reader.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(clustertest.Call) bool { return true }})
	if h, err := reader.Head(t.Context(), "a"); err != nil || h.Published != 1 || reads.Fired() != 0 {
		t.Errorf("a hit asked etcd: %+v, %v", h, err)
	}
}

func TestTheTableFollowsTheWatch(t *testing.T) {
	b := newBundle(t)
	writer, reader := b.node(), b.node()
	reader.run()
	writer.mustPublish(simple("a", "x"))
	head := reader.HeadIn(t.Context())
	polltest.Eventually(b, "the new head arrives", func() bool { v, ok := head("a"); return ok && v == 1 })
	reads := reader.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: reader.heads("a")})
	before := reader.Revision()
	writer.mustPublish(simple("a", "y"))
	polltest.Eventually(b, "the second version arrives", func() bool { v, ok := head("a"); return ok && v == 2 })
	if reads.Fired() != 0 || reader.Revision() <= before {
		t.Errorf("it did not come by the watch: %d reads, revision %d", reads.Fired(), reader.Revision())
	}
	if err := writer.Retract(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	reads.Disarm()
	polltest.Eventually(b, "the retraction arrives", func() bool { _, ok := head("a"); return !ok })
}

// deaf is a watch that never says anything.
type deaf struct{ clientv3.Watcher }

func (deaf) Watch(ctx context.Context, _ string, _ ...clientv3.OpOption) clientv3.WatchChan {
	silent := make(chan clientv3.WatchResponse)
	context.AfterFunc(ctx, func() { close(silent) })
	return silent
}

func TestTheSweepFindsWhatTheWatchLost(t *testing.T) {
	b := newBundle(t)
	client := clustertest.Shared(t).Client(t)
	client.Watcher = deaf{client.Watcher}
	reader := b.nodeOn(client, catalog.Config{Sweep: 10 * time.Millisecond})
	reader.run()
	revision := b.node().mustPublishAt(simple("a", "x"))
	polltest.Eventually(b, "a sweep finds it", func() bool { return reader.Revision() >= revision })
}

// A table that knows less than it believes, for whatever reason, is right again
// after some sweeps.
func TestAFullSweepFindsWhatTheTableBelievesToKnow(t *testing.T) {
	b := newBundle(t)
	client := clustertest.Shared(t).Client(t)
	client.Watcher = deaf{client.Watcher}
	reader := b.nodeOn(client, catalog.Config{Sweep: 10 * time.Millisecond})
	reader.run()
	reader.Believe(reader.Revision() + 1_000_000)
	b.node().mustPublish(simple("a", "x"))
	polltest.Eventually(b, "a full sweep finds it", func() bool { return reader.Known("a") })
}

// The bodies of a deleted definition go an hour after the delete, whatever the
// clocks of who deleted it and of who removes them say.
func TestADeletedDefinitionIsPurgedByItsAge(t *testing.T) {
	b := newBundle(t)
	for i, years := range []int{-10, 0, 10} {
		writer := b.nodeWith(catalog.Config{Now: func() time.Time { return time.Now().AddDate(years, 0, 0) }})
		id := string(rune('a' + i))
		writer.mustPublish(simple(id, "x"))
		if err := writer.Delete(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
	}
	pass := func(d time.Duration) {
		t.Helper()
		for _, d := range []time.Duration{0, d} {
			s := b.node().store.Upkeep
			a, err := s.Age(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.AdvanceAge(t.Context(), a, d); err != nil || !ok {
				t.Fatal(ok, err)
			}
		}
	}
	for _, step := range []struct {
		passed time.Duration
		left   int
	}{{59 * time.Minute, 3}, {time.Minute, 0}} {
		pass(step.passed)
		for _, years := range []int{-10, 0, 10} {
			n := b.nodeWith(catalog.Config{Now: func() time.Time { return time.Now().AddDate(years, 0, 0) }})
			n.run()
			n.Purge(t.Context())
			if left := b.keysUnder("definition-version/"); step.left > 0 && len(left) != step.left {
				t.Fatalf("after %v more, by a clock %d years off, there are %v", step.passed, years, left)
			}
		}
		if left := b.keysUnder("definition-version/"); len(left) != step.left {
			t.Errorf("after %v more there are %v", step.passed, left)
		}
	}
}

func TestACompactedWatchReadsAgain(t *testing.T) {
	b := newBundle(t)
	etcd := clustertest.Start(t)
	b.client = etcd.Client(t)
	proxy := etcd.Proxy(t)
	reader := b.nodeOn(proxy.Client(t), catalog.Config{Sweep: time.Hour})
	writer := b.nodeOn(etcd.Client(t), catalog.Config{})
	writer.mustPublish(simple("a", "x"))
	reader.run()
	proxy.BlackHole()
	proxy.Cut()
	writer.mustPublish(simple("b", "x"))
	revision := writer.mustPublishAt(simple("a", "y"))
	if _, err := b.client.Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	proxy.Heal()
	polltest.Eventually(b, "the table goes on", func() bool { return reader.Revision() >= revision })
	head := reader.HeadIn(t.Context())
	if v, ok := head("a"); v != 2 || !ok {
		t.Errorf("version %d, %v", v, ok)
	}
}

func TestAVersionIsCompiledOnce(t *testing.T) {
	b := newBundle(t)
	b.node().mustPublish(simple("a", "x"))
	n := b.node()
	reads := n.faults.Add(clustertest.Rule{Fault: clustertest.DelayAnswer, Delay: time.Millisecond,
		Match: func(c clustertest.Call) bool { return c.Touches(b.root() + "definition-version/") }})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, def, err := n.Program(t.Context(), "a", 1); err != nil || def.ID != "a" {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if reads.Fired() != 1 {
		t.Errorf("the body was read %d times", reads.Fired())
	}
}

func TestOneCallersEndDoesNotFailTheOthers(t *testing.T) {
	b := newBundle(t)
	b.node().mustPublish(simple("a", "x"))
	n := b.node()
	began, goOn := make(chan struct{}), make(chan struct{})
	n.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Times: 1, Match: func(c clustertest.Call) bool {
		if !c.Touches(b.root() + "definition-version/") {
			return false
		}
		close(began)
		<-goOn
		return true
	}})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, _, err := n.Program(ctx, "a", 1); first <- err }()
	<-began
	second := make(chan error, 1)
	go func() { _, _, err := n.Program(t.Context(), "a", 1); second <- err }()
	cancel()
	if err := <-first; err == nil {
		t.Error("the first caller has a program, although it left")
	}
	close(goOn)
	if err := <-second; err != nil {
		t.Errorf("the second caller: %v", err)
	}
}

func TestOldProgramsAreForgotten(t *testing.T) {
	b := newBundle(t)
	writer := b.node()
	n := b.nodeWith(catalog.Config{Programs: 2})
	reads := n.faults.Add(clustertest.Rule{Fault: clustertest.DelayAnswer,
		Match: func(c clustertest.Call) bool { return c.Touches(b.root() + "definition-version/") }})
	for _, line := range []string{"1", "2", "3"} {
		v := writer.mustPublish(simple("a", line)).Version
		for range 2 {
			if _, _, err := n.Program(t.Context(), "a", v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if reads.Fired() != 3 {
		t.Errorf("%d reads for three versions", reads.Fired())
	}
	for _, v := range []int{3, 2, 1} {
		if _, _, err := n.Program(t.Context(), "a", v); err != nil {
			t.Fatal(err)
		}
	}
	if reads.Fired() != 4 {
		t.Errorf("%d reads: two versions should have been kept", reads.Fired())
	}
}

func TestListAndSource(t *testing.T) {
	n := newBundle(t).node()
	n.mustPublish(simple("b", "x") + "# kept\n")
	n.mustPublish(simple("a", "x"))
	items, end, err := n.List(t.Context(), "", 1)
	if err != nil || len(items) != 1 || items[0].ID != "a" || end.Next == "" {
		t.Fatalf("%+v, %+v, %v", items, end, err)
	}
	if items, end, err = n.List(t.Context(), end.Next, 1); err != nil || len(items) != 1 || items[0].ID != "b" || end.Next != "" {
		t.Errorf("%+v, %+v, %v", items, end, err)
	}
	src, err := n.Source(t.Context(), "b", 0, notation.YAML)
	if err != nil || string(src.Content) != simple("b", "x")+"# kept\n" || src.Converted || !src.Published {
		t.Errorf("%+v, %v", src, err)
	}
	if src, err = n.Source(t.Context(), "b", 1, notation.JSON); err != nil || !src.Converted {
		t.Fatalf("%+v, %v", src, err)
	}
	if _, err := n.Publish(t.Context(), catalog.PublishRequest{Source: src.Content, ContentType: src.Notation.ContentType(), Publish: true}); err != nil {
		t.Errorf("what was converted cannot be published: %v\n%s", err, src.Content)
	}
	if src, err = n.Source(t.Context(), "b", 0, notation.YAML); err != nil || !src.Converted || src.Version != 2 {
		t.Errorf("%+v, %v", src, err)
	}
}

// What is told of definitions is whole up to a revision, so that who was told up to there
// asks for what comes behind it, on any node.
func TestNewsAreInOrder(t *testing.T) {
	b := newBundle(t)
	writer, reader := b.node(), b.node()
	first, second := writer.mustPublishAt(simple("a", "x")), writer.mustPublishAt(simple("b", "x"))
	reader.Believe(first - 1)
	news := reader.Since(0)
	if _, err := reader.Head(t.Context(), "b"); err != nil { // read before the one in front of it
		t.Fatal(err)
	}
	<-news.More
	if news = reader.Since(0); len(news.Changes) != 0 || news.Revision != first-1 {
		t.Errorf("up to %d: %+v", first-1, news)
	}
	if _, err := reader.Published(t.Context()); err != nil { // reads all that is new
		t.Fatal(err)
	}
	<-news.More
	for after, want := range map[int64][]string{0: {"a", "b"}, first - 1: {"a", "b"}, first: {"b"}, second: nil, second + 1000: nil} {
		news := reader.Since(after)
		var got []string
		for _, c := range news.Changes {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, want) || news.Revision < second {
			t.Errorf("after %d: %v up to %d, want %v", after, got, news.Revision, want)
		}
	}
	if err := writer.Delete(t.Context(), "a", false); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Published(t.Context()); err != nil {
		t.Fatal(err)
	}
	if news := reader.Since(second); len(news.Changes) != 1 || !news.Changes[0].Deleted || news.Changes[0].ID != "a" {
		t.Errorf("after a delete: %+v", news)
	}
}
