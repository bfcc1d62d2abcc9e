package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/repair"
	"github.com/weft-run/weft/pkg/workflow"
)

// What was accepted before a trigger was there, and meets its gate then, waits; the
// key's answer goes on to name what there is.
func TestAnAcceptedEventWaitsBehindAHeldGate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m := c[0]
	key := &runtime.Key{Scope: "events", Value: "k", BodyHash: "h"}
	first := m.Event("late", "", key)
	if first.Queued == "" {
		t.Fatalf("got %+v", first)
	}
	m.Publish(membertest.Single)
	m.Event("begin", "", nil)
	holder := m.Running("single")
	m.Publish(strings.Replace(membertest.Single, "event: begin", "event: late", 1))
	m.GatedBy(1)
	if q := m.Queued(); len(q) != 1 || q[0].ID != first.Queued || q[0].Gated != "single" {
		t.Errorf("queue %+v, want %s behind its gate", q, first.Queued)
	}
	if again := c[1].Event("late", "", key); again.Queued != first.Queued {
		t.Errorf("the key answers %+v, want %s", again, first.Queued)
	}
	if got := m.InstancesOf("single"); len(got) != 1 {
		t.Errorf("%d instances beside a held gate", len(got))
	}
	m.EndOf(holder)
	m.Finished(holder)
	next := m.Running("single")
	if next == holder || len(m.Queued()) != 0 {
		t.Errorf("next %s after %s, queue %+v", next, holder, m.Queued())
	}
	if again := c[1].Event("late", "", key); again.Queued != first.Queued {
		t.Errorf("the key answers %+v, want %s", again, first.Queued)
	}
	m.EndOf(next)
	m.Finished(next)
	if got := m.InstancesOf("single"); len(got) != 2 || len(m.Queued()) != 0 || len(m.Dead()) != 0 {
		t.Errorf("%d instances, queue %+v, dead %+v", len(got), m.Queued(), m.Dead())
	}
}

func TestWhatWorkflowsPublishWaitsBehindAHeldGate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m := c[0]
	m.Publish(membertest.Single, "id: caller\nroot:\n  - publishEvent: begin\n")
	m.Event("begin", "", nil)
	holder := m.Running("single")
	const n = 3
	for i := range n {
		c[i%2].Start("caller", fmt.Sprint("c", i), "")
	}
	m.GatedBy(n)
	for range n {
		m.EndOf(holder)
		m.Finished(holder)
		holder = m.Running("single")
	}
	if got := m.InstancesOf("single"); len(got) != n+1 || len(m.Queued()) != 0 {
		t.Errorf("%d instances, queue %+v", len(got), m.Queued())
	}
}

// Whoever calls and waits is told at once, and nothing is left behind.
func TestACallerIsToldOfAHeldGate(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Single)
	m.Event("begin", "", nil)
	m.Running("single")
	if res, err := m.Events.Send(t.Context(), workflow.EventStimulus("begin", nil), nil); workflow.CodeOf(err) != workflow.CodeInstanceGated {
		t.Errorf("got %+v, %v", res, err)
	}
	if len(m.Queued()) != 0 {
		t.Errorf("queue %+v", m.Queued())
	}
}

// Of an event that is for several the gated ones wait, and the others do not.
func TestAGateHoldsUpItsOwnStartOnly(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *membertest.Config) { c.ReplyWait = 5 * time.Second })[0] // the gated ones take all of it
	m.Publish(membertest.Single, strings.Replace(membertest.Single, "id: single", "id: second", 1))
	m.Event("begin", "", nil)
	one, two := m.Running("single"), m.Running("second")
	m.Publish("id: waits\nroot:\n  - event: begin\n", "id: free\nroot:\n  - event: begin\n    trigger: true\n")
	m.Start("waits", "w", "")
	key := &runtime.Key{Scope: "events", Value: "k", BodyHash: "h"}
	res := m.Event("begin", "", key)
	got := map[workflow.Outcome]int{}
	for _, o := range res.Outcomes {
		got[o.Outcome]++
	}
	if got[workflow.OutcomeAccepted] != 2 || got[workflow.OutcomeResumed] != 1 || got[workflow.OutcomeStarted] != 1 {
		t.Errorf("got %+v, want two accepted, one resumed, one started", res.Outcomes)
	}
	m.Finished("w")
	m.GatedBy(2)
	if got := m.InstancesOf("free"); len(got) != 1 {
		t.Errorf("%d of the one without a gate", len(got))
	}
	m.EndOf(two)
	m.Finished(two)
	m.EndOf(m.Running("second"))
	m.GatedBy(1)
	m.EndOf(one)
	m.Finished(one)
	m.Running("single")
	for _, o := range m.Event("begin", "", key).Outcomes {
		if o.Outcome == workflow.OutcomeRefused || o.Outcome == workflow.OutcomeAccepted {
			t.Errorf("a repeat says %+v", o)
		}
	}
	for _, def := range []string{"single", "second"} {
		if got := m.InstancesOf(def); len(got) != 2 {
			t.Errorf("%d of %s", len(got), def)
		}
	}
}

func TestManyEventsForOneSingletonStartOneAfterTheOther(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	m := c[0]
	// It ends by itself, and says its number.
	m.Publish("id: one\noptions:\n  activation: Singleton\nroot:\n  - event: hold\n    trigger: true\n  - event: end\n")
	m.Event("hold", "", nil)
	holder := m.Running("one")
	const n = 50
	for i := range n {
		if res, err := c[i%3].Events.Send(t.Context(), workflow.EventStimulus("work", fmt.Sprint(i)), nil); err != nil || res.Queued == "" {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	m.Publish("id: one\noptions:\n  activation: Singleton\nvariables:\n  n: \"\"\nroot:\n  - event: work\n    trigger: true\n    result: n\n  - writeLine: \"${{ variables.n }}\"\n")
	m.GatedBy(n)
	m.EndOf(holder)
	eventually(t, "all have run", func() bool {
		done := 0
		for _, in := range m.InstancesOf("one") {
			if in.Status == workflow.StatusFinished {
				done++
			}
		}
		return done == n+1
	})
	all := m.InstancesOf("one")
	all = slices.DeleteFunc(all, func(in workflow.Instance) bool { return in.ID == holder })
	slices.SortFunc(all, func(a, b workflow.Instance) int { return a.CreatedAt.Compare(b.CreatedAt) })
	seen := map[string]bool{}
	for i, in := range all {
		seen[strings.Join(m.Lines(in.ID), "")] = true
		if i > 0 && in.CreatedAt.Before(*all[i-1].FinishedAt) {
			t.Errorf("%s began before %s ended", in.ID, all[i-1].ID)
		}
	}
	if len(seen) != n {
		t.Errorf("%d different events ran, want %d", len(seen), n)
	}
	if got := m.Lines(all[0].ID); !slices.Equal(got, []string{"0"}) {
		t.Errorf("the first to run was %q", got)
	}
	if got := m.Lines(all[n-1].ID); !slices.Equal(got, []string{fmt.Sprint(n - 1)}) {
		t.Errorf("the last to run was %q", got)
	}
}

// What waited too long is a dead letter, which starts that very definition when it
// is sent again, and nothing else that the event met.
func TestAnEventThatWaitedTooLongBehindAGateIsADeadLetter(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *membertest.Config) { c.QueueTTL = 300 * time.Millisecond })[0]
	m.Publish(membertest.Single, "id: free\nroot:\n  - event: begin\n    trigger: true\n")
	m.Event("begin", "", nil)
	holder := m.Running("single")
	m.Event("begin", "", nil)
	eventually(t, "it is a dead letter", func() bool { return len(m.Dead()) == 1 })
	d := m.Dead()[0]
	if d.Reason != workflow.DeadGated || !strings.Contains(d.Detail, "single") || len(m.Queued()) != 0 {
		t.Errorf("%+v, queue %+v", d, m.Queued())
	}
	m.EndOf(holder)
	m.Finished(holder)
	before := len(m.InstancesOf("free"))
	if _, err := m.Letters.ReplayDeadLetter(t.Context(), d.ID, repair.Edit{}, nil); err != nil {
		t.Fatal(err)
	}
	if next := m.Running("single"); next == holder {
		t.Errorf("it is still %s", next)
	}
	if got := m.InstancesOf("free"); len(got) != before {
		t.Errorf("%d of the other definition, want %d", len(got), before)
	}
}

func TestWhatWaitsBehindAGateStartsThoughItsDefinitionIsGone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*member) error{
		"retracted": func(m *member) error { return m.Catalog.Retract(m.T.Context(), "single") },
		"deleted":   func(m *member) error { return m.Catalog.Delete(m.T.Context(), "single", true) },
		"published again": func(m *member) error {
			m.Publish(strings.Replace(membertest.Single, "writeLine: began", "writeLine: anew", 1))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1)[0]
			m.Publish(membertest.Single, "id: caller\nroot:\n  - publishEvent: begin\n")
			m.Event("begin", "", nil)
			holder := m.Running("single")
			m.Start("caller", "c", "")
			m.GatedBy(1)
			if err := change(m); err != nil {
				t.Fatal(err)
			}
			m.EndOf(holder)
			m.Finished(holder)
			if next := m.Running("single"); !slices.Equal(m.Lines(next), []string{"began"}) {
				t.Errorf("%s wrote %q", next, m.Lines(next))
			}
		})
	}
}

// Each event that waits is counted once, however often it was tried to put it there.
func TestAnEventThatWaitsBehindAGateIsCountedOnce(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	met, err := metrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	m := newCluster(t, 1, func(c *membertest.Config) { c.Metrics = met })[0]
	m.Publish(membertest.Single, "id: caller\nroot:\n  - publishEvent: begin\n")
	m.Event("begin", "", nil)
	m.Running("single")
	rule := m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Times: 3, Match: func(c clustertest.Call) bool {
		return slices.ContainsFunc(c.Puts, func(key string) bool { return strings.HasPrefix(key, m.Root+"queue/~gated/") })
	}})
	m.Start("caller", "c", "")
	m.GatedBy(1)
	if rule.Fired() != 3 {
		t.Fatalf("%d puts failed", rule.Fired())
	}
	eventually(t, "one event is counted", func() bool {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, s := range f.GetMetric() {
				if f.GetName() == "weft_gated_total" && s.GetLabel()[0].GetValue() == string(metrics.GatedEvent) {
					return s.GetCounter().GetValue() == 1
				}
			}
		}
		return false
	})
}

// A start that fits no transaction by the time that its gate is free is set aside, and
// those behind it start.
func TestAStartThatIsTooLargeHoldsUpNobodyBehindItsGate(t *testing.T) {
	t.Parallel()
	const much = 1_427_600 // with its correlation it fits the queue, and the start has that several times
	for _, sizes := range [][]int{{much, 10}, {much, much, 10}, {10, much, 20}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1)[0]
			m.Publish(membertest.Single)
			m.Event("begin", "", nil)
			holder := m.Running("single")
			hash, err := workflow.Hash("Elsa.Event", workflow.EventStimulus("begin", nil).Payload)
			if err != nil {
				t.Fatal(err)
			}
			gate := store.Gate{Definition: "single"}
			trigger := store.TriggerRef{Hash: hash, DefinitionID: "single", Version: 1, ActivityID: m.triggerOf(t, hash), Activation: "Singleton"}
			large := 0
			for i, size := range sizes {
				id, at := fmt.Sprint("e", i), time.Now().UTC()
				st := workflow.EventStimulus("begin", bulk(size, uint64(i)))
				if size == much {
					st.CorrelationID = bulk(3000, uint64(100+i))
				}
				cmd := workflow.Command{ID: "start-" + id, Kind: workflow.CommandStart, CreatedAt: at, Start: &workflow.Start{DefinitionID: "single", Version: 1}}
				item := &store.QueueItem{ID: id, Stimulus: st, Hash: hash, CreatedAt: at, Held: &store.HeldStart{Event: id, Trigger: trigger, Gate: gate}}
				ok, err := m.Store.Stimuli.Deliver(t.Context(), []etcdstore.Delivery{{Command: cmd, Wait: item,
					New: &etcdstore.NewInstance{Header: etcdstore.NewHeader("i-"+id, cmd, at), Command: cmd, Gate: &gate}}}, nil, nil, nil, nil, nil)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				if size == much {
					large++
				}
			}
			m.GatedBy(len(sizes))
			for i := range len(sizes) - large {
				m.EndOf(holder)
				m.Finished(holder)
				if holder = m.Running("single"); len(m.InstancesOf("single")) != i+2 {
					t.Errorf("%d instances, want %d", len(m.InstancesOf("single")), i+2)
				}
			}
			m.GatedBy(0)
			dead := m.Dead()
			for _, d := range dead {
				if d.Reason != workflow.DeadTooLarge {
					t.Errorf("a dead letter: %s: %s", d.Reason, d.Detail)
				}
			}
			if len(dead) != large {
				t.Errorf("%d dead letters, want %d", len(dead), large)
			}
		})
	}
}

// triggerOf is the activity of the one trigger of a hash.
func (m *member) triggerOf(t *testing.T, hash string) string {
	t.Helper()
	look, err := m.Store.Stimuli.Match(t.Context(), workflow.EventStimulus("begin", nil), hash, "")
	if err != nil || len(look.Triggers) != 1 {
		t.Fatal(look, err)
	}
	return look.Triggers[0].ActivityID
}

// A child that nobody waits for, and that its gate keeps out, is seen.
func TestADispatchedChildThatIsRefusedIsADeadLetter(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Single, "id: parent\nroot:\n  - dispatchWorkflow: {workflowDefinitionId: single, waitForCompletion: false}\n")
	m.Start("parent", "first", "")
	holder := m.Running("single")
	if dead := m.Dead(); len(dead) != 0 {
		t.Fatalf("%+v", dead)
	}
	m.Start("parent", "second", "")
	dead := m.Dead()
	if len(dead) != 1 || dead[0].Reason != workflow.DeadChildRefused || dead[0].InstanceID == holder ||
		!strings.Contains(dead[0].Detail, "instance second dispatched it, of definition single") {
		t.Fatalf("%+v", dead)
	}
	if _, err := m.Letters.ReplayDeadLetter(t.Context(), dead[0].ID, repair.Edit{}, nil); workflow.CodeOf(err) != workflow.CodeInvalid {
		t.Errorf("a replay of what is not kept: %v", err)
	}
	if err := m.Letters.DeleteDeadLetter(t.Context(), dead[0].ID); err != nil || len(m.Dead()) != 0 {
		t.Error(err)
	}
}

func TestASingletonRunsAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c[0].Publish("id: only\noptions:\n  activation: Singleton\nroot:\n  - event: end\n")
	got := make([]error, 30)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			_, got[i] = c[i%3].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "only", InstanceID: fmt.Sprint("i", i)})
		})
	}
	wg.Wait()
	winner := ""
	for i, err := range got {
		switch workflow.CodeOf(err) {
		case "":
			if err != nil || winner != "" {
				t.Fatalf("start %d beside %s: %v", i, winner, err)
			}
			winner = fmt.Sprint("i", i)
		case workflow.CodeInstanceGated:
		default:
			t.Error(err)
		}
	}
	eventually(t, "it waits", func() bool {
		in, err := c[0].Inspector.Instance(t.Context(), winner)
		return err == nil && in.SubStatus == workflow.Suspended
	})
	c[1].Event("end", "", nil)
	c[1].Finished(winner)
	if _, err := c[2].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "only", InstanceID: "next"}); err != nil {
		t.Error("after the end another may start:", err)
	}
}
