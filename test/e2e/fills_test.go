package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// fillQuota is etcd's quota, in MiB, for these tests: WEFT_FILLS=190 is what an operator had (make fills).
func fillQuota(t *testing.T) int64 {
	t.Helper()
	v := os.Getenv("WEFT_FILLS")
	if v == "" {
		return 32
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 32 {
		t.Fatalf("WEFT_FILLS is %q", v)
	}
	return n
}

const hoarder = `
id: hoarder
inputs:
  ballast: {type: string}
variables:
  more: {type: string, default: ""}
root:
  - event: next
  - fault: stuck
`

// full is a cluster whose etcd is filled by bulk work.
type full struct {
	t    *testing.T
	c    *cluster
	etcd *clientv3.Client
	ends []string
	// seen is the most that was in use, in bytes; and whether an alarm was raised.
	seen    atomic.Int64
	alarmed atomic.Bool
}

// watch looks at etcd all the time until the test ends.
func (f *full) watch() {
	done, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			for _, e := range f.ends {
				if s, err := f.etcd.Status(f.t.Context(), e); err == nil && s.DbSizeQuota < 1<<30 {
					f.seen.Store(max(f.seen.Load(), s.DbSizeInUse))
					f.alarmed.Store(f.alarmed.Load() || len(s.Errors) > 0)
				}
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-stop:
				return
			}
		}
	}()
	f.t.Cleanup(func() { close(stop); <-done })
}

func (f *full) ask(method, path, body string) answer {
	f.t.Helper()
	return f.c.call(f.t, f.c.any(), method, "/api/v1"+path, body, "Content-Type: application/json")
}

// job runs one to its end, or until it has rested for long.
func (f *full) job(body string, rests time.Duration) (ended bool) {
	f.t.Helper()
	a := f.ask("POST", "/jobs", body)
	if a.status == 503 {
		f.t.Logf("%s: refused: %s", body[:30], a.text("detail"))
		return false
	}
	if a.status != 202 && a.status != 201 {
		f.t.Fatalf("job %.60s: %d %s", body, a.status, a.raw)
	}
	id := a.text("id")
	began, moved, before := time.Now(), time.Now(), ""
	for {
		is := f.ask("GET", "/jobs/"+id, "")
		if is.status != 200 {
			f.t.Logf("read job: %d %s", is.status, is.raw)
		} else if s := is.text("state"); s != "running" {
			f.t.Logf("%.40s…: %s after %v, %d MiB in use at most, now %s", body, s, time.Since(began).Round(time.Millisecond), f.seen.Load()>>20, f.level())
			return true
		}
		if is.raw != before {
			moved, before = time.Now(), is.raw
		}
		if time.Since(moved) > rests {
			if is.text("rests") == "" {
				f.t.Errorf("a job rests, and does not say why: %.300s", is.raw)
			}
			f.t.Logf("%.40s…: rests after %v, %d MiB in use at most, now %s: %.300s", body, time.Since(began).Round(time.Millisecond), f.seen.Load()>>20, f.level(), is.raw)
			f.ask("POST", "/jobs/"+id+"/cancel", "")
			return false
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (f *full) level() string {
	return fmt.Sprint(f.ask("GET", "/cluster/meters", "").items()[0]["store"])
}

// Bulk work on instances with large inputs, one kind after the other while etcd is nearly full, never drives etcd into
// its alarm: what ends and deletes writes little, what goes on rests. Quota and load are those of an operator whose
// cancel stopped a cluster for nine minutes (136 instances with 380 KB at 190 MiB), or a sixth of it.
func TestBulkWorkNeverFillsEtcd(t *testing.T) {
	t.Parallel()
	mib := fillQuota(t)
	quota := mib << 20
	for name, begin := range map[string]func(t *testing.T) (*cluster, []string){
		"embedded": func(t *testing.T) (*cluster, []string) {
			t.Helper()
			c := newCluster(t, nil)
			m := c.start(t, func(cfg *node.Config) {
				cfg.EtcdEndpoints, cfg.DataDir, cfg.EtcdQuota, cfg.Retention = nil, t.TempDir(), quota, &node.Retention{}
			})
			return c, m.node.EtcdEndpoints()
		},
		"one of three members": func(t *testing.T) (*cluster, []string) {
			t.Helper()
			ends := clustertest.Members(t, 0, quota, 0)
			c := newCluster(t, nil)
			for range 2 {
				c.start(t, func(cfg *node.Config) { cfg.EtcdEndpoints, cfg.Retention = ends, &node.Retention{} })
			}
			c.settle(t)
			return c, ends
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &full{t: t}
			f.c, f.ends = begin(t)
			var err error
			if f.etcd, err = clientv3.New(clientv3.Config{Endpoints: f.ends, Logger: zap.NewNop(), DialTimeout: patience}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.etcd.Close() })
			f.watch()
			if a := f.c.call(t, f.c.any(), "POST", "/api/v1/definitions", hoarder); a.status != 201 {
				t.Fatalf("publish: %v", a)
			}
			started := 0
			fill := func(part float64) {
				for most := int(mib * 136 / 190 * 3); started < most && float64(f.seen.Load()) < part*float64(quota); started++ {
					a := f.ask("POST", "/definitions/hoarder/execute", fmt.Sprintf(`{"input": {"ballast": %q}, "correlationId": "c%d"}`, ballast(380_000), started%4))
					if a.status == 503 {
						break
					}
					if a.status != 200 {
						t.Fatalf("start: %d %s", a.status, a.raw)
					}
				}
				t.Logf("%d started, then %s", started, f.level())
			}
			alter := func(rests time.Duration) {
				f.job(`{"kind": "alter", "q": "def:hoarder", "alterations": [{"type": "setVariable", "variable": "more", "value": "`+ballast(100_000)+`"}]}`, rests)
			}
			fill(0.6)
			alter(7 * time.Second)
			fill(1)
			alter(3 * time.Second)
			f.job(`{"kind": "cancel", "q": "def:hoarder corr:c0"}`, patience)
			f.job(`{"kind": "delete", "q": "def:hoarder corr:c1"}`, patience)
			if !f.job(`{"kind": "cancel", "q": "def:hoarder"}`, 5*patience) {
				t.Error("a bulk cancel did not end")
			}
			f.job(`{"kind": "retry", "q": "def:hoarder"}`, 3*time.Second)
			if !f.job(`{"kind": "delete", "q": "def:hoarder"}`, 5*patience) {
				t.Error("a bulk delete did not end")
			}
			if n := len(f.ask("GET", "/instances?limit=5", "").items()); n != 0 {
				t.Errorf("%d instances are left", n)
			}
			if alarms, err := f.etcd.AlarmList(t.Context()); err != nil || len(alarms.Alarms) > 0 || f.alarmed.Load() {
				t.Errorf("etcd raised its alarm: %v, %v, %t", alarms, err, f.alarmed.Load())
			}
			t.Logf("%d MiB of %d in use at most", f.seen.Load()>>20, mib)
			// With a compaction, which comes by itself in time, there is room again.
			s, err := f.etcd.Status(t.Context(), f.ends[0])
			if err == nil {
				_, err = f.etcd.Compact(t.Context(), s.Header.Revision, clientv3.WithCompactPhysical())
			}
			if err != nil {
				t.Log(err)
			}
			polltest.Eventually(t, "starts are taken again", func() bool {
				return f.ask("POST", "/definitions/hoarder/execute", `{"input": {"ballast": ""}}`).status == 200
			})
		})
	}
}

// ballast does not get smaller when it is compressed.
func ballast(n int) string {
	b := make([]byte, n/2)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
