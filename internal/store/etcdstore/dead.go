package etcdstore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// putMail puts a command into the mailbox of an instance, and where it is found if it
// is to end that.
func (s *conn) putMail(o *ops, instance string, cmd workflow.Command) {
	o.put(s.keys.mail(instance, cmd.ID), lean(cmd))
	if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
		o.put(s.keys.cancel(instance), cmd.ID)
	}
}

// lean leaves out of a command what its stimulus says too: it is stored once.
func lean(cmd workflow.Command) workflow.Command {
	if cmd.Stimulus != nil && len(cmd.Input) > 0 && reflect.DeepEqual(cmd.Input, cmd.Stimulus.Input) {
		cmd.Input = nil
	}
	return cmd
}

// whole is what lean left, as it was.
func whole(cmd *workflow.Command) {
	if cmd.Stimulus != nil && cmd.Input == nil {
		cmd.Input = cmd.Stimulus.Input
	}
}

// DeadID is the id of the dead letter of an instance's command. The id of a command comes
// again, of a caller's key after its life, or of the rest of a burst: that is another one.
func DeadID(instance string, cmd *workflow.Command) string {
	return workflow.DeriveID("dead", instance, cmd.ID, cmd.CreatedAt.UTC().Format(time.RFC3339Nano))
}

// StimulusDeadID is the id of the dead letter of a stimulus: that of the stimulus, which its
// sender may know, and when it came. The id comes again, with a caller's key after its life.
func StimulusDeadID(id string, at time.Time) string {
	return id + "@" + at.UTC().Format(time.RFC3339Nano)
}

// maxDead is how large a dead letter is at most, in bytes as it is stored. The rest
// of a request is for what the letter is put with.
const maxDead = maxRequest - 32<<10

// maxDetail bounds what a dead letter says in words, in bytes.
const maxDetail = 2 << 10

// putDead puts a dead letter, which holds one copy of what it is about. It always
// fits: of what is too large to be kept, only its size and its hash are.
func (s *conn) putDead(o *ops, d store.DeadLetter) {
	if len(d.Detail) > maxDetail {
		d.Detail = d.Detail[:maxDetail] + "…"
	}
	if d.Command != nil {
		cmd := lean(*d.Command)
		d.Command, d.Stimulus = &cmd, nil
	}
	raw, err := encodeWithin(d, maxPassed)
	if tooLarge := errors.Is(err, ErrTooLarge); tooLarge || err == nil && len(raw) > maxDead {
		if d, err = withoutPayload(d); err == nil {
			raw, err = encodeWithin(d, maxPassed)
		}
	}
	if err != nil {
		o.fail(s.keys.dead(d.ID), err)
		return
	}
	o.putRaw(s.keys.dead(d.ID), raw)
}

// withoutPayload leaves out what people and programs brought.
func withoutPayload(d store.DeadLetter) (store.DeadLetter, error) {
	raw, err := json.Marshal(struct {
		Stimulus *workflow.Stimulus `json:"stimulus,omitempty"`
		Command  *workflow.Command  `json:"command,omitempty"`
	}{d.Stimulus, d.Command})
	if err != nil {
		return d, fmt.Errorf("encode dead letter %s: %w", d.ID, err)
	}
	sum := sha256.Sum256(raw)
	d.Dropped = &store.Dropped{Bytes: int64(len(raw)), SHA256: hex.EncodeToString(sum[:])}
	if d.Stimulus != nil {
		d.Stimulus = bare(d.Stimulus)
	}
	if c := d.Command; c != nil {
		d.Command = &workflow.Command{ID: c.ID, Kind: c.Kind, CreatedAt: c.CreatedAt, Attempts: c.Attempts, Bookmark: c.Bookmark, Timer: c.Timer, Several: c.Several, Trace: c.Trace}
		if c.Start != nil {
			d.Command.Start = &workflow.Start{DefinitionID: c.Start.DefinitionID, Version: c.Start.Version, CorrelationID: c.Start.CorrelationID, Parent: c.Start.Parent, Trigger: c.Start.Trigger}
		}
		if st := c.Stimulus; st != nil {
			d.Command.Stimulus = bare(st)
		}
	}
	return d, nil
}

// bare is a stimulus without what it brings, and with what it is about if that is
// short.
func bare(st *workflow.Stimulus) *workflow.Stimulus {
	out := &workflow.Stimulus{ActivityType: st.ActivityType, CorrelationID: st.CorrelationID, InstanceID: st.InstanceID, BookmarkID: st.BookmarkID}
	if raw, err := json.Marshal(st.Payload); err == nil && len(raw) <= maxDetail {
		out.Payload = st.Payload
	}
	return out
}

// decodeDead reads a dead letter. That of a stimulus that a command brought has it.
func decodeDead(kv *mvccpb.KeyValue, decode func([]byte, any) error) (store.DeadLetter, error) {
	d := store.DeadLetter{Created: kv.CreateRevision}
	err := decode(kv.Value, &d)
	if c := d.Command; c != nil {
		whole(c)
		if d.Stimulus == nil {
			d.Stimulus = c.Stimulus
		}
	}
	return d, err
}
