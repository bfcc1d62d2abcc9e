package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// defs is one test's definitions: a cluster of its own, with faults to be
// injected.
type defs struct {
	allParts
	tb     testing.TB
	raw    *clientv3.Client // without faults
	faults *clustertest.Faults
	now    time.Time
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t)
	for name, test := range map[string]func(*defs){
		"publishing writes version, head, triggers, routes and cron keys":       testPublishWrites,
		"publishing replaces the keys of the version before":                    testPublishReplaces,
		"of several publications on one head one is applied":                    testOneOfSeveral,
		"a lost answer is resolved":                                             testLostAnswer,
		"a lost answer is resolved below later writes":                          testLostAnswerBelow,
		"a late copy does nothing":                                              testLateCopy,
		"a definition that was deleted does not come back by a late copy":       testLateCopyAfterDelete,
		"a taken route names its owner":                                         testRouteTaken,
		"a refused publication stays refused when the route becomes free":       testRefusalIsConclusive,
		"a draft leaves the published version alone":                            testDraft,
		"retracting removes everything that starts instances":                   testRetract,
		"deleting refuses while instances run":                                  testDeleteInUse,
		"deleting refuses an instance that starts meanwhile":                    testDeleteRace,
		"purging removes the bodies once nothing runs":                          testPurge,
		"purging leaves what is published meanwhile":                            testPurgeRace,
		"publishing keeps the occurrence that a schedule waits for":             testCronKept,
		"a schedule that fires during a publication goes on with its next":      testCronFired,
		"an outdated cron key does not fire and goes with the next publication": testCronOutdated,
		"a skip and a publication refuse each other":                            testSkipMeetsPublish,
		"a skip that meets a firing is refused":                                 testSkipMeetsFiring,
		"a skip is applied once under faults":                                   testSkipUnderFaults,
		"a skipped occurrence stays away when the next fires during publishing": testSkippedStaysAway,
		"an outdated occurrence that was put anew is not deleted":               testOutdatedPutAnew,
		"a thousand triggers are replaced by a thousand others in one step":     testThousandTriggers,
		"too many triggers are refused before they are sent":                    testTooManyTriggers,
		"a reader sees the triggers of one version":                             testAtomicTriggers,
		"lists skip what is deleted":                                            testList,
		"what starts a page of definitions costs a few requests":                testStarts,
		"watch and sweep give every change, deletions too":                      testWatch,
		"a version id names the newest of its definition, or the first one's":   testVersionID,
		"content that was published is known for ever":                          testSeen,
		"the proof of a write survives those that follow":                       testManyWrites,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := etcd.Client(t)
			faults := clustertest.NewFaults(1)
			s, err := New(Config{Client: faults.Wrap(etcd.Client(t)), Root: "/weft/" + clustertest.Namespace(t) + "/"})
			if err != nil {
				t.Fatal(err)
			}
			test(&defs{allParts: all(s), tb: t, raw: raw, faults: faults, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)})
		})
	}
}

func (d *defs) ctx() context.Context { return d.tb.Context() }

func (d *defs) state(id, hash string) *store.DefinitionState {
	d.tb.Helper()
	st, err := d.ReadDefinition(d.ctx(), id, hash)
	if err != nil {
		d.tb.Fatal(err)
	}
	return st
}

// publish publishes content as the next version of id.
func (d *defs) publish(id, content string, idx store.DefinitionIndex) (*store.DefinitionHead, error) {
	d.tb.Helper()
	return d.publishOn(d.state(id, content), content, idx)
}

func (d *defs) publishOn(st *store.DefinitionState, content string, idx store.DefinitionIndex) (*store.DefinitionHead, error) {
	v := store.DefinitionVersion{Hash: content, Notation: "yaml", Source: content}
	return d.PublishDefinition(d.ctx(), st, v, definitions.Published{Name: "Name of " + st.ID, Activation: "Singleton", Index: idx}, d.now)
}

func (d *defs) mustPublish(id, content string, idx store.DefinitionIndex) *store.DefinitionHead {
	d.tb.Helper()
	h, err := d.publish(id, content, idx)
	if err != nil {
		d.tb.Fatal(err)
	}
	return h
}

// keysUnder gives the keys below a part of the root, without the root.
func (d *defs) keysUnder(part string) string {
	d.tb.Helper()
	resp, err := d.raw.Get(d.ctx(), d.Keys.Root+part, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		d.tb.Fatal(err)
	}
	var out []string
	for _, kv := range resp.Kvs {
		out = append(out, strings.TrimPrefix(string(kv.Key), d.Keys.Root))
	}
	return strings.Join(out, " ")
}

func (d *defs) wantKeys(part, want string) {
	d.tb.Helper()
	if got := d.keysUnder(part); got != want {
		d.tb.Errorf("keys under %s are\n\t%s\nwant\n\t%s", part, got, want)
	}
}

func (d *defs) wantHead(id string, published, latest int) *store.DefinitionHead {
	d.tb.Helper()
	h, err := d.Definitions.Head(d.ctx(), id)
	if err != nil {
		d.tb.Fatal(err)
	}
	if h == nil || h.Published != published || h.Latest != latest {
		d.tb.Fatalf("head is %+v, want version %d published, %d the latest", h, published, latest)
	}
	return h
}

func triggers(hashes ...string) store.DefinitionIndex {
	var idx store.DefinitionIndex
	for _, h := range hashes {
		idx.Triggers = append(idx.Triggers, store.TriggerEntry{ActivityID: "a-" + h, ActivityType: "Elsa.Event", Hash: h})
	}
	return idx
}

func routes(templates ...string) store.DefinitionIndex {
	var idx store.DefinitionIndex
	for _, tmpl := range templates {
		idx.Routes = append(idx.Routes, store.RouteEntry{ActivityID: "http", Method: "GET", Template: tmpl, Hash: "h"})
	}
	return idx
}

func testPublishWrites(d *defs) {
	t := d.tb
	idx := triggers("h1")
	idx.Routes = routes("orders/{id}").Routes
	idx.Schedules = []store.CronEntry{{ActivityID: "c", Kind: store.ScheduleCron, Expression: "0 0 0 1 1 *", Due: time.UnixMilli(5000)}}
	h := d.mustPublish("order", "one", idx)
	if h.Published != 1 || h.Modified == 0 || h.PublishedAt != d.now || h.Activation != "Singleton" {
		t.Errorf("head as written: %+v", h)
	}
	read := d.wantHead("order", 1, 1)
	if read.Modified != h.Modified || read.Hash != "one" || read.Name != "Name of order" {
		t.Errorf("head as read: %+v", read)
	}
	d.wantKeys("trigger/", "trigger/h1/order/a-h1")
	d.wantKeys("route/", "route/GET/orders%2F%7B%7D")
	d.wantKeys("cron/", fmt.Sprintf("cron/%02x/0000000005000/order/c", record.TimerShard("order")))
	v, err := d.Version(d.ctx(), "order", 1)
	if err != nil || v == nil || v.Source != "one" || v.CreatedAt != d.now {
		t.Errorf("body: %+v, %v", v, err)
	}
	look, err := d.Stimuli.Match(d.ctx(), workflow.Stimulus{ActivityType: "Elsa.Event"}, "h1", "")
	if err != nil || len(look.Triggers) != 1 || look.Triggers[0].DefinitionID != "order" || look.Triggers[0].Version != 1 || look.Triggers[0].Modified != h.Modified {
		t.Errorf("a stimulus finds %+v, %v", look, err)
	}
}

func testPublishReplaces(d *defs) {
	t := d.tb
	idx := triggers("h1", "h2")
	idx.Routes = routes("a", "b").Routes
	d.mustPublish("order", "one", idx)
	idx = triggers("h2", "h3")
	idx.Routes = routes("b", "c").Routes
	h := d.mustPublish("order", "two", idx)
	d.wantHead("order", 2, 2)
	d.wantKeys("trigger/", "trigger/h2/order/a-h2 trigger/h3/order/a-h3")
	d.wantKeys("route/", "route/GET/b route/GET/c")
	d.wantKeys("definition-version/", "definition-version/order/00000001 definition-version/order/00000002")
	resp, err := d.raw.Get(d.ctx(), d.Keys.Root+"trigger/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		if kv.ModRevision != h.Modified {
			t.Errorf("%s was written at %d, the head at %d", kv.Key, kv.ModRevision, h.Modified)
		}
	}
	if st := d.state("order", "one"); st.Seen != 1 {
		t.Errorf("the first content was seen in version %d", st.Seen)
	}
}

func testOneOfSeveral(d *defs) {
	t := d.tb
	st := d.state("order", "")
	var applied, moved int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := d.publishOn(st, fmt.Sprint("content ", i), triggers("h"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				applied++
			case errors.Is(err, store.ErrHeadMoved):
				moved++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if applied != 1 || moved != 7 {
		t.Errorf("%d applied, %d found the head moved", applied, moved)
	}
	d.wantHead("order", 1, 1)
}

func testAtomicTriggers(d *defs) {
	t := d.tb
	a, b := triggers("h1", "h2", "h3"), triggers("h3", "h4")
	d.mustPublish("order", "a", a)
	ctx, stop := context.WithCancel(d.ctx())
	var all sync.WaitGroup
	all.Go(func() {
		defer stop()
		for i := range 60 {
			if _, err := d.publish("order", fmt.Sprint("c", i), [2]store.DefinitionIndex{b, a}[i%2]); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for ctx.Err() == nil {
		resp, err := d.raw.Get(d.ctx(), d.Keys.Root+"trigger/", clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		versions := map[int64]bool{}
		for _, kv := range resp.Kvs {
			seen = append(seen, strings.Split(strings.TrimPrefix(string(kv.Key), d.Keys.Root), "/")[1])
			versions[kv.ModRevision] = true
		}
		if got := strings.Join(seen, " "); got != "h1 h2 h3" && got != "h3 h4" || len(versions) != 1 {
			t.Fatalf("a reader saw %s of %d versions", got, len(versions))
		}
	}
	all.Wait()
}
