package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// Networks to etcd break, hang and heal, leases are revoked, etcd itself
// restarts, all at random under load. Clients repeat what is not acknowledged,
// with its key, at any node. In the end each instance has finished, wrote each
// line once, nothing is left over, and whoever was called outside saw one
// idempotency key for one activity.
func TestEverythingTakesEffectOnceWhileThingsBreak(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clustertest.Start(t))
	out := newOutside(t)
	var proxies []*clustertest.Proxy
	for range 3 {
		proxy := c.etcd.Proxy(t)
		proxies = append(proxies, proxy)
		c.start(t, func(cfg *node.Config) {
			cfg.EtcdEndpoints, cfg.SessionTTL = []string{proxy.Endpoint()}, shortTTL
		})
		t.Cleanup(proxy.Heal)
	}
	c.settle(t)
	c.publish(t, `
id: work
inputs: {url: string}
root:
  - writeLine: one
  - sendHttpRequest: {url: "${{ inputs.url }}", retries: 3}
  - event: first
  - writeLine: two
  - event: second
  - writeLine: three
`)
	until := time.Now().Add(testsize.Of(12*time.Second, 5*time.Second))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	wg.Go(func() { c.breakThings(t, rand.New(rand.NewPCG(seed, 0)), proxies, until) })

	var ops, again atomic.Int64
	persist := func(path, body, key string) bool {
		deadline := time.Now().Add(60 * time.Second)
		for time.Now().Before(deadline) {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			a := c.callContext(ctx, c.any(), "POST", path, body, "Idempotency-Key: "+key)
			cancel()
			switch a.outcome {
			case done:
				return true
			case failed:
				t.Errorf("POST %s %s: %s", path, body, a)
				return false
			}
			again.Add(1)
			time.Sleep(10 * time.Millisecond) // a client's pause between attempts
		}
		t.Errorf("POST %s %s: not acknowledged", path, body)
		return false
	}
	var mu sync.Mutex
	var ids []string
	for w := range 8 {
		wg.Go(func() {
			for i := 0; time.Now().Before(until); i++ {
				id := fmt.Sprintf("i%d-%d", w, i)
				steps := [][3]string{
					{"/api/v1/definitions/work/" + []string{"execute", "dispatch"}[i%2], fmt.Sprintf(`{"instanceId": %[1]q, "correlationId": %[1]q, "input": {"url": "%[2]s/%[1]s"}}`, id, out.URL), "start-" + id},
					{"/api/v1/events/first", fmt.Sprintf(`{"correlationId": %q}`, id), "first-" + id},
					{"/api/v1/events/second", fmt.Sprintf(`{"correlationId": %q}`, id), "second-" + id},
				}
				if i%3 == 0 {
					steps[0], steps[1] = steps[1], steps[0] // the event comes first
				}
				for _, s := range steps {
					if !persist(s[0], s[1], s[2]) {
						return
					}
				}
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
				ops.Add(1)
			}
		})
	}
	wg.Wait()
	for _, p := range proxies {
		p.Heal()
	}
	for _, m := range c.members {
		polltest.Eventually(t, m.id+" is ready again", func() bool { return c.call(t, m, "GET", "/readyz", "").status == 200 })
	}
	bound := takeoverBound(t)
	took := polltest.Within(t, patience, "all instances finish", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?definitionId=work&subStatus=Finished")) == len(ids)
	})
	if took > bound() {
		t.Errorf("the last instance finished %v after everything had healed", took)
	}
	lost := c.total(t, "weft_sessions_lost_total")
	t.Logf("%d instances, %d calls repeated, %v sessions lost, %v takeovers, %v commits fenced, %v abandoned, %v resolved; all finished %v after the end",
		len(ids), again.Load(), lost, c.total(t, "weft_takeovers_total"), c.total(t, "weft_commits_total", `outcome="fenced"`),
		c.total(t, "weft_commits_total", `outcome="abandoned"`), c.total(t, "weft_commits_total", `outcome="resolved"`), took.Round(time.Millisecond))
	if lost == 0 || again.Load() == 0 {
		t.Error("nothing broke: nothing was shown")
	}
	for _, id := range ids {
		c.wantLines(t, c.any(), id, "one", "two", "three")
		keys := out.keys("/" + id)
		for _, key := range keys {
			if key != keys[0] {
				t.Errorf("the outside saw the keys %q for one activity of %s", keys, id)
			}
		}
	}
	for _, list := range []string{"queue", "dead-letters", "locks"} {
		var left []map[string]any
		if list == "locks" { // of the last bursts, on their way out
			polltest.Eventually(t, "no lock is left", func() bool {
				left = c.list(t, c.any(), "/api/v1/locks")
				return len(left) == 0
			})
		} else if left = c.list(t, c.any(), "/api/v1/"+list); len(left) != 0 {
			t.Errorf("left in %s: %v", list, left)
		}
	}
	for _, key := range c.keys(t) {
		if strings.HasPrefix(key, "mailbox/") || strings.HasPrefix(key, "send/") || strings.HasPrefix(key, "cancel/") || strings.HasPrefix(key, "bookmark/") {
			t.Errorf("left in etcd: %s", key)
		}
	}
	c.checkHistories(t)
}

// breakThings breaks one thing after the other, and restarts etcd once.
func (c *cluster) breakThings(t *testing.T, r *rand.Rand, proxies []*clustertest.Proxy, until time.Time) {
	etcd := c.etcd.Client(t)
	pause := func(most time.Duration) {
		timer := time.NewTimer(min(time.Until(until), time.Duration(r.Int64N(int64(most)))))
		defer timer.Stop()
		<-timer.C
	}
	restart := time.Now().Add(time.Until(until) / 2)
	for time.Now().Before(until) {
		proxy := proxies[r.IntN(len(proxies))]
		switch r.IntN(4) {
		case 0:
			proxy.Cut()
		case 1: // shorter than a session
			proxy.BlackHole()
			pause(shortTTL / 2)
			proxy.Heal()
		case 2: // longer
			proxy.BlackHole()
			pause(2 * shortTTL)
			proxy.Heal()
		case 3:
			if time.Until(until) < shortTTL {
				continue // it would be noticed after the end
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			resp, err := etcd.Get(ctx, c.root()+"nodes/", clientv3.WithPrefix())
			if err == nil && len(resp.Kvs) > 0 {
				// An unknown outcome is as good as any here.
				_, _ = etcd.Revoke(ctx, clientv3.LeaseID(resp.Kvs[r.IntN(len(resp.Kvs))].Lease))
			}
			cancel()
		}
		if time.Now().After(restart) {
			c.etcd.Restart(t)
			restart = until.Add(time.Hour)
		}
		pause(500 * time.Millisecond)
	}
}
