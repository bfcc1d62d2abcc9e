package client_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// An id of a command comes again when its caller's key has ended, or as the rest of a
// burst. Each one that is set aside is kept.
func TestDeadLettersOfOneCommandIDAreAllKept(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 2, 5} {
		for _, mode := range both {
			t.Run(fmt.Sprint(times, "/", mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, define("d", waitFor("go")))
				m := w.member("a", mode)
				for i := range times {
					cmd := workflow.Command{ID: "same", Kind: workflow.CommandResume, CreatedAt: time.Now().UTC().Add(time.Duration(i) * 24 * time.Hour)}
					st := workflow.EventStimulus("go", i)
					st.InstanceID = "i"
					cmd.Stimulus, cmd.Input = &st, st.Input
					in := must(m.open("i").Do(t.Context(), startOf("d", fmt.Sprint("start", i))))(t).Instance
					cmd.Bookmark = in.Bookmarks[0].ID
					eventually(t, "nobody looks into the mailbox", func() bool { return m.Owned() == 0 })
					m.put(t, "i", workflow.Command{ID: fmt.Sprint("end", i), Kind: workflow.CommandDelete, CreatedAt: in.CreatedAt})
					m.put(t, "i", cmd)
					m.worked("i")
					// The records of commands end before those of callers' keys.
					if r, err := w.etcd.Delete(t.Context(), strings.TrimSuffix(cluster.Root(w.name), "/")+"/idem/c/i/", clientv3.WithPrefix()); err != nil || r.Deleted == 0 {
						t.Fatal(r, err)
					}
				}
				dead, _, err := m.store.Reader.DeadLetters(t.Context(), "", 100)
				if err != nil || len(dead) != times {
					t.Errorf("%d dead letters of %d: %v", len(dead), times, err)
				}
			})
		}
	}
}

// What was for several, and met an instance that does not wait any more, is for that
// instance when it waits again, whatever its correlation is by then.
func TestOneOfSeveralGoesToItsInstanceWhateverItsCorrelation(t *testing.T) {
	t.Parallel()
	for _, several := range []bool{true, false} {
		for _, mode := range both {
			t.Run(fmt.Sprint(several, "/", mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, define("d", seq(waitFor("go"), waitFor("more"))))
				m := w.member("a", mode)
				start := startOf("d", "start-i")
				start.Start.CorrelationID = "old"
				in := must(m.open("i").Do(t.Context(), start))(t).Instance
				cmd := resumeOf("late", in, 0)
				must(m.open("i").Do(t.Context(), resumeOf("first", in, 0)))(t)
				st := workflow.EventStimulus("go", nil)
				st.CorrelationID = "old"
				cmd.Stimulus, cmd.Several = &st, several
				eventually(t, "nobody looks into the mailbox", func() bool { return m.Owned() == 0 })
				m.put(t, "i", cmd)
				m.worked("i")
				sends, _, err := m.store.Upkeep.Sends(t.Context(), "", 100)
				if err != nil || len(sends) != 1 {
					t.Fatal(sends, err)
				}
				instance, correlation := "", "old"
				if several {
					instance, correlation = "i", ""
				}
				if got := sends[0].Stimulus; got.InstanceID != instance || got.CorrelationID != correlation {
					t.Errorf("it goes to instance %q, correlation %q", got.InstanceID, got.CorrelationID)
				}
			})
		}
	}
}
