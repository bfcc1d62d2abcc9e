package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// scraped gives what /metrics shows.
func scraped(t *testing.T, addr string) string {
	t.Helper()
	status, _, body := look(t, "http://"+addr+"/metrics")
	if status != 200 {
		t.Errorf("metrics: %d %s", status, body)
	}
	return clusterLabel.ReplaceAllString(body, "")
}

// clusterLabel is the label that all metrics have; see TestAllMetricsSayTheirCluster.
var clusterLabel = regexp.MustCompile(`\{cluster="[^"]*"\}|cluster="[^"]*",|,cluster="[^"]*"`)

// Also those of an embedded etcd and of the Go runtime.
func TestAllMetricsSayTheirCluster(t *testing.T) {
	t.Parallel()
	n := start(t, node.Config{Cluster: "orders"})
	_, _, body := look(t, "http://"+n.HTTPAddr()+"/metrics")
	for line := range strings.Lines(body) {
		if series, _, _ := strings.Cut(line, " "); !strings.HasPrefix(line, "#") && !strings.Contains(series, `cluster="orders"`) {
			t.Errorf("no cluster: %s", line)
		}
	}
	for _, want := range []string{"weft_locks_held{", "go_goroutines{", "process_cpu_seconds_total{", "etcd_server_has_leader{"} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s", want)
		}
	}
}

func look(t *testing.T, url string) (int, http.Header, string) {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// A node that waits for etcd says so, and is scraped.
func TestANodeAnswersBeforeEtcdDoes(t *testing.T) {
	t.Parallel()
	proxy := clustertest.Shared(t).Proxy(t)
	proxy.BlackHole()
	log, done := early(t, proxy.Endpoint())
	var addr string
	listens := regexp.MustCompile(`"msg":"listening","httpAddr":"([^"]+)"`)
	polltest.Eventually(t, "it listens", func() bool {
		m := listens.FindStringSubmatch(log.String())
		if m != nil {
			addr = m[1]
		}
		return m != nil
	})
	if status, _, body := look(t, "http://"+addr+"/livez"); status != 200 || !strings.Contains(body, `"nodeId":"early"`) {
		t.Errorf("livez: %d %s", status, body)
	}
	if m := scraped(t, addr); !strings.Contains(m, "weft_sessions_lost_total 0") {
		t.Errorf("metrics: %s", m)
	}
	polltest.Eventually(t, "it says what it waits for", func() bool {
		status, header, body := look(t, "http://"+addr+"/readyz")
		var p map[string]any
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatal(err)
		}
		if status != 503 || header.Get("Retry-After") == "" || p["code"] != "unavailable" {
			t.Fatalf("readyz: %d %s", status, body)
		}
		return strings.Contains(p["detail"].(string), "waits for etcd")
	})
	for _, path := range []string{"/api/v1/nodes", "/workflows/x", "/openapi.json"} {
		if status, header, body := look(t, "http://"+addr+path); status != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, "starting") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	proxy.Heal()
	n := <-done
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/readyz", "/api/v1/nodes"} {
		if status, _, body := look(t, "http://"+addr+path); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// early builds a node before its etcd is ready for it, and gives the node when that
// is done.
func early(t *testing.T, endpoint string, change ...func(*node.Config)) (log *syncBuffer, done <-chan *node.Node) {
	t.Helper()
	log = &syncBuffer{}
	built := make(chan *node.Node, 1)
	cfg := node.Config{
		HTTPAddr: "127.0.0.1:0", NodeID: "early", Cluster: clustertest.Namespace(t), EtcdEndpoints: []string{endpoint},
		EtcdDialTimeout: time.Minute, DrainTimeout: 10 * time.Second, Logger: slog.New(slog.NewJSONHandler(log, nil)),
	}
	for _, f := range change {
		f(&cfg)
	}
	go func() {
		defer close(built)
		n, err := full.New(t.Context(), cfg)
		if err != nil {
			t.Errorf("it did not wait: %v", err)
			return
		}
		t.Cleanup(func() {
			if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		built <- n
	}()
	return log, built
}

// A node waits for an etcd that comes up after it, and for one that is full until
// somebody has made room.
func TestANodeWaitsUntilEtcdLetsItStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(t *testing.T) (endpoint string)
		says  string
		mend  func(t *testing.T, endpoint string)
	}{
		"away": {
			func(t *testing.T) string {
				e := clustertest.Start(t)
				e.Stop()
				return e.Endpoints()[0]
			},
			"connection refused",
			func(t *testing.T, endpoint string) { clustertest.Start(t, clustertest.At(t.TempDir(), endpoint)) },
		},
		"full": {
			func(t *testing.T) string {
				e := clustertest.Start(t, func(c *embed.Config) { c.QuotaBackendBytes = 16 << 20 })
				client := e.Client(t)
				for {
					if _, err := client.Put(t.Context(), "/ballast", ballast(1<<20)); err != nil {
						return e.Endpoints()[0]
					}
				}
			},
			"database space exceeded",
			func(t *testing.T, endpoint string) {
				client, err := clientv3.NewFromURL(endpoint)
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				now, err := client.Delete(t.Context(), "/ballast")
				if err == nil {
					_, err = client.Compact(t.Context(), now.Header.Revision, clientv3.WithCompactPhysical())
				}
				if err == nil {
					_, err = client.Defragment(t.Context(), endpoint)
				}
				if err == nil {
					_, err = client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
				}
				if err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := c.begin(t)
			log, done := early(t, endpoint)
			polltest.Eventually(t, "it says what it waits for", func() bool {
				l := log.String()
				return strings.Contains(l, "does not let the node start yet") && strings.Contains(l, c.says)
			})
			c.mend(t, endpoint)
			if err := (<-done).Start(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// joined builds a node whose session has run out since: on a busy machine that takes no more
// than a build that is slow.
func joined(t *testing.T) (n *node.Node, cfg node.Config, log *syncBuffer) {
	t.Helper()
	etcd := clustertest.Shared(t)
	log, done := early(t, etcd.Endpoints()[0], func(c *node.Config) { c.SessionTTL = cluster.MinTTL; cfg = *c })
	n = <-done
	if n == nil {
		t.FailNow()
	}
	client := etcd.Client(t)
	polltest.Eventually(t, "its session is over", func() bool {
		members, err := client.Get(t.Context(), cluster.Root(cfg.Cluster)+"nodes/", clientv3.WithPrefix())
		return err == nil && len(members.Kvs) == 0
	})
	return n, cfg, log
}

func TestANodeWhoseSessionRanOutBeforeItsStartTakesANewOne(t *testing.T) {
	t.Parallel()
	n, _, log := joined(t)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Ready(); err != nil {
		t.Error(err)
	}
	if l := log.String(); !strings.Contains(l, "session lost") || !strings.Contains(l, "session rebuilt") {
		t.Error(l)
	}
}

// It waits for the session as long as a node of its id is in its way, or until it is told to
// stop.
func TestANodeThatStartsWaitsForItsSession(t *testing.T) {
	t.Parallel()
	signal := errors.New("got a signal")
	for name, end := range map[string]func(rival *node.Node, n *node.Node, stop context.CancelCauseFunc) error{
		"the other goes":       func(rival, _ *node.Node, _ context.CancelCauseFunc) error { return rival.Stop(context.Background()) },
		"it is stopped":        func(_, n *node.Node, _ context.CancelCauseFunc) error { return n.Stop(context.Background()) },
		"its context is ended": func(_, _ *node.Node, stop context.CancelCauseFunc) error { stop(signal); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, cfg, log := joined(t)
			rival := start(t, node.Config{EtcdEndpoints: cfg.EtcdEndpoints, Cluster: cfg.Cluster, NodeID: cfg.NodeID, Logger: slog.New(slog.DiscardHandler)})
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			ready, ended := make(chan struct{}), make(chan error, 1)
			go func() { ended <- n.Run(ctx, func(*node.Node) { close(ready) }) }()
			polltest.Eventually(t, "the other is in its way", func() bool { return strings.Contains(log.String(), "session not rebuilt yet") })
			select {
			case err := <-ended:
				t.Fatalf("it does not wait: %v", err)
			case <-ready:
				t.Fatal("it is ready without a session")
			default:
			}
			if err := end(rival, n, stop); err != nil {
				t.Error(err)
			}
			if name == "the other goes" {
				<-ready
				stop(signal)
			}
			err := <-ended
			if stopped := name == "it is stopped"; stopped != (err != nil) || stopped && !strings.Contains(err.Error(), "the node was stopped") {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
