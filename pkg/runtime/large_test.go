package runtime_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// bulk is a text of n characters that the store cannot compress.
func bulk(n int, seed uint64) string {
	raw := make([]byte, n*3/4)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// hold keeps an instance busy, as a burst does, until it is released. It is for a node
// that is sent nothing for it.
func (m *member) hold(id string) (release func()) {
	m.T.Helper()
	var lock *cluster.Lock
	eventually(m.T, "the instance is idle", func() (ok bool) {
		var err error
		lock, err = m.Session.Locks().TryAcquire(m.T.Context(), cluster.InstanceLock(id))
		return err == nil
	})
	return func() {
		m.T.Helper()
		if err := lock.Release(m.T.Context()); err != nil {
			m.T.Error(err)
		}
	}
}

func shortReply(c *membertest.Config) { c.ReplyWait = time.Millisecond }

// Events that each send a document on are all relayed, also those that met the
// instance busy and are too much for one commit together.
func TestManyEventsThatSendALotAreAllRelayed(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, shortReply)
	a, b := c[0], c[1]
	a.Publish(`
id: relay
options: {logging: Exclude}
inputs: {doc: string}
variables: {n: 0}
root:
  - while: ${{ variables.n < 41 }}
    body:
      - event: go
      - publishEvent: {eventName: out, payload: "${{ inputs.doc }}"}
      - setVariable: {variable: n, value: "${{ variables.n + 1 }}"}
`)
	_, err := a.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "relay", InstanceID: "r", CorrelationID: "1", Input: map[string]any{"doc": bulk(50_000, 1)}})
	if err != nil {
		t.Fatal(err)
	}
	release := c[2].hold("r")
	for i := range 41 {
		if res := c[i%2].Event("go", "1", nil); len(res.Outcomes) != 1 || res.Outcomes[0].Outcome != workflow.OutcomeAccepted {
			t.Fatalf("event %d: %+v", i, res)
		}
	}
	release()
	b.Wakeups.Hint([]string{"r"}, false) // all at once, as the one that was busy would find them
	b.Finished("r")
	eventually(t, "41 events are queued", func() bool { return queued(t, b) == 41 })
	b.NothingDead()
}

// queued is how many stimuli wait in the queue.
func queued(t *testing.T, m *member) int {
	items, end, err := m.Store.Reader.QueueItems(t.Context(), "", "", 500)
	if err != nil || end.Next != "" {
		t.Fatal(end, err)
	}
	return len(items)
}

// A parent goes on with what all its children put out, also if that is too much for
// one commit.
func TestEndsOfChildrenThatPutOutALotAreAllTold(t *testing.T) {
	t.Parallel()
	for _, children := range []int{2, 45} {
		t.Run(fmt.Sprint(children), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3, shortReply)
			a, b := c[0], c[1]
			a.Publish(`
id: child
options: {logging: Exclude}
inputs: {doc: string}
outputs: {doc: "${{ inputs.doc }}"}
root:
  - writeLine: done
`, `
id: parent
options: {logging: Exclude}
inputs: {doc: string, items: "Object[]"}
root:
  - parallelForEach: ${{ inputs.items }}
    body:
      - executeWorkflow: {workflowDefinitionId: child, waitForCompletion: true, input: {doc: "${{ inputs.doc }}"}}
      - publishEvent: {eventName: out, payload: "${{ inputs.doc }}"}
`)
			items := make([]any, children)
			for i := range items {
				items[i] = i
			}
			if _, err := a.Starts.Dispatch(t.Context(), runtime.StartRequest{DefinitionID: "parent", InstanceID: "p", Input: map[string]any{"doc": bulk(60_000, 1), "items": items}}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the parent has its children", func() bool {
				in, err := b.Inspector.Instance(t.Context(), "p")
				return err == nil && (len(in.Bookmarks) > 0 || in.Status == workflow.StatusFinished) // two may be fast
			})
			release := c[2].hold("p")
			var waits int
			eventually(t, "the children have ended", func() bool {
				in, err := b.Inspector.Instance(t.Context(), "p")
				if err != nil {
					t.Fatal(err)
				}
				waits = len(in.Bookmarks)
				l, err := b.Store.Instances.Load(t.Context(), "p", "", "")
				return err == nil && len(l.Mail) >= waits
			})
			release()
			if in := b.Finished("p"); in.SubStatus != workflow.Finished {
				t.Errorf("the parent is %s: %+v", in.SubStatus, in.Incidents)
			}
			eventually(t, "all was sent on", func() bool { return queued(t, b) == children })
			b.NothingDead()
		})
	}
}

// A large event is for all that it meets, one slice after the other: no slice has it
// twice, however few fit one.
func TestALargeEventReachesSeveral(t *testing.T) {
	t.Parallel()
	const waits, starts, single = "waits", "starts", "single"
	for _, to := range [][]string{{waits, waits}, {waits, waits, waits, starts}, {starts, single, waits}} {
		for _, size := range []int{300_000, 720_000, 1_000_000} {
			for _, by := range []string{"a caller", "an instance"} {
				if by == "an instance" && size > 600_000 {
					continue // which has it in its input too
				}
				t.Run(fmt.Sprintf("%v/%d/%s", to, size, by), func(t *testing.T) {
					t.Parallel()
					c := newCluster(t, 2, shortReply)
					a, b := c[0], c[1]
					const options = "\noptions: {logging: Exclude"
					triggered := "\nroot:\n  - {event: go, trigger: true, outputs: {result: kept}}\n  - writeLine: \"${{ len(variables.kept) }}\"\n"
					a.Publish("id: waits"+options+"}\nvariables: {kept: \"\"}\nroot:\n  - {event: go, outputs: {result: kept}}\n  - writeLine: \"${{ len(variables.kept) }}\"\n",
						"id: sends"+options+"}\ninputs: {doc: string}\nroot:\n  - publishEvent: {eventName: go, payload: \"${{ inputs.doc }}\"}\n")
					var waiting []string
					for i, what := range to {
						switch what {
						case waits:
							id := fmt.Sprint("w", i)
							a.Start("waits", id, "")
							waiting = append(waiting, id)
						case starts:
							a.Publish("id: starts" + options + "}\nvariables: {kept: \"\"}" + triggered)
						case single:
							a.Publish("id: single" + options + ", activation: Singleton}\nvariables: {kept: \"\"}" + triggered)
						}
					}
					if by == "a caller" {
						if _, err := a.Events.Send(t.Context(), workflow.EventStimulus("go", bulk(size, 1)), nil); err != nil {
							t.Fatal(err)
						}
					} else if _, err := a.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "sends", InstanceID: "s", Input: map[string]any{"doc": bulk(size, 1)}}); err != nil {
						t.Fatal(err)
					}
					for _, id := range waiting {
						b.Finished(id)
					}
					eventually(t, "all have it", func() bool {
						b.NothingDead()
						page, err := b.Inspector.Instances(t.Context(), runtime.InstanceFilter{}, runtime.Paging{Limit: 50})
						if err != nil {
							t.Fatal(err)
						}
						n := 0
						for _, in := range page.Items {
							if in.Status == workflow.StatusFinished && in.DefinitionID != "sends" {
								n++
							}
						}
						return n == len(to) || t.Failed()
					})
					sends, _, err := b.Store.Upkeep.Sends(t.Context(), "", 10)
					left, gerr := clustertest.Shared(t).Client(t).Get(t.Context(), b.Root+"sent/", clientv3.WithPrefix(), clientv3.WithCountOnly())
					if err != nil || gerr != nil || len(sends) > 0 || left.Count > 0 {
						t.Errorf("%d records and %d counts are left, %v, %v", len(sends), left.Count, err, gerr)
					}
				})
			}
		}
	}
}

// What cannot be committed, nor set aside together with its instance, leaves the
// mailbox all the same: what came behind it is applied.
func TestWhatFitsNowhereIsInNobodysWay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		doc, event int
		ends       bool // the instance ends before it
		addressed  bool
		reason     workflow.DeadReason
	}{
		"at the limit":            {1_270_000, 640_000, false, false, workflow.DeadTooLarge},
		"as much as a body":       {1_000_000, 1_000_000, false, true, workflow.DeadTooLarge},
		"the event is the larger": {940_000, 980_000, false, false, workflow.DeadTooLarge},
		"the instance has ended":  {900_000, 780_000, true, true, workflow.DeadInstanceFinished},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3, shortReply, func(c *membertest.Config) {
				c.Retention = retention.Limits{Finished: time.Second, Grace: time.Millisecond}
				c.Whole = true // of one in parts, an event finds room beside what a commit writes
			})
			a, b := c[0], c[1]
			a.Publish(`
id: keeps
options: {logging: Exclude}
inputs: {doc: string}
variables: {n: 0, kept: "", big: ""}
root:
  - parallel:
      - while: ${{ variables.n < 1 }}
        body:
          - event: go
            outputs: {result: kept}
          - if: ${{ variables.kept == "small" }}
            then: [{setVariable: {variable: n, value: 1}}]
            else: [{setVariable: {variable: big, value: "${{ variables.kept }}"}}] # also where both are in one burst
      - event: end
`)
			if _, err := a.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "keeps", InstanceID: "k", CorrelationID: "1", Input: map[string]any{"doc": bulk(tt.doc, 1)}}); err != nil {
				t.Fatal(err)
			}
			release := c[2].hold("k")
			if tt.ends {
				if _, err := b.Commands.Cancel(t.Context(), "k", nil); err != nil {
					t.Fatal(err)
				}
			}
			big := workflow.EventStimulus("go", bulk(tt.event, 2))
			big.CorrelationID = "1"
			if tt.addressed {
				big.InstanceID = "k"
			}
			if res, err := a.Events.Send(t.Context(), big, nil); err != nil || len(res.Outcomes) != 1 || res.Outcomes[0].Outcome != workflow.OutcomeAccepted {
				t.Fatalf("%+v, %v", res, err)
			}
			if !tt.ends {
				small := workflow.EventStimulus("go", "small")
				small.CorrelationID = "1"
				if _, err := b.Events.Send(t.Context(), small, nil); err != nil {
					t.Fatal(err)
				}
				b.Event("end", "1", nil)
			}
			release()
			b.Finished("k")
			var d runtime.DeadLetter
			eventually(t, "the dead letter", func() bool {
				page, err := b.Inspector.DeadLetters(t.Context(), runtime.DeadLetterFilter{}, "", 10)
				if err != nil || len(page.Items) > 1 {
					t.Fatal(len(page.Items), err)
				}
				if len(page.Items) == 0 {
					// It may have been taken over, on a slow machine: then it rests, the small
					// one goes first, and it is for whoever waits next.
					return queued(t, b) == 1
				}
				d = page.Items[0]
				return true
			})
			if d.ID == "" {
				return
			}
			if d.Reason != tt.reason || d.Command == nil || d.Dropped != nil || d.Stimulus == nil || d.Stimulus.Input["payload"] != big.Input["payload"] {
				t.Errorf("got the dead letter %s (%s), dropped %+v", d.Reason, d.Detail, d.Dropped)
			}
			eventually(t, "the instance is purged", func() bool {
				_, err := b.Inspector.Instance(t.Context(), "k")
				return workflow.CodeOf(err) == workflow.CodeInstanceNotFound
			})
		})
	}
}
