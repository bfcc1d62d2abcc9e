package node_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// scraped gives what /metrics shows.
func scraped(t *testing.T, addr string) string {
	t.Helper()
	status, _, body := look(t, "http://"+addr+"/metrics")
	if status != 200 {
		t.Errorf("metrics: %d %s", status, body)
	}
	return body
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
	var log syncBuffer
	type built struct {
		node *node.Node
		err  error
	}
	done := make(chan built, 1)
	go func() {
		n, err := node.New(t.Context(), node.Config{
			HTTPAddr: "127.0.0.1:0", NodeID: "early", Cluster: clustertest.Namespace(t), EtcdEndpoints: []string{proxy.Endpoint()},
			EtcdDialTimeout: time.Minute, DrainTimeout: 10 * time.Second, Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		})
		done <- built{n, err}
	}()
	var addr string
	listens := regexp.MustCompile(`"msg":"listening","httpAddr":"([^"]+)"`)
	eventually(t, "it listens", func() bool {
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
	eventually(t, "it says what it waits for", func() bool {
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
	b := <-done
	if b.err != nil {
		t.Fatal(b.err)
	}
	if err := b.node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/readyz", "/api/v1/nodes"} {
		if status, _, body := look(t, "http://"+addr+path); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if err := b.node.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
