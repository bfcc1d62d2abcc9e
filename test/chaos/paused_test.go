package chaos

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const pair = `
id: pair
root:
  - parallel:
      - [{event: left}, {writeLine: left}]
      - [{event: right}, {writeLine: right}]
      - [{event: never}]
`

// TestAHolderThatIsPausedPastItsLease is what a lock alone does not survive: the
// holder of an instance stops with its commit on the way, its lease ends, another
// node takes over and answers two calls, and then the first one's commit arrives.
// Under the lock alone an acknowledged event leaves no trace, and another has two.
// Weft refuses the late commit.
func TestAHolderThatIsPausedPastItsLease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		weaken      func(*clientv3.Client)
		left, right int // how often the event took effect; both are acknowledged
	}{
		{"a store that trusts its lock", func(c *clientv3.Client) { c.KV = &trusting{KV: c.KV} }, 2, 0},
		{"Weft", nil, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			effects := overtaken(t, c.weaken)
			if effects["left"] != c.left || effects["right"] != c.right {
				t.Errorf("the journal has %v; want left %d times and right %d times", effects, c.left, c.right)
			}
		})
	}
}

// overtaken plays the scene and counts the effects in the journal.
func overtaken(t *testing.T, weaken func(*clientv3.Client)) map[string]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := newWorld(t, 1, weaken)
	w.ttl, w.late = time.Minute, time.Minute // a slow machine loses nothing but what this test takes
	w.calm.Store(true)                       // no faults but those of this test
	for _, id := range []string{"holder", "heir"} {
		if err := w.add(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	holder, heir := w.any(0), w.any(1)
	if _, err := holder.catalog.Publish(ctx, catalog.PublishRequest{Source: []byte(pair), Publish: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := heir.Starts.Execute(ctx, runtime.StartRequest{DefinitionID: "pair", InstanceID: "i"}); err != nil {
		t.Fatal(err)
	}

	// The holder's commit of "left" is on the way when it stops.
	sent := make(chan struct{})
	var once sync.Once
	holder.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: func(c clustertest.Call) bool {
		commit := c.PutsUnder(cluster.Root(w.name) + "journal/i/")
		if commit {
			holder.dead.Store(true)
			once.Do(func() { close(sent) })
		}
		return commit
	}})
	var callers sync.WaitGroup
	defer callers.Wait()
	defer w.stop()
	send := func(m *member, event string) (runtime.SendResult, error) {
		return m.Events.Send(ctx, workflow.EventStimulus(event, nil), &runtime.Key{Scope: "event", Value: event, BodyHash: "b"})
	}
	callers.Go(func() { _, _ = send(holder, "left") }) // nobody answers
	<-sent
	if _, err := w.direct.Revoke(ctx, holder.session.Epoch().Lease); err != nil {
		t.Fatal(err)
	}

	// Another node takes over: an event of somebody else, and the first caller's
	// repeat, as it got no answer. Both are acknowledged.
	for _, event := range []string{"right", "left"} {
		res, err := send(heir, event)
		for err != nil && ctx.Err() == nil { // as callers do
			res, err = send(heir, event)
		}
		if err != nil || len(res.Outcomes) != 1 || res.Outcomes[0].Outcome == workflow.OutcomeRefused {
			t.Fatalf("%s: %+v, %v", event, res, err)
		}
		for written(ctx, t, w)[event] != 1 { // a slow node has answered that it is accepted
			select {
			case <-ctx.Done():
				t.Fatalf("%s was acknowledged and took no effect", event)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}

	if n := holder.faults.Deliver(); n != 1 {
		t.Fatalf("%d commits were on the way", n)
	}
	return written(ctx, t, w)
}

// written counts the lines in the instance's journal as it is stored: what the API
// shows ends with the commit that the record names, and that is overwritten here.
func written(ctx context.Context, t *testing.T, w *world) map[string]int {
	t.Helper()
	resp, err := w.direct.Get(ctx, cluster.Root(w.name)+"journal/i/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	effects := map[string]int{}
	for _, kv := range resp.Kvs {
		var entry struct {
			Items []struct {
				Event string `json:"e"`
				Text  string `json:"text"`
			} `json:"items"`
		}
		if err := etcdstore.Decode(kv.Value, &entry); err != nil {
			t.Fatal(err)
		}
		for _, it := range entry.Items {
			if it.Event == "WriteLine" {
				effects[strings.TrimSpace(it.Text)]++
			}
		}
	}
	return effects
}
