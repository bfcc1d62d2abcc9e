package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// refresh asks a node for a refresh of definitions; none means all.
func (c *cluster) refresh(t *testing.T, m *member, ids ...string) answer {
	t.Helper()
	a := c.askRefresh(t, m, ids...)
	if a.status != 200 {
		t.Errorf("refresh %v on %s: %s", ids, m.id, a)
	}
	return a
}

func (c *cluster) askRefresh(t *testing.T, m *member, ids ...string) answer {
	t.Helper()
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = fmt.Sprintf("%q", id)
	}
	return c.call(t, m, "POST", "/api/v1/definitions/refresh", `{"definitionIds": [`+strings.Join(quoted, ", ")+`]}`)
}

func (c *cluster) refreshes(t *testing.T, outcome string) float64 {
	t.Helper()
	return c.total(t, "weft_definition_refresh_total", `target="refresh"`, `outcome="`+outcome+`"`)
}

// publishMany publishes definitions f0, f1, … with an event as trigger.
func (c *cluster) publishMany(t *testing.T, n int) []string {
	t.Helper()
	ids := make([]string, n)
	concurrently(n, 8, func(i int) {
		ids[i] = fmt.Sprintf("f%d", i)
		if a := c.call(t, c.members[1], "POST", "/api/v1/definitions", fmt.Sprintf("id: f%d\nroot:\n  - event: e%d\n    trigger: true\n", i, i)); a.status != 201 {
			t.Errorf("publish: %s", a)
		}
	})
	return ids
}

// frozenRefresh brings the first node to a halt in the middle of a refresh, by
// stopping its network, and gives the channel of its answer. A refresh that was over
// before is done again.
func (c *cluster) frozenRefresh(t *testing.T, proxy *clustertest.Proxy, ids []string) <-chan answer {
	t.Helper()
	etcd := c.etcd.Client(t)
	held := func() bool {
		resp, err := etcd.Get(t.Context(), c.root()+"lock/refresh/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		return resp.Count > 0
	}
	for range 30 {
		watch := etcd.Watch(t.Context(), c.root()+"lock/refresh/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
		<-watch // it is created
		result := make(chan answer, 1)
		go func() { result <- c.askRefresh(t, c.members[0], ids...) }()
		select {
		case <-watch:
			proxy.BlackHole()
		case <-time.After(patience):
			t.Fatal("nothing is refreshed")
		}
		// What had passed the proxy arrives in a moment; then etcd hears nothing more.
		for again := 0; again < 20 && held(); again++ {
			if again == 19 {
				return result
			}
			time.Sleep(10 * time.Millisecond)
		}
		proxy.Heal()
		<-result
	}
	t.Fatal("each refresh was over before the network stopped")
	return nil
}

// behindProxy is three nodes of which the first reaches etcd through a proxy.
func behindProxy(t *testing.T, ttl time.Duration) (*cluster, *clustertest.Proxy) {
	t.Helper()
	c := newCluster(t, clustertest.Shared(t))
	proxy := c.etcd.Proxy(t)
	c.start(t, func(cfg *node.Config) {
		cfg.EtcdEndpoints, cfg.SessionTTL = []string{proxy.Endpoint()}, ttl
	}, outcomes)
	for range 2 {
		c.start(t, func(cfg *node.Config) { cfg.SessionTTL = ttl }, outcomes)
	}
	c.settle(t)
	t.Cleanup(proxy.Heal) // before the nodes stop
	return c, proxy
}

// While one node refreshes a set of definitions, the others answer that it is in
// progress, and name it, for the same set in any order and with repetitions; a
// disjoint set and "all" are not held up.
func TestSameRefreshIsDoneByOneNode(t *testing.T) {
	t.Parallel()
	c, proxy := behindProxy(t, 30*time.Second)
	ids := c.publishMany(t, 40)
	mine, others := ids[:30], ids[30:]
	inProgress := c.refreshes(t, "already_in_progress")
	result := c.frozenRefresh(t, proxy, mine)
	frozen, before := time.Now(), c.refreshes(t, "completed")
	for i, m := range []*member{c.members[1], c.members[2], c.members[1]} {
		set := slices.Clone(mine)
		rand.Shuffle(len(set), func(a, b int) { set[a], set[b] = set[b], set[a] })
		if i == 2 {
			set = append(set, set[:3]...)
		}
		a := c.refresh(t, m, set...)
		if a.text("status") != "AlreadyInProgress" || a.text("holder") != "n0" {
			t.Errorf("the same set on %s: %s", m.id, a)
		}
	}
	for _, set := range [][]string{others, nil, mine[:29]} {
		if a := c.refresh(t, c.members[2], set...); a.text("status") != "Completed" || a.text("holder") != "" {
			t.Errorf("another set: %s", a)
		}
	}
	proxy.Heal()
	completed := 4.0
	select {
	case a := <-result:
		if a.status == 503 && time.Since(frozen) > 3*time.Second {
			t.Log("this machine is slow: the first refresh did not wait so long for etcd")
			completed--
			break
		}
		if refreshed, _ := a.body["refreshed"].([]any); a.text("status") != "Completed" || len(refreshed) != len(mine) {
			t.Errorf("the first refresh: %s", a)
		}
	case <-time.After(patience):
		t.Fatal("the first refresh does not end")
	}
	if n := c.refreshes(t, "already_in_progress") - inProgress; n != 3 {
		t.Errorf("%v refreshes are counted as already in progress, want 3", n)
	}
	if n := c.refreshes(t, "completed") - before; n != completed {
		t.Errorf("%v refreshes are counted as completed, want %v", n, completed)
	}
	// What was refreshed from several sides at once still starts once.
	for i := range 3 {
		if a := c.call(t, c.members[i], "POST", fmt.Sprintf("/api/v1/events/e%d", i), "{}"); kind(a) != "started" {
			t.Errorf("event e%d: %s", i, a)
		}
	}
	c.checkHistories(t)
}

// Asked at once, in different orders: whoever did not do it was told who does,
// and the counters say the same.
func TestRefreshesAtOnceCompleteOrNameTheHolder(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	ids := c.publishMany(t, 40)
	alone, inProgress := 0, 0
	n := testsize.Of(15, 5)
	for range n {
		answers := make([]answer, 3)
		atOnce(3, func(k int) {
			set := slices.Clone(ids)
			rand.Shuffle(len(set), func(a, b int) { set[a], set[b] = set[b], set[a] })
			answers[k] = c.refresh(t, c.members[k], set...)
		})
		did := map[string]bool{}
		for k, a := range answers {
			if a.text("status") == "Completed" {
				did[c.members[k].id] = true
			}
		}
		for k, a := range answers {
			switch holder := a.text("holder"); {
			case a.text("status") == "Completed":
			case a.text("status") == "AlreadyInProgress" && did[holder] && holder != c.members[k].id:
				inProgress++
			default:
				t.Errorf("%s answers %s; completed by %v", c.members[k].id, a, did)
			}
		}
		if len(did) == 1 {
			alone++
		}
	}
	t.Logf("%d rounds, in %d of them one node did it for all", n, alone)
	if alone == 0 {
		t.Error("no round had one node do it for all three")
	}
	if got := c.refreshes(t, "already_in_progress"); got != float64(inProgress) {
		t.Errorf("%v are counted as already in progress, %d were answered so", got, inProgress)
	}
	if got := c.refreshes(t, "completed"); got != float64(3*n-inProgress) {
		t.Errorf("%v are counted as completed, %d were answered so", got, 3*n-inProgress)
	}
	c.checkHistories(t)
}

// A node that vanishes during a refresh does not keep others from it for longer
// than session TTL + 2 s.
func TestVanishedRefreshHolderFreesItInTime(t *testing.T) {
	t.Parallel()
	c, proxy := behindProxy(t, shortTTL)
	ids := c.publishMany(t, 30)
	result := c.frozenRefresh(t, proxy, ids)
	var a answer
	bound := takeoverBound(t)
	refused := 0
	took := polltest.Within(t, patience, "another node may refresh", func() bool {
		if a = c.refresh(t, c.members[1], ids...); a.text("status") == "AlreadyInProgress" {
			refused++
		}
		return a.text("status") == "Completed"
	})
	t.Logf("free after %v; %d refusals before", took.Round(time.Millisecond), refused)
	if took > bound() || refused == 0 {
		t.Errorf("it was free after %v and %d refusals", took, refused)
	}
	proxy.Heal()
	select {
	case <-result: // whatever it says, its caller was answered
	case <-time.After(patience):
		t.Fatal("the vanished node's caller is not answered")
	}
	polltest.Eventually(t, "the vanished node is back", func() bool {
		return c.call(t, c.members[0], "GET", "/readyz", "").status == 200
	})
	c.checkHistories(t)
}
