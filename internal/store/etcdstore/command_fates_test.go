package etcdstore

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Of a command it is told where it is: in the mailbox, taken up by a commit, or given to
// nobody, as far as what is kept proves that. Whatever clocks say, revisions tell what came when.
func TestWhereCommandsAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := w.revision()
	for _, id := range []string{"waits", "took", "short"} {
		w.instance(id)
	}
	made := w.revision()
	for _, id := range []string{"waits", "took", "short"} {
		_, _, err := w.PutMail(w.ctx(), id, workflow.Command{ID: "c", Kind: workflow.CommandCancel, CreatedAt: w.now}, nil)
		w.ok(err)
	}
	took := w.consumes(w.next("took", nil))
	took.At = w.now.Add(-100 * time.Hour)
	w.commit(took)
	w.commit(w.consumes(w.next("short", nil)))
	w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.CommandRecords(), clientv3.WithPrefix()))) // their time is over
	// A journal that does not reach back proves nothing.
	w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.Journal("short", 2))))
	cut := w.next("short", nil)
	cut.After.JournalFrom = 3
	w.commit(cut)

	asked := []store.Effect{}
	for _, of := range [][2]string{{"waits", "c"}, {"took", "c"}, {"took", "other"}, {"short", "c"}, {"gone", "c"}} {
		asked = append(asked, store.Effect{InstanceID: of[0], Command: of[1], Outcome: workflow.OutcomeAccepted})
	}
	for _, tt := range []struct {
		after int64
		want  string
	}{
		{made, "mailbox false, applied false, unknown true, unknown false, unknown false, "},
		{0, "mailbox false, unknown false, unknown false, unknown false, unknown false, "},
		{none, "mailbox false, applied false, unknown false, unknown false, unknown false, "},      // made since: another one of its id
		{w.revision(), "mailbox false, unknown true, unknown true, unknown true, unknown false, "}, // what was committed before took up nothing of it
	} {
		fates, err := w.CommandFates(w.ctx(), asked, tt.after)
		w.ok(err)
		is := ""
		for _, f := range fates {
			is += string(f.State) + " " + map[bool]string{true: "true", false: "false"}[f.Absent] + ", "
		}
		if is != tt.want {
			t.Errorf("after %d: %s", tt.after, is)
		}
	}
}
