package etcdstore

import (
	"errors"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// Creating takes no lock: a start in hand must not put its instance in the place
// of one that was dispatched meanwhile.
func TestAStartInHandDoesNotReplaceWhatWasDispatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.lock("i", "1")
	start := func(id string) workflow.Command {
		return workflow.Command{ID: id, Kind: workflow.CommandStart, CreatedAt: w.now, Start: &workflow.Start{DefinitionID: "order", Version: 1}}
	}
	own := start("dispatched")
	out, err := w.Create(w.ctx(), &lookup.NewInstance{Header: NewHeader("i", own, w.now), Command: own}, nil)
	if w.ok(err); out != stimuli.Created {
		t.Fatal(out)
	}
	before := w.dump()
	inHand := start("in-hand")
	_, err = w.Secure(w.ctx(), f, "i", nil, &store.Record{Header: NewHeader("i", inHand, w.now)}, inHand)
	if !errors.Is(err, store.ErrFenced) {
		t.Errorf("got %v", err)
	}
	if after := w.dump(); len(after) != len(before) || after["instance/i"] != before["instance/i"] {
		t.Errorf("it wrote %v", after)
	}
}

// A start in hand whose twin on another node made the instance goes on with what
// that one made: other index entries than its own would have, and a gate.
func TestAStartInHandGoesOnWithWhatItsTwinMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.lock("i", "1")
	twin := workflow.Command{ID: "s", Kind: workflow.CommandStart, CreatedAt: w.now, Start: &workflow.Start{DefinitionID: "order", Version: 1}}
	made := &lookup.NewInstance{Header: NewHeader("i", twin, w.now), Command: twin, Gate: &store.Gate{Definition: "order"}}
	out, err := w.Create(w.ctx(), made, nil)
	if w.ok(err); out != stimuli.Created {
		t.Fatal(out)
	}
	inHand := twin
	inHand.CreatedAt = w.now.Add(time.Second)
	fresh := &store.Record{Header: NewHeader("i", inHand, inHand.CreatedAt)}
	fresh.Header.SubStatus = workflow.Executing
	created, err := w.Secure(w.ctx(), f, "i", nil, fresh, inHand)
	w.ok(err)
	if fresh.Header.SubStatus != workflow.Pending || !fresh.Header.CreatedAt.Equal(w.now) || fresh.Gate == nil || fresh.Modified != created {
		t.Errorf("it goes on with %+v", fresh)
	}
	c := w.first("i", f)
	c.Before = fresh
	ends(c)
	c.After.Gate = fresh.Gate
	c.After.Header.FinishedAt = &w.now
	c.Consumed = []store.Consumed{{Command: inHand, Created: created, Effect: store.Effect{InstanceID: "i", Outcome: workflow.OutcomeStarted}}}
	w.commit(c)
	w.sound()
}

// The revision is what the key is known by: by what counts attempts, and by what
// discards.
func TestSecuringAgainTellsTheRevisionOfTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rec, f, b := w.instance("a", "paid"), w.lock("a", "me"), w.look(event("paid")).Bookmarks[0]
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
	secure := func() (int64, error) { return w.Secure(w.ctx(), f, "a", rec, nil, w.resume("c1", &b, nil)) }
	if _, err := secure(); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	rev, err := secure()
	w.ok(err)
	if m := w.mailOf("a")[0]; m.Created != rev {
		t.Errorf("it was put at %d, and told %d", m.Created, rev)
	}
}

// What ends an instance is found by its interrupt key also when it was in hand first.
func TestWhatEndsIsFoundOnceItIsSecured(t *testing.T) {
	t.Parallel()
	for kind, found := range map[workflow.CommandKind]string{workflow.CommandCancel: "c1", workflow.CommandDelete: "c1", workflow.CommandRetry: ""} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			rec, f := w.instance("a", "paid"), w.lock("a", "me")
			cmd := workflow.Command{ID: "c1", Kind: kind, CreatedAt: w.now}
			created, err := w.Secure(w.ctx(), f, "a", rec, nil, cmd)
			w.ok(err)
			id, err := w.Instances.Interrupted(w.ctx(), "a")
			if w.ok(err); id != found {
				t.Errorf("by its interrupt key %q is found, want %q", id, found)
			}
			c := w.next("a", f)
			c.Consumed = []store.Consumed{{Command: cmd, Created: created, Effect: store.Effect{InstanceID: "a", Outcome: "done"}}}
			w.commit(c)
			if id, err = w.Instances.Interrupted(w.ctx(), "a"); err != nil || id != "" {
				t.Errorf("it is over, and %q is found, %v", id, err)
			}
		})
	}
}
