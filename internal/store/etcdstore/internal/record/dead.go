package record

import (
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// DeadID is the id of the dead letter of an instance's command. The id of a command comes
// again, of a caller's key after its life, or of the rest of a burst: that is another one. So is
// that of a command which was sent again from its dead letter.
func DeadID(instance string, cmd *workflow.Command) string {
	of := []string{"dead", instance, cmd.ID, cmd.CreatedAt.UTC().Format(time.RFC3339Nano)}
	if cmd.Replays > 0 {
		of = append(of, strconv.Itoa(cmd.Replays))
	}
	return workflow.DeriveID(of...)
}

// StimulusDeadID is the id of the dead letter of a stimulus: that of the stimulus, which its
// sender may know, and when it came. The id comes again, with a caller's key after its life.
func StimulusDeadID(id string, at time.Time) string {
	return id + "@" + at.UTC().Format(time.RFC3339Nano)
}

// DecodeDead reads a dead letter. That of a stimulus that a command brought has it.
func DecodeDead(kv *mvccpb.KeyValue, decode func([]byte, any) error) (store.DeadLetter, error) {
	d := store.DeadLetter{Created: kv.CreateRevision}
	err := decode(kv.Value, &d)
	if c := d.Command; c != nil {
		Whole(c)
		if d.Stimulus == nil {
			d.Stimulus = c.Stimulus
		}
	}
	return d, err
}
