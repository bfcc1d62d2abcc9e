package etcdstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/pkg/workflow"
)

// behindGate is a send record with one start, and what makes that wait behind the
// gate of order.
func (w *world) behindGate(id, instance string) (*store.Send, []stimuli.Delivery) {
	w.tb.Helper()
	trigger := store.TriggerRef{Hash: hashOf("paid"), DefinitionID: "order", Version: 1, ActivityID: "a", Activation: "Singleton"}
	w.ok(w.PutSend(w.ctx(), store.Send{ID: id, Stimulus: event("paid"), Targets: []store.Target{{Trigger: &trigger}}, CreatedAt: w.now}, nil))
	sends, _, err := w.Sends(w.ctx(), "", 100)
	w.ok(err)
	i := slices.IndexFunc(sends, func(s store.Send) bool { return s.ID == id })
	n, item := w.newInstance(instance, "start-"+instance, single), w.item(id, event("paid"))
	item.Held = &store.HeldStart{Event: id, Trigger: trigger, Gate: *single}
	return &sends[i], []stimuli.Delivery{{New: n, Command: n.Command, Wait: &item}}
}

// held is a start that waits behind the gate of order, which is free by now.
func (w *world) held(id, instance string) *store.QueueItem {
	w.tb.Helper()
	w.gated("holder-" + id)
	send, to := w.behindGate(id, instance)
	if ok, err := w.Deliver(w.ctx(), to, send, nil, nil, nil, nil); err != nil || !ok {
		w.tb.Fatalf("%t, %v", ok, err)
	}
	w.commit(ends(w.next("holder-"+id, nil)))
	isHeld, item, bad, err := w.NextHeld(w.ctx(), *single)
	if err != nil || bad != nil || isHeld || item == nil {
		w.tb.Fatalf("held %t, item %+v, %v, %v", isHeld, item, bad, err)
	}
	return item
}

// heldAgain is a held start as it was, after it went and was written once more.
func (w *world) heldAgain(id, instance string) *store.QueueItem {
	w.tb.Helper()
	item := w.held(id, instance)
	was := *item
	w.ok(w.DropHeld(w.ctx(), item))
	raw, err := db.Encode(item)
	w.ok(err)
	_, err = w.raw.Put(w.ctx(), item.At, string(raw))
	w.ok(err)
	return &was
}

func TestNothingWaitsBehindAGateThatIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send, to := w.behindGate("s", "a")
	if ok, err := w.Deliver(w.ctx(), to, send, nil, nil, nil, nil); err != nil || ok {
		t.Errorf("%t, %v: nobody would start it", ok, err)
	}
	w.want("send/", 1)
	w.want("queue/", 0)
}

func TestWhatWaitsBehindAGateStartsOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gated("holder")
	for i, n := range []int{2, 0, 1} {
		send, to := w.behindGate(fmt.Sprint("s", n), fmt.Sprint("i", n))
		to[0].Wait.CreatedAt = w.now.Add(time.Duration(n) * time.Millisecond)
		if ok, err := w.Deliver(w.ctx(), to, send, nil, nil, nil, nil); err != nil || !ok {
			t.Fatalf("%d: %t, %v", i, ok, err)
		}
	}
	last := "holder"
	for n := range 3 {
		held, item, _, err := w.NextHeld(w.ctx(), *single)
		if want := fmt.Sprint("s", n); err != nil || !held || item == nil || item.ID != want {
			t.Fatalf("held %t by %s, next %+v, %v, want %s", held, last, item, err, want)
		}
		id := fmt.Sprint("i", n)
		start := func() upkeep.HeldOutcome {
			out, err := w.StartHeld(w.ctx(), item, w.newInstance(id, "start-"+id, single))
			w.ok(err)
			return out
		}
		if out := start(); out != upkeep.HeldWaits {
			t.Errorf("behind a held gate: %d", out)
		}
		w.commit(ends(w.consumes(w.next(last, nil))))
		if out := start(); out != upkeep.HeldStarted {
			t.Errorf("behind a free gate: %d", out)
		}
		if out := start(); out != upkeep.HeldGone {
			t.Errorf("again: %d", out)
		}
		last = id
	}
	w.want("queue/", 0)
	w.want("timer/", 0)
}

// A node that stood still, while another put the start behind its gate, starts nothing:
// the item would be there beside the instance, and expire into a dead letter.
func TestAStartForASendRecordNeedsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gated("holder")
	send, to := w.behindGate("s", "a")
	if ok, err := w.Deliver(w.ctx(), to, send, nil, nil, nil, nil); err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	w.commit(ends(w.next("holder", nil)))
	late := w.newInstance("a", "start-a", single)
	late.Send = send
	if out, err := w.Create(w.ctx(), late, nil); err != nil || out != stimuli.CreateMoved {
		t.Errorf("%d, %v", out, err)
	}
	_, item, _, err := w.NextHeld(w.ctx(), *single)
	w.ok(err)
	if out, err := w.StartHeld(w.ctx(), item, w.newInstance("a", "start-a", single)); err != nil || out != upkeep.HeldStarted {
		t.Errorf("%d, %v", out, err)
	}

	standing, to := w.behindGate("s2", "b")
	w.commit(ends(w.consumes(w.next("a", nil))))
	to[0].New.Send = standing
	if out, err := w.Create(w.ctx(), to[0].New, nil); err != nil || out != stimuli.Created {
		t.Errorf("with its record: %d, %v", out, err)
	}
}

// A copy of a create that came late has done what the item means to do.
func TestAStartThatWasDoneIsDropped(t *testing.T) {
	t.Parallel()
	for name, ran := range map[string]bool{"there": false, "deleted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			item := w.held("s", "a")
			w.gated("a")
			w.commit(ends(w.next("a", nil)))
			if ran {
				w.remove("a")
			}
			out, err := w.StartHeld(w.ctx(), item, w.newInstance("a", "start-a", single))
			if err != nil || out != upkeep.HeldDone {
				t.Errorf("%d, %v", out, err)
			}
			w.ok(w.DropHeld(w.ctx(), item))
			w.want("queue/", 0)
			w.want("timer/", 0)
		})
	}
}

func TestGatesAreFoundByWhatWaitsBehindThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := []store.Gate{{Correlation: "x/y"}, {Definition: "a.b"}, {Definition: "a.b", Correlation: "k"}, {Definition: "z", Correlation: "~-"}}
	held := []store.Gate{{Definition: "a.b", Correlation: "j"}, {Definition: "y"}}
	for _, g := range held {
		_, err := w.raw.Put(w.ctx(), w.Keys.GateOf(g), "holder")
		w.ok(err)
	}
	for _, g := range slices.Concat(want, held) {
		for i := range 3 {
			item := w.item(fmt.Sprint("i", i), event("paid"))
			item.Held = &store.HeldStart{Gate: g}
			raw, err := db.Encode(item)
			w.ok(err)
			_, err = w.raw.Put(w.ctx(), w.QueueKey(&item), string(raw))
			w.ok(err)
		}
	}
	gates, n, next, err := w.FreedGates(w.ctx(), "")
	if err != nil || n != 18 || next != "" {
		t.Fatalf("%d, %q, %v", n, next, err)
	}
	for _, g := range want {
		if !slices.Contains(gates, g) {
			t.Errorf("%+v is not among %+v", g, gates)
		}
	}
	if len(gates) != len(want) {
		t.Errorf("%+v", gates)
	}
}

func TestAnItemThatCannotBeReadHoldsUpNobodyBehindItsGate(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "{", "[]", `{"id":"x"}`} {
		w := newWorld(t)
		item := w.held("s", "a")
		for i := range 25 { // more than one look reads
			_, err := w.raw.Put(w.ctx(), w.Keys.GatedQueue(*single)+fmt.Sprintf("%02d", i), value)
			w.ok(err)
		}
		_, next, bad, err := w.NextHeld(w.ctx(), *single)
		if err != nil || bad == nil || next == nil || next.ID != item.ID {
			t.Errorf("%q: next %+v, %v, %v", value, next, bad, err)
		}
	}
}

func TestWhatWaitedTooLongBehindAGateIsADeadLetterForThatStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := w.held("s", "a")
	due := w.inQueue()
	reason, err := w.ExpireQueueItem(w.ctx(), due[0], time.Minute, w.now)
	d, derr := w.DeadLetter(w.ctx(), record.StimulusDeadID("s", w.now))
	if err != nil || derr != nil || reason != workflow.DeadGated || d == nil || len(d.Targets) != 1 || d.Targets[0].Trigger == nil || d.Stimulus == nil {
		t.Errorf("%q, %v; %+v, %v", reason, err, d, derr)
	}
	if out, err := w.StartHeld(w.ctx(), item, w.newInstance("a", "start-a", single)); err != nil || out != upkeep.HeldGone {
		t.Errorf("%d, %v", out, err)
	}
	w.want("instance/a", 0)
}

func TestAScheduleSaysWhatAGateKeptOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held   bool
		starts int
		gated  int
	}{{false, 1, 0}, {false, 3, 2}, {true, 1, 1}, {true, 3, 3}} {
		w := newWorld(t)
		due, next := w.occurrence()
		if c.held {
			w.gated("holder")
		}
		var starts []lookup.NewInstance
		for i := range c.starts {
			starts = append(starts, *w.newInstance(fmt.Sprint("i", i), fmt.Sprint("s", i), single))
		}
		ok, gated, err := w.FireSchedule(w.ctx(), due, nil, next, starts)
		if err != nil || !ok || gated != c.gated {
			t.Errorf("%+v: %t, %d, %v", c, ok, gated, err)
		}
		entries, _, err := w.Schedules(w.ctx(), "", 10, 0)
		if err != nil || len(entries) != 1 || entries[0].Gated != int64(c.gated) || entries[0].GatedAt.IsZero() != (c.gated == 0) {
			t.Errorf("%+v: %+v, %v", c, entries, err)
		}
		w.want("instance/i", min(c.starts, 1)*map[bool]int{false: 1, true: 0}[c.held])
	}
}
