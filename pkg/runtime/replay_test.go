package runtime_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/runtime/repair"
	"github.com/weft-run/weft/pkg/workflow"
)

// A dead letter that holds a command is replayed as that command, once, whoever asks
// and however often.
func TestADeadCommandIsReplayedAsItWas(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*workflow.Command){
		"a timer":       func(c *workflow.Command) { c.Timer = true },
		"a child's end": func(c *workflow.Command) { c.Kind = workflow.CommandChildEnd },
		"a resume":      func(*workflow.Command) {},
		"an event":      func(c *workflow.Command) { st := workflow.EventStimulus("go", nil); c.Stimulus = &st },
		"a start":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3)
			a := c[0]
			a.Publish("id: d\nroot:\n  - event: go\n  - writeLine: went\n", "id: runs\nroot:\n  - writeLine: went\n")
			now := time.Now().UTC()
			release := c[2].hold("i")
			var cmd workflow.Command
			if change == nil {
				cmd = workflow.Command{ID: "start-c", Kind: workflow.CommandStart, CreatedAt: now, Start: &workflow.Start{DefinitionID: "runs", Version: 1}}
				if out, err := a.Store.Stimuli.Create(t.Context(), &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", cmd, now), Command: cmd}, nil); err != nil || out != etcdstore.Created {
					t.Fatal(out, err)
				}
			} else {
				release()
				in := a.Start("d", "i", "1")
				release = c[2].hold("i")
				cmd = workflow.Command{ID: "c", Kind: workflow.CommandResume, CreatedAt: now, Bookmark: in.Bookmarks[0].ID}
				change(&cmd)
				if out, _, err := a.Store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil || out != etcdstore.PutDone {
					t.Fatal(out, err)
				}
			}
			l, err := a.Store.Instances.Load(t.Context(), "i", "", "")
			if err != nil || len(l.Mail) != 1 {
				t.Fatalf("%+v, %v", l, err)
			}
			consumed := []store.Consumed{{Command: cmd, Created: l.Mail[0].Created, Effect: store.Effect{InstanceID: "i", Outcome: workflow.OutcomeRefused, Code: string(workflow.DeadPoison)}}}
			dead := []store.DeadLetter{{ID: "dead", Reason: workflow.DeadPoison, Command: &cmd, InstanceID: "i", CreatedAt: now}}
			if err := a.Store.Instances.Discard(t.Context(), nil, "i", l.Record, consumed, dead); err != nil {
				t.Fatal(err)
			}
			release()
			var asked sync.WaitGroup
			results := make(chan string, 10)
			for i := range 10 {
				asked.Go(func() {
					res, err := c[i%3].Letters.ReplayDeadLetter(t.Context(), "dead", repair.Edit{}, nil)
					switch {
					case err == nil && len(res.Outcomes) == 1 && res.Outcomes[0].Outcome == workflow.OutcomeAccepted:
						results <- "accepted"
					case workflow.CodeOf(err) == workflow.CodeDeadLetterNotFound:
						results <- "gone"
					default:
						results <- fmt.Sprint(res, err)
					}
				})
			}
			asked.Wait()
			close(results)
			count := map[string]int{}
			for r := range results {
				count[r]++
			}
			if count["accepted"] != 1 || count["gone"] != 9 {
				t.Errorf("ten replays: %v", count)
			}
			if in := a.Finished("i"); in.SubStatus != workflow.Finished || len(a.Lines("i")) != 1 {
				t.Errorf("it is %s, and wrote %v", in.SubStatus, a.Lines("i"))
			}
			a.NothingDead()
		})
	}
}
