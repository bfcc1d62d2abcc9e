package etcdstore

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/workflow"
)

// random is a text of n characters that is not compressed.
func random(n int) string {
	raw := make([]byte, n*3/4)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// What a stimulus brings to a command is stored once, and read as it was.
func TestACommandIsStoredOnce(t *testing.T) {
	t.Parallel()
	text := random(600_000)
	st := event("paid")
	st.Input = map[string]any{"payload": text}
	other := map[string]any{"payload": "another"}
	for name, tt := range map[string]struct {
		cmd  workflow.Command
		most int
	}{
		"of its stimulus":            {workflow.Command{Input: st.Input, Stimulus: &st}, 605_000},
		"equal to its stimulus'":     {workflow.Command{Input: map[string]any{"payload": text}, Stimulus: &st}, 605_000},
		"another than its":           {workflow.Command{Input: other, Stimulus: &st}, 605_000},
		"of none":                    {workflow.Command{Input: other}, 300},
		"of one that brings nothing": {workflow.Command{Input: other, Stimulus: &workflow.Stimulus{ActivityType: "x"}}, 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instance("a", "paid")
			cmd := tt.cmd
			cmd.ID, cmd.Kind, cmd.CreatedAt = "c1", workflow.CommandResume, w.now
			_, _, err := w.PutMail(w.ctx(), "a", cmd, nil)
			w.ok(err)
			if n := len(w.dump()["mailbox/"+record.ShardOf("a")+"/a/c1"]); n == 0 || n > tt.most {
				t.Errorf("it takes %d bytes, want at most %d", n, tt.most)
			}
			if got := w.mailOf("a")[0].Command; !reflect.DeepEqual(got.Input, cmd.Input) {
				t.Errorf("it brings %.60v", got.Input)
			}
		})
	}
}

// A dead letter holds what it is about once, or, if that is too large, its size and
// its hash: whatever was accepted can leave the mailbox.
func TestADeadLetterAlwaysFits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 700_000, 1_300_000, 1_396_000, 1_402_000, 1_430_000} {
		for _, kind := range []workflow.CommandKind{workflow.CommandResume, workflow.CommandStart, workflow.CommandChildEnd, workflow.CommandImport} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				rec := w.instance("a", "paid")
				text := random(n)
				cmd := workflow.Command{ID: "c1", Kind: kind, CreatedAt: w.now, Bookmark: "a~1"}
				switch kind {
				case workflow.CommandResume:
					st := event("paid")
					st.Input = map[string]any{"payload": text}
					cmd.Stimulus, cmd.Input = &st, st.Input
				case workflow.CommandStart:
					cmd.Start = &workflow.Start{DefinitionID: "order", Input: map[string]any{"payload": text}}
				case workflow.CommandImport:
					cmd.State = []byte(text[:len(text)*3/4/4*4])
				default:
					cmd.Input = map[string]any{"payload": text}
				}
				_, created, err := w.PutMail(w.ctx(), "a", cmd, nil)
				if errors.Is(err, db.ErrTooLarge) && n > 1_420_000 {
					t.Skip("nobody can send it")
				}
				w.ok(err)
				// The record is at its limit too: nothing of it may be written along.
				dead := store.DeadLetter{ID: "d", Reason: workflow.DeadTooLarge, Detail: random(5000), Command: &cmd, InstanceID: "a", CreatedAt: w.now}
				consumed := []store.Consumed{{Command: cmd, Created: created, Effect: store.Effect{Outcome: workflow.OutcomeRefused}}}
				w.ok(w.Discard(w.ctx(), w.lock("a", "me"), "a", rec, consumed, []store.DeadLetter{dead}))
				w.want("mailbox/", 0)
				d, err := w.DeadLetter(w.ctx(), "d")
				w.ok(err)
				large := n > 1_400_000
				switch {
				case large != (d.Dropped != nil):
					t.Fatalf("dropped: %+v", d.Dropped)
				case large && (d.Dropped.Bytes < int64(n)*3/4 || len(d.Dropped.SHA256) != 64 || d.Command.ID != "c1" || d.Command.Kind != kind):
					t.Errorf("it says %+v of %+v", d.Dropped, d.Command)
				case !large && !reflect.DeepEqual(d.Command.Input, cmd.Input):
					t.Errorf("it brings %.60v", d.Command.Input)
				case !large && kind == workflow.CommandResume && (d.Stimulus == nil || !reflect.DeepEqual(d.Stimulus.Input, cmd.Input)):
					t.Errorf("its stimulus is %.60v", d.Stimulus)
				}
			})
		}
	}
}

// What is queued, or sent, fits a dead letter as large as it can be.
func TestTheLargestStimulusCanBeBuried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := 1_432_000; ; n -= 100 {
		st := event("paid")
		st.Input = map[string]any{"payload": random(n)}
		item := w.item("i", st)
		ok, err := w.Enqueue(w.ctx(), item, w.look(st))
		if errors.Is(err, db.ErrTooLarge) {
			continue
		}
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		break
	}
	due := w.inQueue()
	reason, err := w.ExpireQueueItem(w.ctx(), due[0], time.Minute, w.now)
	if err != nil || reason != workflow.DeadExpired {
		t.Errorf("got %q, %v", reason, err)
	}
	w.want("queue/", 0)
	w.want("dead/", 1)
}

// A caller's key after its life brings the id of a stimulus again: each has a dead letter of its own.
func TestDeadLettersOfOneStimulusIDAreAllKept(t *testing.T) {
	t.Parallel()
	const times = 3
	for name, bury := range map[string]func(w *world) error{
		"expired": func(w *world) error {
			w.queued("s", event("paid"))
			_, err := w.ExpireQueueItem(w.ctx(), w.inQueue()[0], time.Minute, w.now)
			return err
		},
		"behind a gate": func(w *world) error {
			w.held("s", "a")
			_, err := w.ExpireQueueItem(w.ctx(), w.inQueue()[0], time.Minute, w.now)
			return err
		},
		"too large behind a gate": func(w *world) error {
			_, err := w.BuryHeld(w.ctx(), w.held("s", "a"), "large", w.now)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for range times {
				w.ok(bury(w))
				for _, prefix := range []string{"idem/c/", "instance/"} { // their time is over
					_, err := w.raw.Delete(w.ctx(), w.Keys.Root+prefix, clientv3.WithPrefix())
					w.ok(err)
				}
				w.now = w.now.Add(time.Nanosecond)
			}
			dead, _, err := w.DeadLetters(w.ctx(), "", 10)
			w.ok(err)
			w.want("dead/", times)
			for _, d := range dead {
				if d.Stimulus == nil || !strings.HasPrefix(d.ID, "s@") {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

// deadCommand is a dead letter with a command for an instance.
func (w *world) deadCommand(id, instance string) *store.DeadLetter {
	w.tb.Helper()
	cmd := workflow.Command{ID: "c1", Kind: workflow.CommandChildEnd, CreatedAt: w.now, Bookmark: instance + "~x", Attempts: 3, Begun: []workflow.Begun{{Process: "p"}}}
	w.ok(w.Discard(w.ctx(), nil, "nobody", nil, nil, []store.DeadLetter{{ID: id, Reason: workflow.DeadPoison, Command: &cmd, InstanceID: instance, CreatedAt: w.now}}))
	d, err := w.DeadLetter(w.ctx(), id)
	w.ok(err)
	return d
}

func TestReplaysOfCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.deadCommand("d", "a")
	replays := func(id string, want stimuli.ReplayOutcome) {
		t.Helper()
		if got, err := w.ReplayCommand(w.ctx(), d, id, nil); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", id, got, err, want)
		}
	}
	replays("r1", stimuli.ReplayNobody)
	w.instance("a")
	replays("r1", stimuli.ReplayInMail) // refused for good; the caller repeats under another id
	w.want("mailbox/", 0)
	replays("r2", stimuli.Replayed)
	if m := w.mailOf("a"); len(m) != 1 || m[0].Command.Attempts != 0 || len(m[0].Command.Begun) != 0 {
		t.Errorf("the mailbox has %+v", m)
	}
	replays("r2", stimuli.Replayed) // its answer was lost
	replays("r3", stimuli.ReplayGone)
	d = w.deadCommand("d2", "a")
	replays("r4", stimuli.ReplayInMail)
	w.want("dead/", 1)
}
