package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// onHead matches writes of a definition's head.
func (d *defs) onHead(id string) func(clustertest.Call) bool {
	return func(c clustertest.Call) bool { return c.PutsUnder(d.Keys.Head(id)) }
}

func testLostAnswer(d *defs) {
	t := d.tb
	for i, fault := range []clustertest.Fault{clustertest.LoseAnswer, clustertest.ApplyTwice, clustertest.FailBefore} {
		rule := d.faults.Add(clustertest.Rule{Fault: fault, Match: d.onHead("order"), Times: 1})
		h, err := d.publish("order", fmt.Sprint("content ", i), triggers("h"))
		if err != nil || rule.Fired() != 1 {
			t.Fatalf("fault %v: %v", fault, err)
		}
		now := d.wantHead("order", i+1, i+1)
		if h.Modified != now.Modified || h.Published != now.Published {
			t.Errorf("fault %v: written %+v, read %+v", fault, h, now)
		}
	}
	rule := d.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Match: d.onHead("order"), Times: 1})
	if _, err := d.Retract(d.ctx(), d.state("order", ""), d.now); err != nil || rule.Fired() != 1 {
		t.Errorf("retract: %v", err)
	}
	d.wantHead("order", 0, 3)
}

// between runs f when the next write of the head is about to be sent for the
// nth time. f uses the client without faults.
func (d *defs) between(id string, nth int, f func()) {
	match, n := d.onHead(id), 0
	d.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
		if n < 0 || !match(c) {
			return false
		}
		if n++; n == nth {
			n = -1
			f()
		}
		return false
	}})
}

func testLostAnswerBelow(d *defs) {
	t := d.tb
	d.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Match: d.onHead("order"), Times: 1})
	st := d.state("order", "")
	other := d.other()
	// The first copy is applied and its answer lost; before the second one others
	// write on top.
	d.between("order", 1, func() {
		for i := range 3 {
			other.mustPublish("order", fmt.Sprint("on top ", i), triggers("h"))
		}
	})
	h, err := d.publishOn(st, "below", triggers("h"))
	if err != nil {
		t.Fatalf("the publication was applied, and is reported as %v", err)
	}
	if h.Published != 1 {
		t.Errorf("published as %d", h.Published)
	}
	d.wantHead("order", 4, 4)
}

// other is the same store without faults.
func (d *defs) other() *defs {
	s, err := New(Config{Client: d.raw, Root: d.Keys.Root})
	if err != nil {
		d.tb.Fatal(err)
	}
	o := *d
	o.allParts = all(s)
	return &o
}

func testLateCopy(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", triggers("h1"))
	d.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Match: d.onHead("order"), Times: 1})
	d.mustPublish("order", "two", triggers("h2"))
	if _, err := d.Retract(d.ctx(), d.state("order", ""), d.now); err != nil {
		t.Fatal(err)
	}
	if n := d.faults.Deliver(); n != 1 {
		t.Fatalf("%d late copies", n)
	}
	d.wantHead("order", 0, 2)
	d.wantKeys("trigger/", "")
}

func testLateCopyAfterDelete(d *defs) {
	t := d.tb
	d.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Match: d.onHead("order"), Times: 1})
	d.mustPublish("order", "one", triggers("h1"))
	if _, err := d.DeleteDefinition(d.ctx(), d.state("order", ""), false, d.now); err != nil {
		t.Fatal(err)
	}
	if ok, err := d.PurgeDefinition(d.ctx(), "order"); err != nil || !ok {
		t.Fatalf("purge: %v, %v", ok, err)
	}
	if n := d.faults.Deliver(); n != 1 {
		t.Fatalf("%d late copies", n)
	}
	if st := d.state("order", "one"); st.Exists() || st.Seen != 1 {
		t.Errorf("the definition is back: %+v", st.Head)
	}
	d.wantKeys("trigger/", "")
	d.wantKeys("definition-version/", "")
	if h := d.mustPublish("order", "one", triggers("h1")); h.Published != 2 {
		t.Errorf("published again as version %d", h.Published)
	}
}

func wantTaken(t testing.TB, err error, parts ...string) {
	t.Helper()
	if workflow.CodeOf(err) != workflow.CodeRouteTaken {
		t.Fatalf("error %v", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not name %q", err, p)
		}
	}
}

func testRouteTaken(d *defs) {
	t := d.tb
	d.mustPublish("first", "one", routes("orders/{id}"))
	_, err := d.publish("second", "two", routes("free", "orders/{number}"))
	wantTaken(t, err, "definition first", "GET orders/{number}")
	if st := d.state("second", "two"); st.Head != nil || st.Seen != 0 {
		t.Errorf("something was written: %+v", st)
	}
	wantTaken(t, d.CheckRoutes(d.ctx(), "second", routes("orders/{x}").Routes), "definition first")
	if err := d.CheckRoutes(d.ctx(), "first", routes("orders/{x}", "other").Routes); err != nil {
		t.Errorf("its own route: %v", err)
	}
	d.mustPublish("first", "one again", routes("orders/{nr}", "more"))
	if _, err := d.Retract(d.ctx(), d.state("first", ""), d.now); err != nil {
		t.Fatal(err)
	}
	d.mustPublish("second", "two", routes("free", "orders/{number}"))
	d.wantKeys("route/", "route/GET/free route/GET/orders%2F%7B%7D")
}

func testRefusalIsConclusive(d *defs) {
	t := d.tb
	d.mustPublish("first", "one", routes("a"))
	for _, id := range []string{"new", "old"} {
		if id == "old" {
			d.mustPublish(id, "before", triggers("t"))
		}
		d.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Match: d.onHead(id), Times: 1})
		_, err := d.publish(id, "two", routes("a"))
		wantTaken(t, err, "definition first")
		if _, err := d.Retract(d.ctx(), d.state("first", ""), d.now); err != nil {
			t.Fatal(err)
		}
		// Now the guard would hold.
		if n := d.faults.Deliver(); n != 1 {
			t.Fatalf("%d late copies", n)
		}
		d.wantKeys("route/", "")
		if st := d.state(id, "two"); st.Seen != 0 || st.Exists() != (id == "old") {
			t.Errorf("%s was published although that was refused: %+v", id, st.Head)
		}
		d.mustPublish("first", "again "+id, routes("a"))
	}
	d.wantHead("old", 1, 1)
}

func testManyWrites(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", triggers("h"))
	for range definitions.KeptWrites + 5 {
		st := d.state("order", "one")
		v, err := d.Version(d.ctx(), "order", 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.PublishVersion(d.ctx(), st, v, definitions.Published{}, d.now); err != nil {
			t.Fatal(err)
		}
	}
	if h := d.wantHead("order", 1, 1); len(h.Writes) != definitions.KeptWrites {
		t.Errorf("%d proofs are kept", len(h.Writes))
	}
}

func TestUnknownPublicationIsSaidToBeUnknown(t *testing.T) {
	t.Parallel()
	faults := clustertest.NewFaults(1)
	s, err := New(Config{Client: faults.Wrap(clustertest.Start(t).Client(t)), Root: "/weft/x/"})
	if err != nil {
		t.Fatal(err)
	}
	faults.Add(clustertest.Rule{Fault: clustertest.FailBefore})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = s.Definitions.PublishDefinition(ctx, &store.DefinitionState{ID: "a"}, store.DefinitionVersion{Hash: "h"}, definitions.Published{}, time.UnixMilli(1).UTC())
	if !errors.Is(err, db.ErrUnknown) {
		t.Errorf("error %v", err)
	}
	if n := faults.Calls("txn"); n != definitions.Resends+1 {
		t.Errorf("%d copies were sent", n)
	}
}
