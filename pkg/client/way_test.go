package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// forEver is a loop without an end.
func forEver() *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.While", Inputs: map[string]workflow.Expression{"condition": workflow.Lit(true)},
		Ports: map[string]*workflow.Activity{"body": {Type: "Elsa.SetName", Inputs: map[string]workflow.Expression{"value": workflow.Lit("n")}}}}
}

// rounds is a loop with so many.
func rounds(n int) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.For", Inputs: map[string]workflow.Expression{"start": workflow.Lit(1), "end": workflow.Lit(n)},
		Ports: map[string]*workflow.Activity{"body": {Type: "Elsa.SetName", Inputs: map[string]workflow.Expression{"value": workflow.Lit("n")}}}}
}

// gaveWay waits until the node works so many long commands.
func (m *member) gaveWay(t *testing.T, n float64) {
	t.Helper()
	eventually(t, "it gives way", func() bool { return m.count("work_long_instances", "") == n })
}

// end ends the instance, as a caller on this node does.
func (m *member) end(t *testing.T, id string, kind workflow.CommandKind) {
	t.Helper()
	cmd := workflow.Command{ID: "stop", Kind: kind, CreatedAt: time.Now().UTC()}
	_, err := m.open(id).Do(t.Context(), cmd)
	if errors.Is(err, client.ErrBusy) {
		_, _, err = m.store.Stimuli.PutMail(t.Context(), id, cmd, nil)
		m.Interrupt(id) // as the watch of cancels does
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (m *member) status(t *testing.T, id string) workflow.SubStatus {
	t.Helper()
	rec, err := m.store.Reader.Instance(t.Context(), id)
	if err != nil || rec == nil {
		t.Fatal(rec, err)
	}
	return rec.Header.SubStatus
}

// mailed works mailboxes that the node is told of, as its upkeep does.
func mailed(m **member) func(*client.Config) {
	return func(c *client.Config) {
		c.Wakeups = told{hint: func(ids []string) {
			for _, id := range ids {
				go func() { _ = (*m).open(id).Work(context.Background(), false, nil) }()
			}
		}}
	}
}

// A caller gets the end of a loop that is longer than a burst without a pause.
func TestALongLoopAnswersWithItsEnd(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			if mode != cluster.ModeDistributed {
				testsize.NotRaced(t, "the other mode")
			}
			t.Parallel()
			w := newWorld(t, define("long", rounds(3*engine.DefaultBurstActivities)))
			m := w.member("m", mode, auto, func(c *client.Config) { c.LateAfter = time.Minute })
			res := must(m.open("i").Begin(t.Context(), startOf("long", "s")))(t)
			if res.Accepted || res.Instance.SubStatus != workflow.Finished {
				t.Errorf("it is %s, accepted %v, %v", res.Instance.SubStatus, res.Accepted, res.Instance.Incidents)
			}
			m.gaveWay(t, 0)
		})
	}
}

// A loop without an end is ended by a cancel and by a delete, on its node and from another one, also while it
// pauses for long.
func TestALoopWithoutAnEndIsEnded(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]workflow.CommandKind{"cancel": workflow.CommandCancel, "delete": workflow.CommandDelete} {
		for _, from := range []string{"here", "another node"} {
			t.Run(name+" from "+from, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, define("loop", forEver()))
				var m *member
				m = w.member("m", cluster.ModeDistributed, auto, mailed(&m), func(c *client.Config) { c.LateAfter = 50 * time.Millisecond })
				if res := must(m.open("i").Begin(t.Context(), startOf("loop", "s")))(t); !res.Accepted {
					t.Fatalf("it is %s", res.Instance.SubStatus)
				}
				m.gaveWay(t, 1)
				if from == "here" {
					m.end(t, "i", kind)
				} else {
					cmd := workflow.Command{ID: "stop", Kind: kind, CreatedAt: time.Now().UTC()}
					if _, _, err := m.store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil {
						t.Fatal(err)
					}
					m.Interrupt("i") // as the watch of cancels does
				}
				eventually(t, "it ends", func() bool {
					rec, err := m.store.Reader.Instance(t.Context(), "i")
					return err == nil && (rec == nil || rec.Header.SubStatus == workflow.Cancelled)
				})
				eventually(t, "its owner is gone", func() bool { return m.Owned() == 0 })
				if n := m.count("work_long_instances", ""); n != 0 {
					t.Errorf("%v commands still count as long", n)
				}
			})
		}
	}
}

// What comes for an instance has its turn while a loop of it goes on: what waits beside the loop is resumed,
// from the mailbox and in hand.
func TestALoopWithoutAnEndKeepsNoEventWaiting(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"mailbox", "hand"} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			race := &workflow.Activity{Type: "Elsa.Fork", Inputs: map[string]workflow.Expression{"joinMode": workflow.Lit("WaitAny")}, Activities: []*workflow.Activity{waitFor("stop"), forEver()}}
			w := newWorld(t, define("race", race))
			var m *member
			m = w.member("m", cluster.ModeDistributed, auto, mailed(&m), func(c *client.Config) { c.LateAfter = 50 * time.Millisecond })
			must(m.open("i").Begin(t.Context(), startOf("race", "s")))(t)
			m.gaveWay(t, 1)
			cmd := resumeOf("e", must(m.store.Reader.Instance(t.Context(), "i"))(t).Header, 0)
			if from == "hand" {
				go func() { _, _ = m.open("i").Do(context.Background(), cmd) }()
			} else if _, _, err := m.store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the event ends the race", func() bool {
				if m.status(t, "i") == workflow.Finished {
					return true
				}
				if from == "hand" { // it gave up to wait in hand
					_, _, err := m.store.Stimuli.PutMail(t.Context(), "i", cmd, nil)
					return err != nil
				}
				return false
			})
		})
	}
}

// A drain, and a node that takes up no work, are given the instance back at the next pause; another node goes
// on with it.
func TestALoopWithoutAnEndIsLeftToOthers(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"a drain", "held back"} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("loop", forEver()))
			held := make(chan struct{})
			m := w.member("m", cluster.ModeDistributed, auto, func(c *client.Config) {
				c.LateAfter = 50 * time.Millisecond
				c.HeldBack = func() bool {
					select {
					case <-held:
						return true
					default:
						return false
					}
				}
			})
			must(m.open("i").Begin(t.Context(), startOf("loop", "s")))(t)
			m.gaveWay(t, 1)
			if why == "a drain" {
				m.Drain()
			} else {
				close(held)
			}
			eventually(t, "its owner is gone", func() bool { return m.Owned() == 0 })
			if s := m.status(t, "i"); s != workflow.Executing {
				t.Errorf("it is %s", s)
			}
			other := w.member("o", cluster.ModeDistributed, auto)
			go func() { _ = other.open("i").Work(context.Background(), true, nil) }()
			other.gaveWay(t, 1)
			other.end(t, "i", workflow.CommandCancel)
			eventually(t, "it ends", func() bool { return other.status(t, "i") == workflow.Cancelled })
		})
	}
}

// Where a loop without an end has the only place of its definition, others of the definition have their turn.
func TestALoopWithoutAnEndGivesItsPlaceToOthers(t *testing.T) {
	t.Parallel()
	root := &workflow.Activity{Type: "Elsa.If", Inputs: map[string]workflow.Expression{"condition": {Kind: "Input", Value: "loop"}},
		Ports: map[string]*workflow.Activity{"then": forEver()}}
	w := newWorld(t, define("one", root))
	var m *member
	m = w.member("m", cluster.ModeDistributed, auto, mailed(&m), func(c *client.Config) {
		c.LateAfter, c.Limits = 50*time.Millisecond, admission.Limits{PerDefinition: 1}
	})
	first := startOf("one", "s")
	first.Start.Input = map[string]any{"loop": true}
	must(m.open("i").Begin(t.Context(), first))(t)
	m.gaveWay(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	second := startOf("one", "s")
	if out, err := m.store.Stimuli.Create(ctx, &etcdstore.NewInstance{Header: etcdstore.NewHeader("j", second, second.CreatedAt), Command: second}, nil); err != nil || out != etcdstore.Created {
		t.Fatal(out, err)
	}
	eventually(t, "the other one ends", func() bool {
		_ = m.open("j").Work(ctx, false, nil)
		rec, err := m.store.Reader.Instance(ctx, "j")
		return err == nil && rec != nil && rec.Header.SubStatus == workflow.Finished
	})
	m.end(t, "i", workflow.CommandCancel)
	eventually(t, "the loop ends", func() bool { return m.status(t, "i") == workflow.Cancelled })
}
