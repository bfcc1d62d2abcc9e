package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	nodes "github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// stall is an instance that does not go on, and what explain alone has to say of it, on
// every node.
type stall struct {
	prepare     func(t *testing.T, shared *cluster) (c *cluster, id string)
	state, want string
	says        []string
	next        string // what the first advice begins with
}

// crowd are events of other cases, more than an explanation looks through: what explains a
// stall lies among them, and none of them does.
func crowd(t *testing.T, c *cluster, event string) {
	t.Helper()
	for i := range 250 {
		c.must(t, c.any(), "POST", "/api/v1/events/"+event, fmt.Sprintf(`{"correlationId": "invoice %d"}`, i), 202)
	}
}

// TestExplainNamesEveryStall prepares what stops instances in practice, in a cluster whose queue is full of
// what is for others. The sentence and the cause have to name it; nothing else is looked at.
func TestExplainNamesEveryStall(t *testing.T) {
	t.Parallel()
	shared := inProcess(t)
	crowd(t, shared, "approved")
	shared.publish(t, "id: asks\nroot:\n  - event: approved\n  - writeLine: done\n")
	for name, s := range map[string]stall{
		"missing event": {missingEvent, "waiting", "event", []string{"waits for event approved, correlation missing, since "}, `POST /events/approved {"correlationId":"missing"}`},
		"wrong correlation": {otherCorrelation, "waiting", "other-correlation",
			[]string{"waits for event approved, correlation o-2", `; nearly: it came for correlation "o-1", and this one has "o-2" (in the queue, since `}, "if it is the one: POST /queue/"},
		"misspelt event": {misspelt, "waiting", "other-name",
			[]string{"waits for event approved", `; nearly: it came as "aproved", and this one waits for "approved" (in the queue, since `}, "if it is the one: POST /queue/"},
		"paused cluster": {pausedCluster, "waiting", "paused", []string{"waits for its delay", "; the cluster is paused: starts, events, timers and the queue wait"}, "POST /unpause"},
		"held lock":      {heldLock, "running", "lock", []string{"node ghost holds its lock, and could not be asked what it is at, since "}, "look at node ghost"},
		"slow activity":  {slowActivity, "running", "activity", []string{" runs it, since ", "; it is at activity charge (Elsa.SendHttpRequest), attempt 2, since "}, ""},
		"late timer because of a clock": {wrongClock, "waiting", "clock", []string{"waits for its delay", "; the clock of node n0 is ", " ahead of those of the others: it fires no timers"},
			"set the clock of node n0 right"},
		"faulted child": {faultedChild, "waiting", "faulted-child", []string{"waits for event shipped", "; its child ", " (ships) is faulted: no truck"}, "GET /instances/"},
		"dead letter": {deadLetter, "waiting", "dead-letter",
			[]string{"waits for event approved, correlation early", " before this one waited, and became a dead letter (expired) (among the dead letters, since "}, "POST /dead-letters/"},
		"behind a gate": {behindGate, "queued", "gate", []string{"it starts when instance first has ended, as one instance of single runs at a time; 2 starts wait for that, the oldest goes first, since "},
			"GET /instances/first/explain"},
		"a branch that faulted": {faultedBranch, "waiting", "event", []string{"waits for event approved, correlation branch", "; activity greet in it is faulted: "}, `POST /events/approved {"correlationId":"branch"}`},
		"a timeout":             {timeout, "waiting", "event", []string{"waits for event confirmed, since ", "; or for the timeout of event1, in 47 h ("}, "POST /events/confirmed"},
		"drained node":          {drainedNode, "running", "drain", []string{"node n0 runs it and is draining", "; it is at activity "}, ""},
		"etcd nearly full":      {fullStore, "waiting", "full", []string{"waits for event approved", "; etcd is full: only what ends or deletes instances is taken"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, id := s.prepare(t, shared)
			for _, m := range c.live() {
				var x answer
				wrong := []string{"it was not asked"}
				deadline := time.Now().Add(patience) // clocks are known after some heartbeats
				for ; len(wrong) > 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
					x = c.must(t, m, "GET", "/api/v1/instances/"+id+"/explain", "", 200)
					wrong = s.misnamed(x)
				}
				if len(wrong) > 0 {
					t.Errorf("%s does not name it: %q\n%s", m.id, wrong, x)
				}
			}
		})
	}
}

// misnamed tells what is wrong with an explanation.
func (s *stall) misnamed(x answer) (wrong []string) {
	if x.text("state") != s.state || x.text("cause") != s.want {
		wrong = append(wrong, "state "+x.text("state")+", cause "+x.text("cause"))
	}
	for _, want := range s.says {
		if !strings.Contains(x.text("summary"), want) {
			wrong = append(wrong, "without "+want)
		}
	}
	next, _ := x.body["next"].([]any)
	if s.next != "" && (len(next) == 0 || !strings.HasPrefix(fmt.Sprint(next[0]), s.next)) {
		wrong = append(wrong, fmt.Sprintf("advice %q", next))
	}
	return wrong
}

// alone is a cluster that only one stall has.
func alone(t *testing.T, n int, change ...func(*node.Config)) *cluster {
	t.Helper()
	c := newCluster(t, clustertest.Shared(t))
	for range n {
		c.start(t, change...)
	}
	c.settle(t)
	return c
}

func missingEvent(t *testing.T, c *cluster) (*cluster, string) {
	c.execute(t, c.any(), "asks", "missing", `{"correlationId": "missing"}`)
	return c, "missing"
}

func otherCorrelation(t *testing.T, c *cluster) (*cluster, string) {
	c.execute(t, c.any(), "asks", "o-2-order", `{"correlationId": "o-2"}`)
	c.must(t, c.any(), "POST", "/api/v1/events/approved", `{"correlationId": "o-1"}`, 202)
	return c, "o-2-order"
}

func misspelt(t *testing.T, c *cluster) (*cluster, string) {
	c.execute(t, c.any(), "asks", "spelt", `{"correlationId": "spelt"}`)
	c.must(t, c.any(), "POST", "/api/v1/events/aproved", `{"correlationId": "spelt"}`, 202)
	return c, "spelt"
}

func pausedCluster(t *testing.T, _ *cluster) (*cluster, string) {
	c := alone(t, 2)
	c.publish(t, "id: later\nroot:\n  - delay: 1s\n")
	c.execute(t, c.any(), "later", "l", "{}")
	c.must(t, c.any(), "POST", "/api/v1/pause", "{}", 200)
	return c, "l"
}

// heldLock is a node that hangs and whose session lives: it keeps its locks.
func heldLock(t *testing.T, c *cluster) (*cluster, string) {
	ghost, err := nodes.Open(t.Context(), nodes.Config{Client: c.etcd.Client(t), Cluster: c.name, NodeID: "ghost", Address: "127.0.0.1:1", TTL: 10 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- ghost.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		_ = errors.Join(<-ran, ghost.Close(context.WithoutCancel(t.Context()))) // its lease ends anyway
	})
	c.execute(t, c.any(), "asks", "held", `{"correlationId": "held"}`)
	polltest.Eventually(t, "the ghost has the lock", func() bool {
		_, err := ghost.Locks().TryAcquire(t.Context(), nodes.InstanceLock("held"))
		return err == nil
	})
	for _, m := range c.live() {
		polltest.Eventually(t, m.id+" sees the ghost", func() bool {
			return slices.ContainsFunc(c.call(t, m, "GET", "/api/v1/nodes", "").items(), func(n map[string]any) bool { return n["nodeId"] == "ghost" })
		})
	}
	c.must(t, c.any(), "POST", "/api/v1/events/approved", `{"correlationId": "held"}`, 202)
	return c, "held"
}

// slowActivity is a call outside that hangs in its second attempt.
func slowActivity(t *testing.T, c *cluster) (*cluster, string) {
	var calls atomic.Int32
	hangs, end := make(chan struct{}), make(chan struct{})
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		close(hangs)
		<-end
	}))
	t.Cleanup(func() { close(end); outside.Close() })
	c.publish(t, "id: charges\nroot:\n  - sendHttpRequest: "+outside.URL+"\n    id: charge\n    retry: {attempts: 2, delay: 100ms, on: 5xx}\n")
	c.dispatch(t, c.any(), "charges", "slow", "{}")
	select {
	case <-hangs:
	case <-time.After(patience):
		t.Fatal("the second attempt does not come")
	}
	return c, "slow"
}

// wrongClock is a node whose clock is ahead: what it lets wait is due when the others' clocks
// have come so far.
func wrongClock(t *testing.T, _ *cluster) (*cluster, string) {
	c := alone(t, 3, func(cfg *node.Config) {
		cfg.SessionTTL = 3 * time.Second
		if cfg.NodeID == "n0" {
			cfg.Now = func() time.Time { return time.Now().Add(10 * time.Minute) }
		}
	})
	c.publish(t, "id: later\nroot:\n  - delay: 1s\n")
	c.execute(t, c.members[0], "later", "clock", "{}")
	return c, "clock"
}

// faultedChild does not send what its parent waits for.
func faultedChild(t *testing.T, c *cluster) (*cluster, string) {
	c.publish(t, "id: ships\nroot:\n  - fault: no truck\n")
	c.publish(t, "id: orders\nroot:\n  - dispatchWorkflow: ships\n  - event: shipped\n")
	c.execute(t, c.any(), "orders", "parent", "{}")
	return c, "parent"
}

// behindGate is a start that an event was accepted for, while another instance runs.
func behindGate(t *testing.T, c *cluster) (*cluster, string) {
	c.publish(t, "id: single\noptions: {activation: Singleton}\nroot:\n  - event: begins\n    trigger: true\n  - event: ends\n")
	c.publish(t, "id: beside\nroot:\n  - event: begins\n    trigger: true\n")
	c.execute(t, c.any(), "single", "first", "{}")
	id := ""
	for range 2 {
		for _, o := range objects(c.must(t, c.any(), "POST", "/api/v1/events/begins", "{}", 202).body["outcomes"]) {
			if o["outcome"] == "accepted" {
				id, _ = o["instanceId"].(string)
			}
		}
	}
	polltest.Eventually(t, "both starts wait", func() bool {
		x := c.call(t, c.any(), "GET", "/api/v1/instances/first/explain", "")
		gate, _ := x.body["gate"].(map[string]any)
		return gate["behind"] == 2.0 && gate["holder"] == "first" && gate["definitionId"] == "single" && strings.Contains(x.text("summary"), "; 2 starts wait until it has ended")
	})
	return c, id
}

// faultedBranch goes on beside what faulted in it.
func faultedBranch(t *testing.T, c *cluster) (*cluster, string) {
	c.publish(t, "id: branches\noptions: {incidents: ContinueWithIncidents}\nvariables: {who: object}\nroot:\n  - parallel:\n      - event: approved\n      - writeLine: \"hello ${{ variables.who.name }}\"\n        id: greet\n")
	c.execute(t, c.any(), "branches", "branch", `{"correlationId": "branch"}`)
	return c, "branch"
}

func timeout(t *testing.T, c *cluster) (*cluster, string) {
	c.publish(t, "id: confirms\nroot:\n  - event: confirmed\n    timeout: 48h\n")
	c.execute(t, c.any(), "confirms", "confirm", "{}")
	return c, "confirm"
}

func deadLetter(t *testing.T, _ *cluster) (*cluster, string) {
	c := alone(t, 2, func(cfg *node.Config) { cfg.QueueTTL = time.Second })
	crowd(t, c, "others")
	c.must(t, c.any(), "POST", "/api/v1/events/approved", `{"correlationId": "early"}`, 202)
	polltest.Eventually(t, "the event is a dead letter", func() bool {
		return len(c.call(t, c.any(), "GET", "/api/v1/dead-letters?limit=500", "").items()) == 251
	})
	c.publish(t, "id: asks\nroot:\n  - event: approved\n")
	c.execute(t, c.any(), "asks", "early", `{"correlationId": "early"}`)
	return c, "early"
}

// drainedNode is asked of the other node.
func drainedNode(t *testing.T, _ *cluster) (*cluster, string) {
	c := alone(t, 2, func(cfg *node.Config) { cfg.DrainTimeout = time.Minute })
	out := newOutside(t)
	c.publish(t, calling)
	c.dispatch(t, c.members[0], "calling", "drained", fmt.Sprintf(`{"input": {"url": %q}}`, out.hold("/drained")))
	out.wait(t, "/drained", 1)
	if holder := c.holder(t, c.members[0], "drained"); holder != c.members[0] {
		t.Fatalf("it is %v that holds it", holder)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		c.members[0].stop(t)
	}()
	t.Cleanup(func() { out.release("/drained"); <-stopped })
	polltest.Eventually(t, "it is draining", func() bool {
		return slices.ContainsFunc(c.call(t, c.members[1], "GET", "/api/v1/nodes", "").items(), func(n map[string]any) bool { return n["nodeId"] == "n0" && n["draining"] == true })
	})
	return c, "drained"
}

// fullStore is a node on an etcd of its own, with what others put into it.
func fullStore(t *testing.T, _ *cluster) (*cluster, string) {
	const quota = 16 << 20
	c := alone(t, 1, func(cfg *node.Config) { cfg.EtcdEndpoints, cfg.DataDir, cfg.EtcdQuota = nil, t.TempDir(), quota })
	c.publish(t, "id: asks\nroot:\n  - event: approved\n")
	c.execute(t, c.any(), "asks", "f", `{"correlationId": "f"}`)
	etcd, err := clientv3.New(clientv3.Config{Endpoints: c.members[0].node.EtcdEndpoints(), DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	// At the quota etcd's alarm would be another stall.
	clustertest.Fill(t, etcd, "/ballast/", quota, 0.87, func() bool {
		return c.metric(t, c.members[0], "weft_store_level") == 2
	})
	return c, "f"
}
