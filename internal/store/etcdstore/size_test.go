package etcdstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// Whatever its kind, a record is refused before it is compressed if it has more than
// is ever read again, and read again if it is not refused.
func TestWhatIsWrittenCanBeRead(t *testing.T) {
	testsize.NotRaced(t, "it encodes megabytes on one goroutine")
	t.Parallel()
	const mib = 1 << 20
	for _, size := range []int{0, db.CompressAbove, mib, db.MaxEncoded - 4096, db.MaxEncoded, 65 * mib} {
		text := strings.Repeat("x", size)
		input := map[string]any{"text": text}
		st := workflow.Stimulus{ActivityType: "Test", Input: input}
		for _, v := range []any{
			&store.Record{Header: workflow.Instance{ID: "i", Input: input}}, &record.JournalEntry{Items: []record.JournalItem{{Data: text}}},
			&workflow.Command{ID: "c", Input: input}, &store.Send{Stimulus: st}, &store.QueueItem{Stimulus: st}, &store.DeadLetter{Stimulus: &st},
			&store.DefinitionVersion{Source: text}, &store.Answer{Instance: &workflow.Instance{Output: input}},
		} {
			raw, err := db.Encode(v)
			if size >= db.MaxEncoded {
				if !errors.Is(err, db.ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprint("at most ", db.MaxEncoded)) {
					t.Errorf("%T with %d bytes: %v", v, size, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%T with %d bytes: %v", v, size, err)
			}
			if err := db.DecodeWhole(raw, v); err != nil {
				t.Errorf("%T with %d bytes cannot be read again: %v", v, size, err)
			}
		}
	}
}

// A command that was accepted, as large as may be, can be noted to have been begun,
// and set aside.
func TestWhatWasAcceptedGoesOnWhateverItsSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := workflow.Command{ID: "c", Kind: workflow.CommandResume, Input: map[string]any{}}
	raw, err := db.Encode(cmd)
	w.ok(err)
	cmd.Input["text"] = strings.Repeat("x", db.MaxEncoded-len(raw)-len(`"input":{"text":""},`))
	f := w.lock("i", "1")
	_, err = w.Secure(w.ctx(), f, "i", nil, &store.Record{Header: w.header("i")}, cmd)
	w.ok(err)
	l, err := w.Load(w.ctx(), "i", "", "")
	w.ok(err)
	cmd = l.Mail[0].Command
	for range 8 {
		cmd.Begun = append(cmd.Begun, workflow.Begun{Process: "process", Node: "node", At: w.now})
	}
	if _, err := db.Encode(cmd); !errors.Is(err, db.ErrTooLarge) {
		t.Fatal("the command is not at the limit")
	}
	_, err = w.CountAttempt(w.ctx(), f, "i", cmd, l.Mail[0].Created)
	w.ok(err)
	dead := store.DeadLetter{ID: "d", Reason: workflow.DeadPoison, Command: &cmd, InstanceID: "i", CreatedAt: w.now}
	w.ok(w.Discard(w.ctx(), f, "i", l.Record, []store.Consumed{{Command: cmd, Created: l.Mail[0].Created, Effect: store.Effect{Outcome: workflow.OutcomeRefused}}}, []store.DeadLetter{dead}))
	got, err := w.DeadLetter(w.ctx(), "d")
	w.ok(err)
	if got == nil || got.Command.Input["text"] != cmd.Input["text"] {
		t.Error("the dead letter does not have the command")
	}
	// Of what is too large even for that, a dead letter says how large it was.
	cmd.Input["text"] = strings.Repeat("x", 65<<20)
	dead.ID = "e"
	w.ok(w.Discard(w.ctx(), f, "i", l.Record, nil, []store.DeadLetter{dead}))
	if got, err = w.DeadLetter(w.ctx(), "e"); err != nil || got == nil || got.Dropped == nil || got.Dropped.Bytes < 65<<20 {
		t.Errorf("dead letter %+v, %v", got, err)
	}
}
