package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// revisionBump is the one that docs/operations/backup.md tells operators to use.
const revisionBump = 1_000_000_000

// saveSnapshot does what etcdctl snapshot save does, and gives the file.
func saveSnapshot(t *testing.T, etcd *clustertest.Etcd) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "weft.snapshot")
	_, err := snapshot.NewV3(zap.NewNop()).Save(t.Context(), clientv3.Config{Endpoints: etcd.Endpoints(), Logger: zap.NewNop()}, file)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// restoreSnapshot ends etcd and does what etcdutl snapshot restore does; bump is
// the number of --bump-revision, or 0 for neither that nor --mark-compacted. The
// new etcd has the address of the old one.
func restoreSnapshot(t *testing.T, old *clustertest.Etcd, file string, bump uint64) *clustertest.Etcd {
	t.Helper()
	endpoint := old.Endpoints()[0]
	old.Stop()
	dir := filepath.Join(t.TempDir(), "restored")
	const peer = "http://127.0.0.1:0"
	err := snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, OutputDataDir: dir,
		Name: "default", PeerURLs: []string{peer}, InitialCluster: "default=" + peer, InitialClusterToken: "restored",
		RevisionBump: bump, MarkCompacted: bump > 0,
	})
	if err != nil {
		t.Fatal(err)
	}
	return clustertest.Start(t, clustertest.At(dir, endpoint))
}

// fsckFindsNothing checks every key of the cluster, as weft fsck does.
func (c *cluster) fsckFindsNothing(t *testing.T) {
	t.Helper()
	check, err := node.Fsck(t.Context(), node.Config{EtcdEndpoints: c.etcd.Endpoints(), Cluster: c.name})
	if err != nil {
		t.Fatal(err)
	}
	if check.Keys == 0 || len(check.Bad()) > 0 {
		t.Errorf("fsck of %d keys finds %v", check.Keys, check.Bad())
	}
}

// A cluster under load is saved, goes on, and is lost; its snapshot is restored
// with the revision moved on, as docs/operations/backup.md says. All that was in the
// snapshot goes on: waiting instances, timers, queued events, a burst whose node
// is gone, answers by idempotency key. A node that was cut off meanwhile, and whose
// session is in the snapshot and so lives on, has its work of the lost time
// refused.
func TestClusterGoesOnFromARestoredSnapshot(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clustertest.Start(t))
	proxy := c.etcd.Proxy(t)
	short := func(cfg *node.Config) { cfg.SessionTTL, cfg.ReplyWait = shortTTL, patience }
	for range 2 {
		c.start(t, short)
	}
	// The zombie believes in its session for longer than the test takes, and is right.
	zombie := c.start(t, func(cfg *node.Config) {
		cfg.SessionTTL, cfg.EtcdEndpoints = 2*time.Minute, []string{proxy.Endpoint()}
	})
	c.settle(t)
	old := c.members[:2]
	out := newOutside(t)
	c.publish(t, calling)
	c.publish(t, "id: waits\nroot:\n  - writeLine: begun\n  - event: go\n  - writeLine: gone\n")
	c.publish(t, "id: changed\nroot:\n  - writeLine: as saved\n")
	c.publish(t, "id: later\ninputs: {in: string}\nroot:\n  - delay: ${{ inputs.in }}\n  - writeLine: due\n")
	c.publish(t, "id: waitsAndCalls\ninputs: {url: string}\nroot:\n  - event: go\n  - sendHttpRequest: ${{ inputs.url }}\n  - writeLine: called\n")

	// What the snapshot finds.
	waits := func(id string) string { return fmt.Sprintf(`{"correlationId": %q}`, id) }
	c.execute(t, old[0], "waits", "waiting", waits("waiting"))
	c.execute(t, old[0], "waits", "ended-later", waits("ended-later"))
	c.execute(t, old[0], "waitsAndCalls", "late", fmt.Sprintf(`{"correlationId": "late", "input": {"url": %q}}`, out.hold("/late")))
	c.execute(t, old[1], "later", "fired", `{"input": {"in": "1s"}}`)
	c.execute(t, old[1], "later", "pending", `{"input": {"in": "12s"}}`)
	if a := c.event(t, old[0], "go", "early"); kind(a) != "queued" {
		t.Fatalf("event: %s", a)
	}
	const keyed = `{"correlationId": "keyed"}`
	byKey := func(m *member) answer {
		return c.must(t, m, "POST", "/api/v1/definitions/waits/execute", keyed, 200, "Idempotency-Key: key-1")
	}
	answered := byKey(old[0])
	c.dispatch(t, old[0], "calling", "burst", fmt.Sprintf(`{"input": {"url": %q}}`, out.hold("/burst")))
	out.wait(t, "/burst", 1)
	if c.holder(t, old[0], "burst") == nil {
		t.Fatal("nobody holds the instance of the burst")
	}
	saved := []string{"waiting", "ended-later", "late", "fired", "pending", "burst", answered.text("instanceId")}

	load := c.load(t, old)
	load.wait(t, 20)
	acknowledged := load.started()
	file := saveSnapshot(t, c.etcd)
	load.wait(t, len(load.started())+20)

	// What is lost with everything after the snapshot. Outside calls are not.
	c.publish(t, "id: lost\nroot:\n  - event: lost\n    trigger: true\n  - writeLine: lost\n")
	c.publish(t, "id: changed\nroot:\n  - event: lost\n    trigger: true\n  - writeLine: lost\n")
	c.execute(t, old[0], "lost", "never-was", "{}")
	c.event(t, old[0], "go", "ended-later")
	c.waitFor(t, old[0], "ended-later", "Finished")
	c.waitFor(t, old[0], "fired", "Finished")
	out.release("/burst")
	c.waitFor(t, old[0], "burst", "Finished")
	polltest.Eventually(t, "the zombie knows the definitions that are lost", func() bool {
		return len(c.event(t, zombie, "lost", "any").outcomes()) == 2
	})
	// The zombie begins to work on an instance, and is cut off.
	c.event(t, zombie, "go", "late", "Idempotency-Key: late-1")
	out.wait(t, "/late", 1)
	if c.holder(t, old[0], "late") != zombie {
		t.Fatal("the zombie does not hold the instance")
	}
	proxy.BlackHole()
	load.stop()
	for _, m := range old {
		m.stop(t)
	}
	zombie.gone = true
	lastRevision := c.revision(t)

	c.etcd = restoreSnapshot(t, c.etcd, file, revisionBump)
	if now := c.revision(t); now <= lastRevision {
		t.Errorf("the revision fell from %d to %d", lastRevision, now)
	}
	c.fsckFindsNothing(t)
	// Under the ids of the old ones, whose records and locks are there until their
	// leases end.
	for i := range 2 {
		c.start(t, short, func(cfg *node.Config) { cfg.NodeID = old[i].id })
	}
	fresh := c.live()

	for _, id := range append(acknowledged, saved...) {
		c.must(t, c.any(), "GET", "/api/v1/instances/"+id, "", 200)
	}
	for _, path := range []string{"instances/never-was", "definitions/lost"} {
		c.must(t, c.any(), "GET", "/api/v1/"+path, "", 404)
	}
	// A burst of a session that does not live any more is taken over, and calls the
	// outside again under its key.
	c.waitFor(t, c.any(), "burst", "Finished")
	c.wantLines(t, c.any(), "burst", "before", "after")
	wantOneKey(t, out, "/burst", 2)
	if a := byKey(fresh[0]); a.raw != answered.raw {
		t.Errorf("the key's answer is %s, before the restore it was %s", a, answered)
	}

	// The zombie comes back, has its answer, and cannot commit.
	fenced := c.metric(t, zombie, "weft_commits_total", `outcome="fenced"`)
	proxy.Heal()
	out.release("/late")
	polltest.Eventually(t, "the zombie's commit is refused", func() bool {
		return c.metric(t, zombie, "weft_commits_total", `outcome="fenced"`) > fenced
	})
	if n := c.metric(t, zombie, "weft_sessions_lost_total"); n != 0 {
		t.Errorf("the zombie lost %v sessions: this shows less than it should", n)
	}
	c.waitFor(t, fresh[0], "late", "Suspended")
	c.wantLines(t, fresh[0], "late")
	// It serves again, by the definitions that were restored: no event starts one
	// that is forgotten.
	for _, path := range []string{"definitions/lost", "instances/never-was"} {
		c.must(t, zombie, "GET", "/api/v1/"+path, "", 404)
	}
	c.must(t, zombie, "POST", "/api/v1/definitions/lost/execute", "{}", 404)
	a := c.execute(t, zombie, "changed", "as-saved", "{}")
	if a.body["version"] != 1.0 {
		t.Errorf("the zombie runs %s", a)
	}
	c.wantLines(t, zombie, "as-saved", "as saved")
	if a := c.event(t, zombie, "lost", "again"); kind(a) != "queued" {
		t.Errorf("event for a trigger that is lost: %s", a)
	}
	polltest.Eventually(t, "the zombie lists the definitions that are there", func() bool {
		return c.call(t, zombie, "GET", "/api/v1/definitions?limit=500", "").raw == c.call(t, fresh[0], "GET", "/api/v1/definitions?limit=500", "").raw
	})

	// Events resume what waits, once; a repeated one has the key that the outside saw.
	for _, id := range []string{"waiting", "ended-later"} {
		if a := c.event(t, c.any(), "go", id); kind(a) != "resumed" {
			t.Errorf("event for %s: %s", id, a)
		}
		c.waitFor(t, c.any(), id, "Finished")
		c.wantLines(t, c.any(), id, "begun", "gone")
	}
	c.event(t, fresh[1], "go", "late", "Idempotency-Key: late-1")
	c.waitFor(t, c.any(), "late", "Finished")
	c.wantLines(t, c.any(), "late", "called")
	wantOneKey(t, out, "/late", 2)
	c.execute(t, c.any(), "waits", "claims", waits("early"))
	c.waitFor(t, c.any(), "claims", "Finished")
	for _, id := range []string{"fired", "pending"} {
		c.waitFor(t, c.any(), id, "Finished")
		c.wantLines(t, c.any(), id, "due")
	}
	c.finishLoad(t)
	zombie.gone = false
	c.checkHistories(t)
	c.fsckFindsNothing(t)
	t.Logf("%d instances of the load were acknowledged before the snapshot, %d before the loss; revision %d, restored at %d",
		len(acknowledged), len(load.started()), lastRevision, c.revision(t))
	for _, m := range c.live() {
		m.stop(t) // before the etcd that the old nodes' clean-up comes after
	}
}

func wantOneKey(t *testing.T, out *outside, path string, calls int) {
	t.Helper()
	keys := out.keys(path)
	if len(keys) != calls || keys[0] == "" || strings.Count(strings.Join(keys, "|"), keys[0]) != calls {
		t.Errorf("the outside saw the keys %q at %s, want the same one %d times", keys, path, calls)
	}
}

// revision is etcd's.
func (c *cluster) revision(t *testing.T) int64 {
	t.Helper()
	resp, err := c.etcd.Client(t).Get(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

// load starts instances that wait, and resumes every second one, until stop.
type load struct {
	stopped atomic.Bool
	wg      sync.WaitGroup
	mu      sync.Mutex
	ids     []string // acknowledged; guarded by mu
}

func (c *cluster) load(t *testing.T, members []*member) *load {
	t.Helper()
	l := &load{}
	for w, m := range members {
		l.wg.Go(func() {
			for i := 0; !l.stopped.Load(); i++ {
				id := fmt.Sprintf("load-%d-%d", w, i)
				if a := c.execute(t, m, "waits", id, fmt.Sprintf(`{"correlationId": %q}`, id)); a.status != 200 {
					continue
				}
				l.mu.Lock()
				l.ids = append(l.ids, id)
				l.mu.Unlock()
				if i%2 == 0 {
					c.event(t, m, "go", id)
				}
			}
		})
	}
	t.Cleanup(l.stop)
	return l
}

func (l *load) started() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.ids...)
}

func (l *load) wait(t *testing.T, n int) {
	t.Helper()
	polltest.Eventually(t, strconv.Itoa(n)+" instances of the load", func() bool { return len(l.started()) >= n })
}

func (l *load) stop() {
	l.stopped.Store(true)
	l.wg.Wait()
}

// finishLoad sends the event to all instances of the load that wait, and checks
// that each has done everything once.
func (c *cluster) finishLoad(t *testing.T) {
	t.Helper()
	var ids []string
	resumed := 0
	for _, in := range c.list(t, c.any(), "/api/v1/instances?definitionId=waits") {
		id, _ := in["instanceId"].(string)
		if !strings.HasPrefix(id, "load-") {
			continue
		}
		ids = append(ids, id)
		if in["subStatus"] == "Suspended" {
			resumed++
			c.event(t, c.any(), "go", id)
		}
	}
	for _, id := range ids {
		c.waitFor(t, c.any(), id, "Finished")
		c.wantLines(t, c.any(), id, "begun", "gone")
	}
	if resumed == 0 {
		t.Error("no instance of the load was waiting in the snapshot")
	}
}

// Why the revision is moved on: without that, the numbers of the time that was lost
// are given out again, for other changes. A transaction that was on its way is then
// accepted over a state that it never saw, and a watch leaves changes out
// without a word. With it the one is refused and the other is told.
func TestRestoreWithoutTheBumpRepeatsRevisions(t *testing.T) {
	t.Parallel()
	for _, bump := range []uint64{0, revisionBump} {
		t.Run(strconv.FormatUint(bump, 10), func(t *testing.T) {
			t.Parallel()
			etcd := clustertest.Start(t)
			client := etcd.Client(t)
			put := func(value string) int64 {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				// While etcd starts again the client may answer that it is away.
				for {
					resp, err := client.Put(ctx, "key", value)
					if err == nil {
						return resp.Header.Revision
					}
					if ctx.Err() != nil {
						t.Fatal(err)
					}
				}
			}
			put("saved")
			file := saveSnapshot(t, etcd)
			known := put("lost") // what the one that is cut off has read, and watches from
			restoreSnapshot(t, etcd, file, bump)
			again := put("after the restore")
			if repeats := again == known; repeats != (bump == 0) {
				t.Errorf("the revision after the restore is %d, before it was %d", again, known)
			}

			late, err := client.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision("key"), "=", known)).
				Then(clientv3.OpPut("key", "late")).Commit()
			if err != nil {
				t.Fatal(err)
			}
			if late.Succeeded != (bump == 0) {
				t.Errorf("the late transaction was accepted: %v", late.Succeeded)
			}
			marker := put("marker")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			first := <-client.Watch(clientv3.WithRequireLeader(ctx), "key", clientv3.WithRev(known+1))
			if bump > 0 {
				if !errors.Is(first.Err(), rpctypes.ErrCompacted) {
					t.Errorf("the watch gives %v, want that the revision was compacted", first.Err())
				}
				return
			}
			// It begins after the change of revision known, which it takes for the one that
			// it has seen.
			if first.Err() != nil || len(first.Events) == 0 || first.Events[0].Kv.ModRevision != marker-1 {
				t.Errorf("the watch gives %v, %v", first.Events, first.Err())
			}
		})
	}
}
