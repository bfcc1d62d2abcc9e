package httpapi_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/node"
)

// joined is a member of the cluster of a node, at an address where something else answers.
func joined(t *testing.T, n *node.Node, id, address string) {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	session, err := cluster.Open(t.Context(), cluster.Config{Client: etcd, Cluster: "default", NodeID: id, Address: address, TTL: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := session.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Nodes that hang, stop in the middle of an answer, answer with something else, or are not
// there cost what the others tell nothing, and are named.
func TestTheAuditLogNamesNodesThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	n := nodetest.Start(t, node.Config{NodeID: "one", Cluster: "default", AuditLog: filepath.Join(t.TempDir(), "audit")})
	s := serverOf(t, n)
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for id, serve := range map[string]http.HandlerFunc{
		"answers": func(w http.ResponseWriter, r *http.Request) {
			at := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
			_, _ = fmt.Fprintf(w, `{"nodeId": "answers", "kept": true, "from": %q, "more": false, "items": [{"nodeId": "answers", "time": %q, "who": "anyone", "operation": "drain", "result": "done", "target": %q}]}`, at, at, r.URL.RequestURI())
		},
		"hangs": hang,
		"stops": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"nodeId": "stops", "items": [`)
			w.(http.Flusher).Flush()
			hang(w, r)
		},
		"strange": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"refuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
	} {
		other := httptest.NewServer(serve)
		t.Cleanup(other.Close)
		joined(t, n, id, other.URL)
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	joined(t, n, "gone", "http://"+gone.Addr().String())
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "the node knows them all", func() bool { return len(s.get(t, "/api/v1/nodes").json(t)["items"].([]any)) == 7 })
	s.publish(t, fmt.Sprintf(helloYAML, "audited"))
	s.do(t, http.MethodDelete, "/api/v1/definitions/none", "")

	ask := func(path string) answer {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a node waits 2 s for another
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		a := answer{resp.StatusCode, resp.Header, raw}
		s.contract.check(t, http.MethodGet, path, a)
		return a
	}
	texts := func(list any, name string) (out []string) {
		for _, v := range list.([]any) {
			if m, ok := v.(map[string]any); ok {
				v = m[name]
			}
			out = append(out, v.(string))
		}
		return out
	}
	for query, want := range map[string][]string{"": {"deleteDefinition", "publishDefinition", "drain"}, "?operation=drain": {"drain"}} {
		a := ask("/api/v1/audit" + query)
		if a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		v := a.json(t)
		if got := texts(v["unasked"], ""); !slices.Equal(got, []string{"gone", "hangs", "refuses", "stops", "strange"}) {
			t.Errorf("%q did not answer", got)
		}
		if got := texts(v["nodes"], "nodeId"); !slices.Equal(got, []string{"answers", "one"}) {
			t.Errorf("%q answered", got)
		}
		if got := texts(v["items"], "operation"); !slices.Equal(got, want) {
			t.Errorf("lines %q, want %q", got, want)
		}
		if got := texts(v["items"], "target"); got[len(got)-1] != "/api/v1/nodes/answers/audit"+cmp.Or(query, "?") {
			t.Errorf("it was asked %q", got)
		}
	}
	for _, id := range []string{"gone", "hangs", "refuses", "stops", "strange"} {
		if a := ask("/api/v1/nodes/" + id + "/audit"); a.status != http.StatusServiceUnavailable || a.code() != "unavailable" || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
	}
}
