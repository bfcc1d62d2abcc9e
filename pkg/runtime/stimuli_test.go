package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/repair"
	"github.com/weft-run/weft/pkg/workflow"
)

const triggered = `
id: triggered
root:
  - event: go
    trigger: true
  - writeLine: triggered
`

func TestAnEventResumesTheInstanceOfItsCorrelation(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(membertest.Waits)
	c[0].Start("waits", "one", "1")
	c[1].Start("waits", "two", "2")
	res := c[1].Event("go", "1", nil)
	if len(res.Outcomes) != 1 || res.Outcomes[0] != (runtime.TargetOutcome{InstanceID: "one", Outcome: workflow.OutcomeResumed}) {
		t.Fatalf("got %+v", res)
	}
	if in, _ := c[0].Inspector.Instance(t.Context(), "two"); in.SubStatus != workflow.Suspended {
		t.Errorf("the other correlation moved: %+v", in)
	}
}

func TestAnEventWithoutTargetWaitsForItsBookmark(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(membertest.Waits)
	res := c[0].Event("go", "1", nil)
	if res.Queued == "" || !res.Accepted() {
		t.Fatalf("got %+v", res)
	}
	c[1].Start("waits", "other", "2")
	c[1].Start("waits", "one", "1")
	c[1].Finished("one")
	if in, _ := c[0].Inspector.Instance(t.Context(), "other"); in.SubStatus != workflow.Suspended {
		t.Errorf("an event of another correlation moved it: %+v", in)
	}
	if q, err := c[0].Inspector.Queue(t.Context(), runtime.QueueFilter{}, "", 10); err != nil || len(q.Items) != 0 {
		t.Errorf("queue %+v, %v", q.Items, err)
	}
}

func TestAnEventResumesAllAndStartsTriggers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, func(c *membertest.Config) { c.ReplyWait = 20 * time.Second })
	c[0].Publish(membertest.Waits, triggered)
	for i := range 3 {
		c[i].Start("waits", fmt.Sprint("w", i), fmt.Sprint(i))
	}
	res := c[1].Event("go", "", nil)
	got := map[workflow.Outcome]int{}
	for _, o := range res.Outcomes {
		got[o.Outcome]++
		in := c[2].Finished(o.InstanceID)
		if in.SubStatus != workflow.Finished {
			t.Errorf("got %+v", in)
		}
	}
	if got[workflow.OutcomeResumed] != 3 || got[workflow.OutcomeStarted] != 1 {
		t.Errorf("outcomes %v", res.Outcomes)
	}
}

func TestManyTargetsAreWorkedOffInSlices(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(membertest.Waits)
	const n = 70
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { c[i%2].Start("waits", fmt.Sprint("w", i), fmt.Sprint(i)) })
	}
	wg.Wait()
	res := c[0].Event("go", "", nil)
	if len(res.Outcomes) != n {
		t.Fatalf("%d outcomes", len(res.Outcomes))
	}
	for i := range n {
		id := fmt.Sprint("w", i)
		c[1].Finished(id)
		if l := c[1].Lines(id); !slices.Equal(l, []string{"went"}) {
			t.Errorf("%s wrote %q", id, l)
		}
	}
}

func TestOneKeyAtThreeNodesIsOneEffect(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c[0].Publish(membertest.Waits, triggered)
	for round := range 10 {
		id := fmt.Sprint("r", round)
		key := &runtime.Key{Scope: "execute", Value: id, BodyHash: "b"}
		ids := inParallel(c, func(m *member) string {
			res, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits", CorrelationID: id, Key: key})
			if err != nil {
				t.Error(err)
			}
			return res.Instance.ID
		})
		if ids[0] == "" || ids[0] != ids[1] || ids[1] != ids[2] {
			t.Fatalf("three instances: %q", ids)
		}
		answers := inParallel(c, func(m *member) string {
			st := workflow.EventStimulus("go", nil)
			st.CorrelationID = id
			res, err := m.Events.Send(t.Context(), st, &runtime.Key{Scope: "event", Value: id, BodyHash: "b"})
			if err != nil {
				t.Error(err)
			}
			return fmt.Sprint(len(res.Outcomes), res.Queued)
		})
		if answers[0] != answers[1] || answers[1] != answers[2] {
			t.Errorf("answers differ: %q", answers)
		}
		if l := c[0].Lines(ids[0]); !slices.Equal(l, []string{"went"}) {
			t.Errorf("wrote %q", l)
		}
	}
	key := &runtime.Key{Scope: "execute", Value: "r0", BodyHash: "another"}
	if _, err := c[0].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits", Key: key}); workflow.CodeOf(err) != workflow.CodeKeyReused {
		t.Errorf("another body with the same key: %v", err)
	}
}

func inParallel(c []*member, f func(*member) string) []string {
	out := make([]string, len(c))
	var wg sync.WaitGroup
	for i, m := range c {
		wg.Go(func() { out[i] = f(m) })
	}
	wg.Wait()
	return out
}

func TestUnmatchedEventsExpireIntoDeadLettersAndReplay(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, func(cfg *membertest.Config) { cfg.QueueTTL = 50 * time.Millisecond })
	c[0].Publish(membertest.Waits)
	res := c[0].Event("go", "1", nil)
	var dead []runtime.DeadLetter
	eventually(t, "the event expires", func() bool {
		page, err := c[1].Inspector.DeadLetters(t.Context(), runtime.DeadLetterFilter{}, "", 10)
		dead = page.Items
		return err == nil && len(dead) == 1
	})
	if !strings.HasPrefix(dead[0].ID, res.Queued+"@") || dead[0].Reason != "expired" || dead[0].Stimulus == nil {
		t.Errorf("got %+v", dead[0])
	}
	c[0].Start("waits", "one", "1")
	if _, err := c[1].Letters.ReplayDeadLetter(t.Context(), dead[0].ID, repair.Edit{}, nil); err != nil {
		t.Fatal(err)
	}
	c[1].Finished("one")
	if err := c[1].Letters.DeleteDeadLetter(t.Context(), dead[0].ID); workflow.CodeOf(err) != workflow.CodeDeadLetterNotFound {
		t.Errorf("a replayed dead letter is gone: %v", err)
	}
}

// A stimulus whose id comes again, long after, has a dead letter of its own.
func TestEachStimulusThatIsBuriedHasADeadLetter(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	etcd := clustertest.Shared(t).Client(t)
	st := workflow.EventStimulus("go", nil)
	st.InstanceID = "nobody"
	now := time.Now().UTC()
	for i := range 3 {
		if err := m.Store.Stimuli.PutSend(t.Context(), store.Send{ID: "s", Stimulus: st, CreatedAt: now.Add(time.Duration(i))}, nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is a dead letter", func() bool { return len(m.Dead()) == i+1 })
		if r, err := etcd.Delete(t.Context(), m.Root+"idem/c/~send/s"); err != nil || r.Deleted != 1 {
			t.Fatal(r, err)
		}
	}
}

func TestAQueuedEventStartsALaterTrigger(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	res := c[0].Event("go", "", nil)
	if res.Queued == "" {
		t.Fatalf("got %+v", res)
	}
	c[1].Publish(triggered)
	eventually(t, "the trigger takes the event", func() bool {
		page, err := c[0].Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "triggered", Status: workflow.StatusFinished}, runtime.Paging{})
		return err == nil && len(page.Items) == 1
	})
}

func TestAddressedEvents(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	c[0].Publish(membertest.Waits)
	send := func(id string) error {
		st := workflow.EventStimulus("go", nil)
		st.InstanceID = id
		_, err := c[0].Events.Send(t.Context(), st, nil)
		return err
	}
	if err := send("nobody"); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
		t.Errorf("unknown instance: %v", err)
	}
	c[0].Start("waits", "one", "")
	c[0].Start("waits", "two", "")
	if err := send("two"); err != nil {
		t.Fatal(err)
	}
	if in, _ := c[0].Inspector.Instance(t.Context(), "one"); in.SubStatus != workflow.Suspended {
		t.Errorf("an event for another instance moved it: %+v", in)
	}
	if err := send("two"); workflow.CodeOf(err) != workflow.CodeInstanceFinished {
		t.Errorf("finished instance: %v", err)
	}
}

func TestTriggersBehindAGateAreToldApart(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, func(c *membertest.Config) { c.ReplyWait = 5 * time.Second }) // the gated one takes all of it
	c[0].Publish(membertest.Waits, triggered, "id: alone\noptions:\n  activation: Singleton\nroot:\n  - event: go\n    trigger: true\n  - event: end\n")
	c[0].Start("waits", "w", "1")
	outcomes := func() map[workflow.Outcome]int {
		got := map[workflow.Outcome]int{}
		for _, o := range c[1].Event("go", "", &runtime.Key{Scope: "e", Value: fmt.Sprint(time.Now().UnixNano()), BodyHash: "b"}).Outcomes {
			got[o.Outcome]++
		}
		return got
	}
	if got := outcomes(); got[workflow.OutcomeResumed] != 1 || got[workflow.OutcomeStarted] != 2 {
		t.Errorf("first: %v", got)
	}
	if got := outcomes(); got[workflow.OutcomeStarted] != 1 || got[workflow.OutcomeAccepted] != 1 { // it waits until the first has ended
		t.Errorf("second: %v", got)
	}
}
