package node_test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
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
	for line := range strings.Lines(scraped(t, n.HTTPAddr())) {
		var name string
		var v float64
		if _, err := fmt.Sscan(line, &name, &v); err == nil {
			values[name] = v
		}
	}
	return values[`weft_store_bytes{part="in_use"}`] / max(1, values[`weft_store_bytes{part="quota"}`]), int(values["weft_store_level"])
}

const smallQuota = 16 << 20

// filling is a node that is filled with instances which wait.
type filling struct {
	*node.Node
	t     *testing.T
	etcd  *clientv3.Client
	small string   // an instance that has no ballast
	large []string // those that have
}

func startFilling(t *testing.T) *filling {
	t.Helper()
	n := start(t, node.Config{EtcdQuota: smallQuota, Retention: &node.Retention{}}) // everything is kept
	f := &filling{Node: n, t: t}
	if a := f.ask("POST", "/definitions", hoarder); a.status != 201 {
		t.Fatalf("publish: %+v", a)
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints(), DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { etcd.Close() })
	f.etcd, f.small = etcd, f.execute(100).InstanceID
	// The last bit is no start: the node may refuse one by then.
	f.fill(0.69)
	f.others(0.73, 1)
	return f
}

// fill starts instances until a part of the quota is in use. It asks etcd, as the
// node looks once a second only, and after each start, which etcd counts in a moment.
func (f *filling) fill(part float64) {
	f.t.Helper()
	used := func() int64 {
		s, err := f.etcd.Status(f.t.Context(), f.EtcdEndpoints()[0])
		if err != nil {
			f.t.Fatal(err)
		}
		return s.DbSizeInUse
	}
	for before := used(); float64(before) < part*smallQuota; before = used() {
		a := f.execute(400 << 10)
		if a.Code == "store-nearly-full" {
			return // the count came late
		}
		if a.status != 200 {
			f.t.Fatalf("start: %+v", a)
		}
		f.large = append(f.large, a.InstanceID)
		polltest.Eventually(f.t, "etcd counts the start", func() bool { return used() != before })
	}
}

// others fills etcd with what is not the node's until the node's level is as wanted.
func (f *filling) others(part float64, level int) {
	f.t.Helper()
	clustertest.Fill(f.t, f.etcd, fmt.Sprintf("/ballast/%v/", part), smallQuota, part, func() bool {
		_, l := inUse(f.t, f.Node)
		return l == level
	})
}

func (f *filling) ask(method, path, body string) answer {
	f.t.Helper()
	return ask(f.t, method, f.URL()+"/api/v1"+path, body)
}

func (f *filling) execute(bytes int) answer {
	f.t.Helper()
	return f.ask("POST", "/definitions/hoarder/execute", fmt.Sprintf(`{"input": {"ballast": %q}}`, ballast(bytes)))
}

func (f *filling) event(id string) answer {
	f.t.Helper()
	return f.ask("POST", "/events/next", fmt.Sprintf(`{"instanceId": %q}`, id))
}

// reaches waits until the node's level is as wanted. To have room again may take a second defragmentation, for which a node
// rests 30 times as long as the first one took.
func reaches(t *testing.T, n *node.Node, level int) {
	t.Helper()
	polltest.Within(t, 5*time.Minute, fmt.Sprintf("the node's level is %d", level), func() bool { _, l := inUse(t, n); return l == level })
}

// insist asks until it is not refused: etcd may have raised its alarm, which takes
// a moment to be taken back.
func (f *filling) insist(method, path string) (a answer) {
	f.t.Helper()
	polltest.Eventually(f.t, method+" "+path+" is taken", func() bool { a = f.ask(method, path, ""); return a.status != 503 })
	return a
}

func TestAFullStoreRefusesStartsThenAllButEndsAndComesBack(t *testing.T) {
	t.Parallel()
	f := startFilling(t)
	if a := f.execute(100); a.status != 503 || a.Code != "store-nearly-full" || a.retryAfter == "" {
		t.Errorf("start into a nearly full store: %+v", a)
	}
	if a := f.event(f.small); a.status != 200 {
		t.Errorf("event into a nearly full store: %+v", a)
	}

	f.others(0.87, 2)
	if a := f.event(f.small); a.status != 503 || a.Code != "store-nearly-full" {
		t.Errorf("event into a full store: %+v", a)
	}
	if a := f.insist("POST", "/instances/"+f.small+"/cancel"); a.status != 200 || a.SubStatus != "Cancelled" {
		t.Errorf("cancel in a full store: %+v", a)
	}

	// On to the alarm, which refuses deletes too, as they write a little. It comes of a
	// put that does not fit: with more in etcd only its operator gets it away.
	f.others(0.95, 2)
	if _, err := f.etcd.Put(t.Context(), "/ballast", ballast(1<<20)); err == nil {
		t.Fatal("the quota does not hold")
	}
	polltest.Eventually(t, "the node takes back the alarm", func() bool {
		alarms, err := f.etcd.AlarmList(t.Context())
		return err == nil && len(alarms.Alarms) == 0
	})
	for _, id := range f.large {
		// 404: one before it was applied, and said that it did not know.
		if a := f.insist("DELETE", "/instances/"+id); a.status != 204 && a.status != 404 {
			t.Errorf("delete: %+v", a)
		}
	}
	reaches(t, f.Node, 0)
	a := f.execute(100)
	if a.status != 200 {
		t.Errorf("start: %+v", a)
	}
	if a := f.event(a.InstanceID); a.status != 200 {
		t.Errorf("event: %+v", a)
	}
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
	// More than the quota in all (in small runs as much as the level that refuses).
	for started := 0; started < testsize.Of(40, 16); {
		a := ask(t, "POST", api+"/definitions/brief/execute", fmt.Sprintf(`{"input": {"ballast": %q}}`, ballast(400<<10)))
		switch {
		case a.status == 200:
			if started++; started%4 == 0 {
				seen, _ := inUse(t, n)
				polltest.Eventually(t, "the node looked", func() bool { now, _ := inUse(t, n); return now != seen })
			}
		case a.Code == "store-nearly-full":
			reaches(t, n, 0)
		default:
			t.Fatalf("start: %+v", a)
		}
	}
}

// At the quota etcd raises its alarm. The node makes room, and takes it back.
func TestANodeDisarmsTheAlarmOfItsOwnEtcd(t *testing.T) {
	t.Parallel()
	n := start(t, node.Config{EtcdQuota: 16 << 20, Retention: &node.Retention{}})
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
	reaches(t, n, 2) // which it may be before the alarm
	var refused answer
	polltest.Eventually(t, "the node sees the alarm", func() bool {
		refused = ask(t, "POST", api+"/definitions/hoarder/execute", "{}")
		return strings.Contains(refused.Detail, "NOSPACE")
	})
	if refused.Code != "store-nearly-full" {
		t.Errorf("start: %+v", refused)
	}
	if _, err := etcd.Delete(t.Context(), "/ballast/", clientv3.WithPrefix()); err != nil {
		t.Fatal("nothing can be deleted:", err)
	}
	reaches(t, n, 0)
	if b := ask(t, "POST", api+"/events/next", fmt.Sprintf(`{"instanceId": %q}`, a.InstanceID)); b.status != 200 {
		t.Errorf("resume: %+v", b)
	}
}

// While an etcd of others has raised its alarm, which no node takes back, an instance that has ended can be deleted: the
// transaction only removes. All else is refused in words.
func TestAnEndedInstanceIsDeletedDuringTheAlarm(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t, func(c *embed.Config) { c.QuotaBackendBytes = 16 << 20 })
	n := start(t, node.Config{EtcdEndpoints: etcd.Endpoints(), Retention: &node.Retention{}})
	api := n.URL() + "/api/v1"
	ask(t, "POST", api+"/definitions", hoarder)
	ask(t, "POST", api+"/definitions", "id: brief\nroot:\n  - writeLine: x\n")
	ended, waits := ask(t, "POST", api+"/definitions/brief/execute", "{}"), ask(t, "POST", api+"/definitions/hoarder/execute", "{}")
	if ended.status != 200 || waits.status != 200 {
		t.Fatalf("%+v, %+v", ended, waits)
	}
	client := etcd.Client(t)
	var err error
	for i := 0; err == nil; i++ {
		_, err = client.Put(t.Context(), fmt.Sprintf("/ballast/%d", i), ballast(1<<20))
	}
	polltest.Eventually(t, "the node sees the alarm", func() bool {
		return strings.Contains(ask(t, "POST", api+"/definitions/brief/execute", "{}").Detail, "NOSPACE")
	})
	if a := ask(t, "DELETE", api+"/instances/"+ended.InstanceID, ""); a.status != 204 {
		t.Errorf("delete of one that has ended: %+v", a)
	}
	if a := ask(t, "GET", api+"/instances/"+ended.InstanceID, ""); a.status != 404 {
		t.Errorf("it is there: %+v", a)
	}
	if a := ask(t, "DELETE", api+"/instances/"+ended.InstanceID, ""); a.status != 404 {
		t.Errorf("delete of what is gone: %+v", a)
	}
	// What runs has an end that is to be written.
	for path, method := range map[string]string{"": "DELETE", "/cancel": "POST"} {
		if a := ask(t, method, api+"/instances/"+waits.InstanceID+path, ""); a.status != 503 || a.Code != "store-nearly-full" || !strings.Contains(a.Detail, "takes nothing but what only removes") {
			t.Errorf("%s%s of one that waits: %+v", method, path, a)
		}
	}
	if a := ask(t, "GET", api+"/instances/"+waits.InstanceID, ""); a.status != 200 {
		t.Errorf("one that waits: %+v", a)
	}
	// A node that stops writes that it does, for as long as a drain may take: there is room again before this one does.
	gone, err := client.Delete(t.Context(), "/ballast/", clientv3.WithPrefix())
	if err == nil {
		_, err = client.Compact(t.Context(), gone.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err == nil {
		_, err = client.Defragment(t.Context(), etcd.Endpoints()[0])
	}
	if err == nil {
		_, err = client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
	}
	if err != nil {
		t.Error(err)
	}
}
