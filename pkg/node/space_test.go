package node_test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/runtime"
)

const hoarder = `
id: hoarder
inputs:
  ballast: {type: string}
root:
  - event: next
  - event: next
  - event: next
`

// answer is what the API says.
type answer struct {
	status     int
	retryAfter string
	Code       string
	Detail     string
	InstanceID string
	SubStatus  string
}

func ask(t *testing.T, method, url, body string) (a answer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_ = json.NewDecoder(resp.Body).Decode(&a)
	a.status, a.retryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	return a
}

// ballast does not get smaller when it is compressed.
func ballast(bytes int) string {
	b := make([]byte, bytes/2)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// inUse waits until the node has looked at etcd's size again, and gives the part
// of the quota that is in use and the level.
func inUse(t *testing.T, n *node.Node) (part float64, level int) {
	t.Helper()
	values := map[string]float64{}
	for line := range strings.Lines(scrape(t, n)) {
		var name string
		var v float64
		if _, err := fmt.Sscan(line, &name, &v); err == nil {
			values[name] = v
		}
	}
	return values[`weft_store_bytes{part="in_use"}`] / max(1, values[`weft_store_bytes{part="quota"}`]), int(values["weft_store_level"])
}

func scrape(t *testing.T, n *node.Node) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL()+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Finished instances never fill the store, whatever is configured.
func TestRetentionKeepsTheStoreFromFillingUp(t *testing.T) {
	t.Parallel()
	keep := node.DefaultRetention()
	keep.Grace = time.Millisecond
	n := start(t, node.Config{EtcdQuota: 16 << 20, Retention: &keep})
	api := n.URL() + "/api/v1"
	if a := ask(t, "POST", api+"/definitions", "id: brief\ninputs:\n  ballast: {type: string}\nroot:\n  - writeLine: x\n"); a.status != 201 {
		t.Fatalf("publish: %+v", a)
	}
	// As much as the quota in all, each twice, in the instance and in its history.
	for started := 0; started < 40; {
		a := ask(t, "POST", api+"/definitions/brief/execute", fmt.Sprintf(`{"input": {"ballast": %q}}`, ballast(400<<10)))
		switch {
		case a.status == 200:
			if started++; started%4 == 0 {
				seen, _ := inUse(t, n)
				eventually(t, "the node looked", func() bool { now, _ := inUse(t, n); return now != seen })
			}
		case a.Code == "store-nearly-full":
			eventually(t, "there is room again", func() bool { _, l := inUse(t, n); return l == 0 })
		default:
			t.Fatalf("start: %+v", a)
		}
	}
}

// At the quota etcd raises its alarm. The node makes room, and takes it back.
func TestANodeDisarmsTheAlarmOfItsOwnEtcd(t *testing.T) {
	t.Parallel()
	n := start(t, node.Config{EtcdQuota: 16 << 20, Retention: &node.Retention{Retention: runtime.Retention{}}})
	api := n.URL() + "/api/v1"
	if a := ask(t, "POST", api+"/definitions", hoarder); a.status != 201 {
		t.Fatalf("publish: %+v", a)
	}
	a := ask(t, "POST", api+"/definitions/hoarder/execute", `{"input": {"ballast": "small"}}`)
	if a.status != 200 {
		t.Fatalf("start: %+v", a)
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints(), DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	for i := 0; err == nil; i++ {
		if i > 100 {
			t.Fatal("the quota does not hold")
		}
		_, err = etcd.Put(t.Context(), fmt.Sprintf("/ballast/%d", i), ballast(1<<20))
	}
	eventually(t, "the node sees the alarm", func() bool { _, l := inUse(t, n); return l == 2 })
	if b := ask(t, "POST", api+"/definitions/hoarder/execute", "{}"); b.Code != "store-nearly-full" || !strings.Contains(b.Detail, "NOSPACE") {
		t.Errorf("start: %+v", b)
	}
	if _, err := etcd.Delete(t.Context(), "/ballast/", clientv3.WithPrefix()); err != nil {
		t.Fatal("nothing can be deleted:", err)
	}
	eventually(t, "there is room again", func() bool { _, l := inUse(t, n); return l == 0 })
	if b := ask(t, "POST", api+"/events/next", fmt.Sprintf(`{"instanceId": %q}`, a.InstanceID)); b.status != 200 {
		t.Errorf("resume: %+v", b)
	}
}
