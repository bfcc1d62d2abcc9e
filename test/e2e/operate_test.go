package e2e

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// A pause, asked of one node, holds on all of them when it is answered: nothing
// starts, nothing is resumed, no timer fires; what runs goes on. After unpause
// everything goes on that waited.
func TestPauseStopsTheWholeClusterAndUnpauseLetsItGoOn(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	out := newOutside(t)
	c.publish(t, calling)
	c.publish(t, "id: later\nroot:\n  - delay: 1s\n  - writeLine: due\n")
	c.publish(t, "id: waits\nroot:\n  - event: go\n  - writeLine: went\n")
	c.execute(t, c.any(), "waits", "w", `{"correlationId": "w"}`)
	c.dispatch(t, c.any(), "calling", "running", fmt.Sprintf(`{"input": {"url": %q}}`, out.hold("/running")))
	out.wait(t, "/running", 1)
	c.execute(t, c.any(), "later", "timer", "{}")

	c.must(t, c.members[1], "POST", "/api/v1/pause", "{}", 200)
	for _, m := range c.members {
		for path, body := range map[string]string{
			"/api/v1/definitions/later/execute": "{}", "/api/v1/definitions/later/dispatch": "{}", "/api/v1/events/go": `{"correlationId": "w"}`,
		} {
			if a := c.call(t, m, "POST", path, body); a.status != 503 || a.text("code") != "paused" || a.header.Get("Retry-After") == "" {
				t.Errorf("POST %s on %s while paused: %s", path, m.id, a)
			}
		}
	}
	for _, m := range c.members {
		polltest.Eventually(t, m.id+" shows the pause", func() bool { // its view of the others follows
			return !slices.ContainsFunc(c.call(t, m, "GET", "/api/v1/nodes", "").items(), func(n map[string]any) bool { return n["paused"] != true })
		})
	}
	out.release("/running")
	c.waitFor(t, c.any(), "running", "Finished")
	fresh := c.start(t, outcomes) // a node that starts meanwhile is paused too
	polltest.Eventually(t, "the new node is paused", func() bool {
		return c.call(t, fresh, "POST", "/api/v1/definitions/later/dispatch", "{}").text("code") == "paused"
	})
	// The timer is due after a second; a good second later it still has not fired.
	due := stamp(t, objects(c.instance(t, c.any(), "timer").body["bookmarks"])[0]["dueAt"])
	for time.Since(due) < 1500*time.Millisecond {
		for _, id := range []string{"timer", "w"} {
			if a := c.instance(t, c.any(), id); a.text("subStatus") != "Suspended" {
				t.Fatalf("%s moved while paused: %s", id, a)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.must(t, c.members[2], "POST", "/api/v1/unpause", "{}", 200)
	if a := c.event(t, c.any(), "go", "w"); kind(a) != "resumed" {
		t.Errorf("event after the pause: %s", a)
	}
	took := c.waitFor(t, c.any(), "timer", "Finished")
	t.Logf("the timer fired %v after the end of the pause", took.Round(time.Millisecond))
	c.wantLines(t, c.any(), "timer", "due")
	c.wantLines(t, c.any(), "w", "went")
	c.checkHistories(t)
}

// One process of three is told to stop while clients are at work who go to
// another node when one refuses or is not there: no request of theirs fails, each
// takes effect once, and the process ends with 0, its instances with the others.
func TestDrainUnderLoadFailsNoRequest(t *testing.T) {
	t.Parallel()
	c := processes(t)
	out := newOutside(t)
	c.publish(t, calling)
	c.publish(t, "id: work\nroot:\n  - writeLine: one\n  - event: go\n  - writeLine: two\n")
	drained := c.members[0]
	var ops, again atomic.Int64
	over := make(chan struct{})
	// persist repeats a call with its key, on one node after the other.
	persist := func(first int, path, body, key string) answer {
		var a answer
		for try := range 50 {
			m := c.members[(first+try)%3]
			a = c.callContext(context.WithoutCancel(t.Context()), m, "POST", path, body, "Idempotency-Key: "+key)
			if a.outcome == done {
				return a
			}
			if a.status != 0 && a.status != 503 {
				break
			}
			again.Add(1)
			time.Sleep(5 * time.Millisecond)
		}
		t.Errorf("POST %s %s: %s", path, body, a)
		return a
	}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				id := fmt.Sprintf("l%d-%d", w, i)
				persist(w+i, "/api/v1/definitions/work/execute", fmt.Sprintf(`{"instanceId": %q, "correlationId": %q}`, id, id), "start-"+id)
				persist(w+i+1, "/api/v1/events/go", fmt.Sprintf(`{"correlationId": %q}`, id), "go-"+id)
				ops.Add(1)
			}
		})
	}
	polltest.Eventually(t, "the load runs", func() bool { return ops.Load() > 30 })
	// One burst is in the middle of a request when the signal comes.
	c.dispatch(t, drained, "calling", "slow", fmt.Sprintf(`{"input": {"url": %q}}`, out.hold("/slow")))
	out.wait(t, "/slow", 1)
	before := ops.Load()
	drained.signal(t, syscall.SIGTERM)
	polltest.Eventually(t, "the load goes on", func() bool { return ops.Load() > before+30 })
	select {
	case <-drained.process.ended:
		t.Error("it ended before its burst did")
	default:
	}
	out.release("/slow")
	if code := drained.exit(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	drained.gone = true
	after := ops.Load()
	polltest.Eventually(t, "the load goes on without it", func() bool { return ops.Load() > after+30 })
	close(over)
	wg.Wait()
	t.Logf("%d instances; %d calls were repeated elsewhere", ops.Load(), again.Load())
	if again.Load() == 0 {
		t.Error("no call met the draining node: nothing was shown")
	}
	c.waitFor(t, c.any(), "slow", "Finished")
	c.wantLines(t, c.any(), "slow", "before", "after")
	if keys := out.keys("/slow"); len(keys) != 1 {
		t.Errorf("the burst of the draining node ran %d times", len(keys))
	}
	polltest.Eventually(t, "all instances finish", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?definitionId=work&status=Running")) == 0
	})
	finished := c.list(t, c.any(), "/api/v1/instances?definitionId=work&subStatus=Finished")
	if len(finished) != int(ops.Load()) {
		t.Errorf("%d instances finished, want %d", len(finished), ops.Load())
	}
	for i, in := range finished {
		if i%7 == 0 { // a sample: each is a call
			id, _ := in["instanceId"].(string)
			c.wantLines(t, c.any(), id, "one", "two")
		}
	}
	if left := len(c.list(t, c.any(), "/api/v1/queue")); left != 0 {
		t.Errorf("%d events are left in the queue", left)
	}
	c.checkHistories(t)
}

// While etcd is away nothing is acknowledged and readyz says why; when it is back
// the nodes go on by themselves, and what was repeated with its key took effect
// once.
func TestNothingIsAcknowledgedWhileEtcdIsAway(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clustertest.Shared(t))
	proxy := c.etcd.Proxy(t)
	for range 3 {
		c.start(t, func(cfg *node.Config) {
			cfg.EtcdEndpoints, cfg.SessionTTL = []string{proxy.Endpoint()}, shortTTL
		})
	}
	t.Cleanup(proxy.Heal)
	c.settle(t)
	c.publish(t, "id: work\nroot:\n  - writeLine: one\n  - event: go\n  - writeLine: two\n")
	const n = 6
	for i := range n {
		c.execute(t, c.any(), "work", "before"+strconv.Itoa(i), fmt.Sprintf(`{"correlationId": "before%d"}`, i))
	}
	proxy.BlackHole()
	begin := time.Now()
	request := func(i int) (path, body, key string) {
		id := strconv.Itoa(i)
		if i%2 == 0 {
			return "/api/v1/definitions/work/execute", fmt.Sprintf(`{"instanceId": "during%s", "correlationId": "during%s"}`, id, id), "Idempotency-Key: during" + id
		}
		return "/api/v1/events/go", fmt.Sprintf(`{"correlationId": "before%d"}`, i/2), "Idempotency-Key: during" + id
	}
	var wg sync.WaitGroup
	for i := range 2 * n {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), shortTTL+3*time.Second)
			defer cancel()
			path, body, key := request(i)
			if a := c.callContext(ctx, c.members[i%3], "POST", path, body, key); a.outcome == done {
				t.Errorf("acknowledged while etcd is away: POST %s %s: %s", path, body, a)
			}
		})
	}
	for _, m := range c.members {
		var a answer
		polltest.Eventually(t, m.id+" is not ready", func() bool {
			a = c.call(t, m, "GET", "/readyz", "")
			return a.status == 503
		})
		if !strings.Contains(a.text("detail"), "session") && !strings.Contains(a.text("detail"), "etcd") {
			t.Errorf("%s does not say why it is not ready: %s", m.id, a)
		}
		if a := c.call(t, m, "GET", "/livez", ""); a.status != 200 {
			t.Errorf("livez of %s: %s", m.id, a)
		}
	}
	t.Logf("not ready after %v", time.Since(begin).Round(time.Millisecond))
	wg.Wait()
	proxy.Heal()
	healed := time.Now()
	for _, m := range c.members {
		polltest.Eventually(t, m.id+" is ready again", func() bool { return c.call(t, m, "GET", "/readyz", "").status == 200 })
	}
	t.Logf("ready again after %v", time.Since(healed).Round(time.Millisecond))
	for i := range 2 * n {
		path, body, key := request(i)
		polltest.Eventually(t, "the repeated call is answered", func() bool {
			a := c.call(t, c.any(), "POST", path, body, key)
			if a.outcome == failed {
				t.Fatalf("repeated: POST %s %s: %s", path, body, a)
			}
			return a.outcome == done
		})
	}
	for i := range n {
		id, during := "before"+strconv.Itoa(i), "during"+strconv.Itoa(2*i)
		c.waitFor(t, c.any(), id, "Finished")
		c.wantLines(t, c.any(), id, "one", "two")
		c.waitFor(t, c.any(), during, "Suspended")
		c.wantLines(t, c.any(), during, "one")
	}
	if left := c.list(t, c.any(), "/api/v1/queue"); len(left) != 0 {
		t.Errorf("left in the queue: %v", left)
	}
	if lost := c.total(t, "weft_sessions_lost_total"); lost < 3 {
		t.Errorf("%v sessions were lost, want 3 or, on a slow machine, more", lost)
	}
	c.checkHistories(t)
}

// A node that does not reach etcd at its start says so and ends within the dial
// timeout, whether nobody listens there or nobody answers.
func TestStartWithoutEtcdEndsWithAMessage(t *testing.T) {
	t.Parallel()
	nobody, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	c := newCluster(t, clustertest.Shared(t))
	if _, err := binary(); err != nil { // the time to build it is not the node's
		t.Fatal(err)
	}
	silent := c.etcd.Proxy(t)
	silent.BlackHole()
	atOnce(2, func(i int) {
		endpoint := []string{nobody.Addr().String(), silent.Endpoint()}[i]
		begin := time.Now()
		m := c.spawn(t, "n"+strconv.Itoa(i), "--etcd-endpoints", endpoint)
		if m == nil {
			return
		}
		select {
		case <-m.process.ended:
		case <-time.After(patience):
			t.Errorf("%s: it does not end", endpoint)
			return
		}
		const dialTimeout = 5 * time.Second
		if took := time.Since(begin); took > dialTimeout+20*time.Second { // the rest is for the process to start
			t.Errorf("%s: it ended after %v", endpoint, took)
		}
		if code := m.process.cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("%s: exit code %d", endpoint, code)
		}
		if log := m.log.String(); !strings.Contains(log, "etcd at "+endpoint+" did not answer within 5s") || strings.Contains(log, "goroutine") {
			t.Errorf("it says %s", log)
		}
	})
}
