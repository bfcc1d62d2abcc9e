package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// single runs one instance at a time, which ends at an event of its correlation.
const single = `
id: single
options:
  activation: Singleton
root:
  - event: begin
    trigger: true
  - writeLine: began
  - event: end
`

// instancesOf gives all instances of a definition, oldest first.
func (m *member) instancesOf(def string) []workflow.Instance {
	m.t.Helper()
	page, err := m.Instances(m.t.Context(), runtime.InstanceFilter{DefinitionID: def, Limit: 500})
	if err != nil {
		m.t.Fatal(err)
	}
	return page.Items
}

func (m *member) queue() []runtime.QueueItem {
	m.t.Helper()
	page, err := m.Queue(m.t.Context(), "", 500)
	if err != nil {
		m.t.Fatal(err)
	}
	return page.Items
}

func (m *member) deadLetters() []runtime.DeadLetter {
	m.t.Helper()
	page, err := m.DeadLetters(m.t.Context(), "", 500)
	if err != nil {
		m.t.Fatal(err)
	}
	return page.Items
}

// running is the one instance of single that is suspended at its end.
func (m *member) running(def string) string {
	m.t.Helper()
	id := ""
	eventually(m.t, "one instance of "+def+" waits for its end", func() bool {
		id = ""
		n := 0
		for _, in := range m.instancesOf(def) {
			if in.SubStatus == workflow.Suspended {
				id = in.ID
				n++
			}
		}
		return n == 1
	})
	return id
}

func (m *member) endOf(id string) {
	m.t.Helper()
	st := workflow.EventStimulus("end", nil)
	st.InstanceID = id
	if _, err := m.Send(m.t.Context(), st, nil); err != nil {
		m.t.Fatal(err)
	}
}

// gatedBy waits until n events wait behind gates.
func (m *member) gatedBy(n int) {
	m.t.Helper()
	eventually(m.t, fmt.Sprint(n, " events wait behind the gate"), func() bool {
		waiting := 0
		for _, i := range m.queue() {
			if i.Gated != "" {
				waiting++
			}
		}
		return waiting == n
	})
}

// What was accepted before a trigger was there, and meets its gate then, waits; the
// key's answer goes on to name what there is.
func TestAnAcceptedEventWaitsBehindAHeldGate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m := c[0]
	key := &runtime.Key{Scope: "events", Value: "k", BodyHash: "h"}
	first := m.send("late", "", key)
	if first.Queued == "" {
		t.Fatalf("got %+v", first)
	}
	m.publish(single)
	m.send("begin", "", nil)
	holder := m.running("single")
	m.publish(strings.Replace(single, "event: begin", "event: late", 1))
	m.gatedBy(1)
	if q := m.queue(); len(q) != 1 || q[0].ID != first.Queued || q[0].Gated != "single" {
		t.Errorf("queue %+v, want %s behind its gate", q, first.Queued)
	}
	if again := c[1].send("late", "", key); again.Queued != first.Queued {
		t.Errorf("the key answers %+v, want %s", again, first.Queued)
	}
	if got := m.instancesOf("single"); len(got) != 1 {
		t.Errorf("%d instances beside a held gate", len(got))
	}
	m.endOf(holder)
	m.finished(holder)
	next := m.running("single")
	if next == holder || len(m.queue()) != 0 {
		t.Errorf("next %s after %s, queue %+v", next, holder, m.queue())
	}
	if again := c[1].send("late", "", key); again.Queued != first.Queued {
		t.Errorf("the key answers %+v, want %s", again, first.Queued)
	}
	m.endOf(next)
	m.finished(next)
	if got := m.instancesOf("single"); len(got) != 2 || len(m.queue()) != 0 || len(m.deadLetters()) != 0 {
		t.Errorf("%d instances, queue %+v, dead %+v", len(got), m.queue(), m.deadLetters())
	}
}

func TestWhatWorkflowsPublishWaitsBehindAHeldGate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m := c[0]
	m.publish(single, "id: caller\nroot:\n  - publishEvent: begin\n")
	m.send("begin", "", nil)
	holder := m.running("single")
	const n = 3
	for i := range n {
		c[i%2].execute("caller", fmt.Sprint("c", i), "")
	}
	m.gatedBy(n)
	for range n {
		m.endOf(holder)
		m.finished(holder)
		holder = m.running("single")
	}
	if got := m.instancesOf("single"); len(got) != n+1 || len(m.queue()) != 0 {
		t.Errorf("%d instances, queue %+v", len(got), m.queue())
	}
}

// Whoever calls and waits is told at once, and nothing is left behind.
func TestACallerIsToldOfAHeldGate(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publish(single)
	m.send("begin", "", nil)
	m.running("single")
	res := m.send("begin", "", nil)
	if len(res.Outcomes) != 1 || res.Outcomes[0].Outcome != workflow.OutcomeRefused || res.Outcomes[0].Code != string(workflow.CodeInstanceGated) {
		t.Errorf("got %+v", res)
	}
	if len(m.queue()) != 0 {
		t.Errorf("queue %+v", m.queue())
	}
}

// Of an event that is for several the gated ones wait, and the others do not.
func TestAGateHoldsUpItsOwnStartOnly(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publish(single, strings.Replace(single, "id: single", "id: second", 1))
	m.send("begin", "", nil)
	one, two := m.running("single"), m.running("second")
	m.publish("id: waits\nroot:\n  - event: begin\n", "id: free\nroot:\n  - event: begin\n    trigger: true\n")
	m.execute("waits", "w", "")
	key := &runtime.Key{Scope: "events", Value: "k", BodyHash: "h"}
	res := m.send("begin", "", key)
	got := map[workflow.Outcome]int{}
	for _, o := range res.Outcomes {
		got[o.Outcome]++
	}
	if got[workflow.OutcomeAccepted] != 2 || got[workflow.OutcomeResumed] != 1 || got[workflow.OutcomeStarted] != 1 {
		t.Errorf("got %+v, want two accepted, one resumed, one started", res.Outcomes)
	}
	m.finished("w")
	m.gatedBy(2)
	if got := m.instancesOf("free"); len(got) != 1 {
		t.Errorf("%d of the one without a gate", len(got))
	}
	m.endOf(two)
	m.finished(two)
	m.endOf(m.running("second"))
	m.gatedBy(1)
	m.endOf(one)
	m.finished(one)
	m.running("single")
	for _, o := range m.send("begin", "", key).Outcomes {
		if o.Outcome == workflow.OutcomeRefused || o.Outcome == workflow.OutcomeAccepted {
			t.Errorf("a repeat says %+v", o)
		}
	}
	for _, def := range []string{"single", "second"} {
		if got := m.instancesOf(def); len(got) != 2 {
			t.Errorf("%d of %s", len(got), def)
		}
	}
}

func TestManyEventsForOneSingletonStartOneAfterTheOther(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	m := c[0]
	// It ends by itself, and says its number.
	m.publish("id: one\noptions:\n  activation: Singleton\nroot:\n  - event: hold\n    trigger: true\n  - event: end\n")
	m.send("hold", "", nil)
	holder := m.running("one")
	const n = 50
	for i := range n {
		if res, err := c[i%3].Send(t.Context(), workflow.EventStimulus("work", fmt.Sprint(i)), nil); err != nil || res.Queued == "" {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	m.publish("id: one\noptions:\n  activation: Singleton\nvariables:\n  n: \"\"\nroot:\n  - event: work\n    trigger: true\n    result: n\n  - writeLine: \"${{ variables.n }}\"\n")
	m.gatedBy(n)
	m.endOf(holder)
	eventually(t, "all have run", func() bool {
		done := 0
		for _, in := range m.instancesOf("one") {
			if in.Status == workflow.StatusFinished {
				done++
			}
		}
		return done == n+1
	})
	all := m.instancesOf("one")
	all = slices.DeleteFunc(all, func(in workflow.Instance) bool { return in.ID == holder })
	slices.SortFunc(all, func(a, b workflow.Instance) int { return a.CreatedAt.Compare(b.CreatedAt) })
	seen := map[string]bool{}
	for i, in := range all {
		seen[strings.Join(m.lines(in.ID), "")] = true
		if i > 0 && in.CreatedAt.Before(*all[i-1].FinishedAt) {
			t.Errorf("%s began before %s ended", in.ID, all[i-1].ID)
		}
	}
	if len(seen) != n {
		t.Errorf("%d different events ran, want %d", len(seen), n)
	}
	if got := m.lines(all[0].ID); !slices.Equal(got, []string{"0"}) {
		t.Errorf("the first to run was %q", got)
	}
	if got := m.lines(all[n-1].ID); !slices.Equal(got, []string{fmt.Sprint(n - 1)}) {
		t.Errorf("the last to run was %q", got)
	}
}

// What waited too long is a dead letter, which starts that very definition when it
// is sent again, and nothing else that the event met.
func TestAnEventThatWaitedTooLongBehindAGateIsADeadLetter(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *runtime.Config) { c.QueueTTL = 300 * time.Millisecond })[0]
	m.publish(single, "id: free\nroot:\n  - event: begin\n    trigger: true\n")
	m.send("begin", "", nil)
	holder := m.running("single")
	m.send("begin", "", nil)
	eventually(t, "it is a dead letter", func() bool { return len(m.deadLetters()) == 1 })
	d := m.deadLetters()[0]
	if d.Reason != workflow.DeadGated || !strings.Contains(d.Detail, "single") || len(m.queue()) != 0 {
		t.Errorf("%+v, queue %+v", d, m.queue())
	}
	m.endOf(holder)
	m.finished(holder)
	before := len(m.instancesOf("free"))
	if _, err := m.ReplayDeadLetter(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	if next := m.running("single"); next == holder {
		t.Errorf("it is still %s", next)
	}
	if got := m.instancesOf("free"); len(got) != before {
		t.Errorf("%d of the other definition, want %d", len(got), before)
	}
}

func TestWhatWaitsBehindAGateStartsThoughItsDefinitionIsGone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*member) error{
		"retracted": func(m *member) error { return m.catalog.Retract(m.t.Context(), "single") },
		"deleted":   func(m *member) error { return m.catalog.Delete(m.t.Context(), "single", true) },
		"published again": func(m *member) error {
			m.publish(strings.Replace(single, "writeLine: began", "writeLine: anew", 1))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1)[0]
			m.publish(single, "id: caller\nroot:\n  - publishEvent: begin\n")
			m.send("begin", "", nil)
			holder := m.running("single")
			m.execute("caller", "c", "")
			m.gatedBy(1)
			if err := change(m); err != nil {
				t.Fatal(err)
			}
			m.endOf(holder)
			m.finished(holder)
			if next := m.running("single"); !slices.Equal(m.lines(next), []string{"began"}) {
				t.Errorf("%s wrote %q", next, m.lines(next))
			}
		})
	}
}

// The node whose commit frees the gate dies before it has looked behind it.
func TestAGateThatADeadNodeFreedIsFound(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	a, b := c[0], c[1]
	b.publish(single, "id: caller\nroot:\n  - publishEvent: begin\n")
	b.send("begin", "", nil)
	holder := b.running("single")
	b.execute("caller", "c", "")
	b.gatedBy(1)
	eventually(t, "the nodes know each other", func() bool { return len(b.session.Members()) == 2 })
	gates := func(call clustertest.Call) bool {
		return call.Op != "delete" && call.Touches(a.root+"queue/~gated/single/")
	}
	died := a.die(gates)
	a.endOf(holder)
	<-died
	b.expire("a")
	next := b.running("single")
	if next == holder {
		t.Errorf("it is still %s", next)
	}
}

func TestAScheduleBehindAGateSaysSo(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publish("id: often\noptions:\n  activation: Singleton\nroot:\n  - cron: \"* * * * * *\"\n    trigger: true\n  - event: end\n")
	m.running("often")
	eventually(t, "the list of what is to come says what the gate kept out", func() bool {
		page, err := m.Timers(t.Context(), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(page.Items, func(i runtime.TimerItem) bool {
			return i.DefinitionID == "often" && i.Gated > 1 && time.Since(i.GatedAt) < time.Minute
		})
	})
	if got := m.instancesOf("often"); len(got) != 1 {
		t.Errorf("%d instances", len(got))
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
	m := newCluster(t, 1, func(c *runtime.Config) { c.Metrics = met })[0]
	m.publish(single, "id: caller\nroot:\n  - publishEvent: begin\n")
	m.send("begin", "", nil)
	m.running("single")
	rule := m.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Times: 3, Match: func(c clustertest.Call) bool {
		return slices.ContainsFunc(c.Puts, func(key string) bool { return strings.HasPrefix(key, m.root+"queue/~gated/") })
	}})
	m.execute("caller", "c", "")
	m.gatedBy(1)
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
			m.publish(single)
			m.send("begin", "", nil)
			holder := m.running("single")
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
				ok, err := m.store.Stimuli.Deliver(t.Context(), []etcdstore.Delivery{{Command: cmd, Wait: item,
					New: &etcdstore.NewInstance{Header: etcdstore.NewHeader("i-"+id, cmd, at), Command: cmd, Gate: &gate}}}, nil, nil, nil, nil, nil)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				if size == much {
					large++
				}
			}
			m.gatedBy(len(sizes))
			for i := range len(sizes) - large {
				m.endOf(holder)
				m.finished(holder)
				if holder = m.running("single"); len(m.instancesOf("single")) != i+2 {
					t.Errorf("%d instances, want %d", len(m.instancesOf("single")), i+2)
				}
			}
			m.gatedBy(0)
			dead := m.deadLetters()
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
	look, err := m.store.Stimuli.Match(t.Context(), workflow.EventStimulus("begin", nil), hash, "")
	if err != nil || len(look.Triggers) != 1 {
		t.Fatal(look, err)
	}
	return look.Triggers[0].ActivityID
}

// A child that nobody waits for, and that its gate keeps out, is seen.
func TestADispatchedChildThatIsRefusedIsADeadLetter(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publish(single, "id: parent\nroot:\n  - dispatchWorkflow: {workflowDefinitionId: single, waitForCompletion: false}\n")
	m.execute("parent", "first", "")
	holder := m.running("single")
	if dead := m.deadLetters(); len(dead) != 0 {
		t.Fatalf("%+v", dead)
	}
	m.execute("parent", "second", "")
	dead := m.deadLetters()
	if len(dead) != 1 || dead[0].Reason != workflow.DeadChildRefused || dead[0].InstanceID == holder ||
		!strings.Contains(dead[0].Detail, "instance second dispatched it, of definition single") {
		t.Fatalf("%+v", dead)
	}
	if _, err := m.ReplayDeadLetter(t.Context(), dead[0].ID); workflow.CodeOf(err) != workflow.CodeInvalid {
		t.Errorf("a replay of what is not kept: %v", err)
	}
	if err := m.DeleteDeadLetter(t.Context(), dead[0].ID); err != nil || len(m.deadLetters()) != 0 {
		t.Error(err)
	}
}
