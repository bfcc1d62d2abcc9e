package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/node"
)

// calling is a definition whose instances call the server outside at the path
// of their input.
const calling = `
id: calling
inputs: {url: string}
root:
  - writeLine: before
  - sendHttpRequest: "${{ inputs.url }}"
  - writeLine: after
`

// shortTTL is the session TTL of scenarios in which a node vanishes.
const shortTTL = 2 * time.Second

// takeoverTime is what is promised: session TTL and two seconds more.
const takeoverTime = shortTTL + 2*time.Second

// A node that is killed inside of SendHttpRequest: another one finishes the
// instance within session TTL + 2 s, with the same idempotency key outside, and
// nothing of the lost burst in the journal.
func TestKilledNodesInstanceIsFinishedByAnotherInTime(t *testing.T) {
	t.Parallel()
	c := processes(t, "--session-ttl", shortTTL.String())
	out := newOutside(t)
	c.publish(t, calling)
	for run := range runs(t, 1) {
		id, path := fmt.Sprintf("k%d", run), fmt.Sprintf("/k%d", run)
		c.dispatch(t, c.any(), "calling", id, fmt.Sprintf(`{"input": {"url": %q}}`, out.hold(path)))
		out.wait(t, path, 1)
		victim := c.holder(t, c.any(), id)
		if victim == nil {
			t.Fatal("nobody holds the instance")
		}
		victim.gone = true
		before := c.total(t, "weft_takeovers_total") // of the others
		bound := takeoverBound(t)
		victim.kill(t)
		other := c.any()
		took := c.waitFor(t, other, id, "Finished")
		t.Logf("run %d: finished %v after the kill; promised: %v", run, took.Round(time.Millisecond), takeoverTime)
		if took > bound() {
			t.Errorf("it took %v, longer than session TTL + 2 s", took)
		}
		keys := out.keys(path)
		if len(keys) != 2 || keys[0] != keys[1] || keys[0] == "" {
			t.Errorf("the outside saw the keys %q, want the same one twice", keys)
		}
		c.wantLines(t, other, id, "before", "after")
		if n := c.total(t, "weft_takeovers_total") - before; n != 1 {
			t.Errorf("%v takeovers are counted, want 1", n)
		}
		if run+1 < runs(t, 1) {
			fresh := c.launch(t, "again"+strconv.Itoa(run), "--session-ttl", shortTTL.String())
			if fresh == nil {
				t.FailNow()
			}
			c.members = append(c.members, fresh)
		}
	}
	c.checkHistories(t)
}

// The lease of a node is revoked while the node works on an instance: its commit
// is refused by etcd, whatever the node believes, and another node does the work.
// The server outside revokes the lease and answers at once, so that the commit
// and the news that the lease is gone race; each time one of the two is counted,
// and the runs go on until the commit has won once.
func TestRevokedHolderCannotCommit(t *testing.T) {
	t.Parallel()
	c := inProcess(t, func(cfg *node.Config) { cfg.SessionTTL = 10 * time.Second })
	c.publish(t, calling)
	etcd := c.etcd.Client(t)
	const most = 60
	var calls [most]atomic.Int32 // by run
	var trouble atomic.Value
	var first atomic.Int64 // lease of the first run's holder
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		run, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || calls[run].Add(1) > 1 {
			return
		}
		ctx := context.WithoutCancel(t.Context()) // the caller hangs up when its session is gone
		resp, err := etcd.Get(ctx, c.root()+"lock/", clientv3.WithPrefix())
		if err != nil {
			trouble.Store(err.Error())
			return
		}
		for _, kv := range resp.Kvs {
			if strings.Contains(string(kv.Key), fmt.Sprintf("revoked%d/", run)) {
				var err error
				if run == 0 {
					// A revocation takes the lock and tells the holder, which is mostly quicker
					// than its commit. Here the lock goes first, so that one is fenced for sure.
					first.Store(kv.Lease)
					_, err = etcd.Delete(ctx, string(kv.Key))
				} else {
					_, err = etcd.Revoke(ctx, clientv3.LeaseID(kv.Lease))
				}
				if err != nil {
					trouble.Store(err.Error())
				}
				return
			}
		}
		trouble.Store(fmt.Sprintf("no lock of run %d in %v", run, resp.Kvs))
	}))
	defer outside.Close()
	count := func(outcome string) float64 {
		return c.total(t, "weft_commits_total", `outcome="`+outcome+`"`)
	}
	run := 0
	for ; run < most && (run < testsize.Of(6, 3) || count("fenced") == 0); run++ {
		id := "revoked" + strconv.Itoa(run)
		c.dispatch(t, c.members[run%3], "calling", id, fmt.Sprintf(`{"input": {"url": "%s/%d"}}`, outside.URL, run))
		c.waitFor(t, c.members[(run+1)%3], id, "Finished")
		if got := calls[run].Load(); got != 2 {
			t.Errorf("run %d: %d calls outside, want 2", run, got)
		}
		c.wantLines(t, c.any(), id, "before", "after")
		if run == 0 {
			if _, err := etcd.Revoke(t.Context(), clientv3.LeaseID(first.Load())); err != nil {
				t.Fatal(err)
			}
			polltest.Eventually(t, "the loss is noticed", func() bool { return c.total(t, "weft_sessions_lost_total") == 1 })
		}
		for _, m := range c.members {
			polltest.Eventually(t, m.id+" has a session", func() bool {
				return c.call(t, m, "GET", "/readyz", "").status == 200
			})
		}
	}
	if what := trouble.Load(); what != nil {
		t.Fatal(what)
	}
	fenced, abandoned, lost := count("fenced"), count("abandoned"), c.total(t, "weft_sessions_lost_total")
	t.Logf("%d revocations: %v fenced, %v abandoned", run, fenced, abandoned)
	if fenced < 1 || fenced+abandoned != float64(run) || lost != float64(run) {
		t.Errorf("%v fenced, %v abandoned, %v sessions lost; want %d in all and some fenced", fenced, abandoned, lost, run)
	}
	c.checkHistories(t)
}

// A process is stopped beyond its TTL while it is inside of SendHttpRequest;
// another node takes over; then the process goes on with the answer in hand.
// Nothing that it does reaches etcd, and each of its bursts is counted.
func TestStoppedNodeWritesNothingWhenItGoesOn(t *testing.T) {
	t.Parallel()
	c := processes(t, "--session-ttl", shortTTL.String())
	out := newOutside(t)
	c.publish(t, calling)
	const held = 5
	for run := range runs(t, 3) {
		victim := c.members[run%3]
		path := func(i int) string { return fmt.Sprintf("/s%d-%d", run, i) }
		id := func(i int) string { return fmt.Sprintf("s%d-%d", run, i) }
		for i := range held {
			c.dispatch(t, victim, "calling", id(i), fmt.Sprintf(`{"input": {"url": %q}}`, out.hold(path(i))))
		}
		holds := 0
		for i := range held {
			out.wait(t, path(i), 1)
			if c.holder(t, victim, id(i)) == victim {
				holds++
			}
		}
		lost := func() float64 {
			return c.metric(t, victim, "weft_commits_total", `outcome="fenced"`) + c.metric(t, victim, "weft_commits_total", `outcome="abandoned"`)
		}
		before, sessions := lost(), c.metric(t, victim, "weft_sessions_lost_total")
		stopped, bound := time.Now(), takeoverBound(t)
		victim.pause(t)
		for i := range held {
			out.release(path(i)) // the answers wait in the stopped process's sockets
		}
		other := c.members[(run+1)%3]
		for i := range held {
			c.waitFor(t, other, id(i), "Finished")
		}
		took := time.Since(stopped)
		journals := make([]string, held)
		for i := range held {
			journals[i] = fmt.Sprint(c.journal(t, other, id(i)))
		}
		victim.proceed(t)
		polltest.Eventually(t, "the lost bursts are counted", func() bool { return lost()-before >= float64(holds) })
		polltest.Eventually(t, "the node is back", func() bool {
			return c.metric(t, victim, "weft_sessions_lost_total") > sessions && c.call(t, victim, "GET", "/readyz", "").status == 200
		})
		if got := lost() - before; got != float64(holds) {
			t.Errorf("run %d: %v bursts are counted as fenced or abandoned, want %d", run, got, holds)
		}
		for i := range held {
			if got := fmt.Sprint(c.journal(t, victim, id(i))); got != journals[i] {
				t.Errorf("the journal of %s changed after the end: %s, before %s", id(i), got, journals[i])
			}
			c.wantLines(t, victim, id(i), "before", "after")
			if keys := out.keys(path(i)); len(keys) != 2 || keys[0] != keys[1] {
				t.Errorf("the outside saw the keys %q for %s", keys, id(i))
			}
		}
		t.Logf("run %d: %d of %d instances were the stopped node's, all finished elsewhere within %v", run, holds, held, took.Round(time.Millisecond))
		if holds == 0 {
			t.Error("the stopped node held nothing: this run shows nothing")
		}
		if took > bound() {
			t.Errorf("run %d: the takeover took %v, longer than session TTL + 2 s", run, took)
		}
	}
	c.checkHistories(t)
}
