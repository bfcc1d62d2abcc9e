package etcdstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

var single = &store.Gate{Definition: "order"}

// gated makes an instance that holds a gate and ran its first burst.
func (w *world) gated(id string) {
	w.tb.Helper()
	if out, err := w.Create(w.ctx(), w.newInstance(id, "start-"+id, single), nil); err != nil || out != stimuli.Created {
		w.tb.Fatalf("outcome %d, %v", out, err)
	}
	w.commit(w.consumes(w.next(id, nil)))
}

func (w *world) holder() string { return w.dump()["gate/order/-"] }

func (w *world) child(id string, g *store.Gate) store.Child {
	cmd := w.start("start-" + id)
	cmd.Start.Parent = &workflow.Parent{InstanceID: "a", BookmarkID: workflow.BookmarkID("a", id)}
	return store.Child{ID: id, Command: cmd, Gate: g}
}

// TestGates: one running instance per gate, whatever starts or ends it.
func TestGates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		gate    *store.Gate // of the parent
		held    bool        // by a stranger
		change  func(c *store.Commit)
		kids    []string
		holder  string
		refused int
	}{
		{name: "a child takes a free gate", kids: []string{"x"}, holder: "x"},
		{name: "a held gate refuses a child", held: true, kids: []string{"x"}, holder: "stranger", refused: 1},
		{name: "of several children of one commit one has the gate", kids: []string{"x", "y", "z"}, holder: "x", refused: 2},
		{name: "the parent's own gate refuses its child", gate: single, kids: []string{"x"}, holder: "a", refused: 1},
		{name: "the end frees the gate", gate: single, change: func(c *store.Commit) { ends(c) }},
		{name: "the delete frees the gate", gate: single, change: func(c *store.Commit) { c.Delete = true }},
		{name: "a parent that ends hands its gate to its child", gate: single, change: func(c *store.Commit) { ends(c) }, kids: []string{"x", "y"}, holder: "x", refused: 1},
		{name: "it is free if the child cannot be", gate: single, change: func(c *store.Commit) { ends(c) }, kids: []string{"taken"}, refused: 1},
	} {
		for name, parent := range map[string]*workflow.Parent{"": {InstanceID: "a", BookmarkID: "a~x"}, "dispatched": {InstanceID: "a"}, "of nobody": nil} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.instance("taken")
				switch {
				case c.gate != nil:
					w.gated("a")
				default:
					w.instance("a")
				}
				if c.held {
					w.gated("stranger")
				}
				commit := w.next("a", w.lock("a", "me"))
				for _, k := range c.kids {
					child := w.child(k, single)
					child.Command.Start.Parent = parent
					commit.Children = append(commit.Children, child)
				}
				if c.change != nil {
					c.change(commit)
				}
				w.commit(commit)
				if got := w.holder(); got != c.holder {
					t.Errorf("the gate is held by %q, want %q", got, c.holder)
				}
				told, left := c.refused, 0
				if name != "" {
					told, left = 0, c.refused
				}
				if n := len(w.mailOf("a")); n != told {
					t.Errorf("the parent was told of %d children, want %d", n, told)
				}
				dead, _, err := w.DeadLetters(w.ctx(), "", 10)
				w.ok(err)
				if len(dead) != left {
					t.Errorf("%d dead letters, want %d", len(dead), left)
				}
				for _, d := range dead {
					if d.Reason != workflow.DeadChildRefused || !slices.Contains(c.kids, d.InstanceID) || !strings.Contains(d.Detail, "instance a dispatched it, of definition order version 1") {
						t.Errorf("%+v", d)
					}
				}
			})
		}
	}
}

func TestAnEndDoesNotFreeAnothersGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gated("a")
	c := ends(w.next("a", nil))
	w.commit(c)
	w.gated("b")
	w.remove("a") // it had the gate once
	if got := w.holder(); got != "b" {
		t.Errorf("the gate is held by %q", got)
	}
}

func TestARetriedInstanceTakesItsGateAgainOrIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"locked", "local"} {
		for _, free := range []bool{true, false} {
			t.Run(fmt.Sprint(mode, "/", free), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.gated("a")
				w.commit(ends(w.next("a", nil)))
				if !free {
					w.gated("b")
				}
				var fence *store.Fence
				if mode == "locked" {
					fence = w.lock("a", "me")
				}
				c := w.next("a", fence)
				c.After.Header.Status, c.After.Header.SubStatus = workflow.StatusRunning, workflow.Suspended
				c.Children = []store.Child{w.child("x", single)}
				if !free {
					before := w.dump()
					var gated *store.GatedError
					if _, err := w.Commit(w.ctx(), c); !errors.As(err, &gated) || gated.Holder != "b" || gated.Gate != *single {
						t.Errorf("refused with %v", err)
					}
					if !maps.Equal(w.dump(), before) || w.holder() != "b" {
						t.Error("something was written")
					}
					return
				}
				w.commit(c)
				if got := w.holder(); got != "a" {
					t.Errorf("the gate is held by %q", got)
				}
				w.want("instance/x", 0)
			})
		}
	}
}

// An instance that gets another gate frees its own, if it has that one.
func TestAnInstanceWithAnotherGateFreesItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gated("a")
	c := w.next("a", nil)
	c.After.Gate = &store.Gate{Correlation: "c"}
	w.commit(c)
	if got := w.holder(); got != "" {
		t.Errorf("the old gate is held by %q", got)
	}
	w.want("gate/", 1)
}

// What came back before Weft asked for the gate is told of, and a gate that nobody holds is given back.
func TestInstancesThatRunBesideAGateAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gated("a")
	_, err := w.raw.Delete(w.ctx(), w.Keys.GateOf(*single))
	w.ok(err)
	rules := func() (out []string) {
		for _, f := range w.fsck().Findings {
			if strings.HasPrefix(f.Rule, "gate-") {
				out = append(out, f.Rule+" "+f.Key)
			}
		}
		return out
	}
	if got := rules(); !slices.Equal(got, []string{"gate-missing" + " instance/a"}) {
		t.Errorf("found %v", got)
	}
	w.gated("b")
	if got := rules(); !slices.Equal(got, []string{"gate-of-several" + " instance/a"}) {
		t.Errorf("found %v", got)
	}
}

func TestOneOfSeveralOccurrencesPassesAGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	due, next := w.occurrence()
	starts := []lookup.NewInstance{*w.newInstance("x", "s1", single), *w.newInstance("y", "s2", single), *w.newInstance("z", "s3", single)}
	if ok, gated, err := w.FireSchedule(w.ctx(), due, nil, next, starts); err != nil || !ok || gated != 2 {
		t.Fatalf("%t, %d, %v", ok, gated, err)
	}
	w.want("instance/", 1)
	if got := w.holder(); got != "x" {
		t.Errorf("the gate is held by %q", got)
	}
}

func TestAHundredOccurrencesAreStartedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	due, next := w.occurrence()
	var starts []lookup.NewInstance
	for range 100 {
		id := w.id("i")
		starts = append(starts, *w.newInstance(id, "start-"+id, nil))
	}
	if ok, _, err := w.FireSchedule(w.ctx(), due, nil, next, starts); err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	w.want("instance/", 100)
	w.want("cron/", 1)
}

func TestCommandsForOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a")
	w.instance("b")
	cancel := func(id string) store.Outgoing {
		return store.Outgoing{InstanceID: id, Command: workflow.Command{ID: "cancel-" + id, Kind: workflow.CommandCancel, CreatedAt: w.now}}
	}
	c := w.next("a", w.lock("a", "me"))
	c.Children = []store.Child{w.child("x", nil)}
	c.Outgoing = []store.Outgoing{cancel("b"), cancel("b"), {InstanceID: "b", Command: workflow.Command{ID: "end"}}, cancel("x"), cancel("gone"), cancel("a")}
	w.commit(c)
	for id, want := range map[string]int{"a": 1, "b": 2, "x": 2, "gone": 0} {
		if n := len(w.mailOf(id)); n != want {
			t.Errorf("%s has %d commands, want %d", id, n, want)
		}
	}
	w.want("cancel/", 3)
}

// A refusal for a gate is one also where the gate is free by the time that somebody looks who has it, or a late
// copy would be applied beside the next attempt. Where such a copy is applied before the refusal is committed, that is no breach.
func TestARefusalForAGateThatIsFreeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gated("a")
	w.commit(ends(w.next("a", nil)))
	w.gated("b")
	fence := w.lock("a", "me")
	back := w.next("a", fence)
	back.After.Header.Status, back.After.Header.SubStatus = workflow.StatusRunning, workflow.Suspended
	disarm := w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !c.Mutating && w.holder() == "b" { // the look for the reason
			_, err := w.raw.Delete(w.ctx(), w.Keys.GateOf(*single))
			w.ok(err)
		}
		return false
	}}).Disarm
	_, err := w.Commit(w.ctx(), back)
	disarm()
	gated, ok := errors.AsType[*store.GatedError](err)
	if !ok || gated.Holder != "" || gated.Commit != back.ID || !strings.Contains(err.Error(), "do it again") {
		t.Fatalf("refused with %v", err)
	}

	refusal := w.next("a", fence)
	refusal.Instead = gated.Commit
	if _, err := w.Commit(w.ctx(), back); err != nil { // the late copy
		t.Fatal(err)
	}
	before := w.dump()
	if _, err := w.Commit(w.ctx(), refusal); !errors.Is(err, store.ErrOvertaken) {
		t.Errorf("refused with %v", err)
	}
	if refusal.Instead = "another"; !maps.Equal(w.dump(), before) {
		t.Error("something was written")
	}
	if _, err := w.Commit(w.ctx(), refusal); !errors.Is(err, store.ErrBreach) {
		t.Errorf("what is not that copy is %v", err)
	}
}

// A used key is told as that, and not as a gate, where the gate is free.
func TestAUsedKeyIsNoRefusalForAGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gated("a")
	w.commit(ends(w.next("a", nil)))
	c := w.keyed(w.next("a", w.lock("a", "me")), true)
	c.After.Header.Status, c.After.Header.SubStatus = workflow.StatusRunning, workflow.Suspended
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrConflict) {
		t.Errorf("refused with %v", err)
	}
}
