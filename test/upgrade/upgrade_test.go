package upgrade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/freeaddr"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// Three nodes of the commit before, under load, are replaced one after the other.
// As soon as the first newer one runs, definitions that only it can run are
// published at it, and used at all of them. Nothing is lost, doubled or stuck.
func TestEveryNodeIsReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	commit := base(t, true)
	older, newer := buildCommit(t, commit), buildNewer(t)
	t.Logf("from %s to the present tree", commit)
	name := clustertest.Namespace(t)
	var nodes [3]*process
	u := &users{name: name, client: &http.Client{Timeout: 30 * time.Second}}
	for i := range nodes {
		u.addrs[i] = freeaddr.Of(t)
		nodes[i] = start(t, older, u.addrs[i], name)
	}
	u.publish(t, 0, "id: child\nroot:\n  - delay: 100ms\n", flow("old", ""))
	u.load(t, "old", 3)
	u.grow(t, 6, "old")
	for i := range nodes {
		if code := nodes[i].drain(t); code != 0 {
			t.Errorf("node %d ended with %d", i+1, code)
		}
		nodes[i] = start(t, newer, u.addrs[i], name)
		if i == 0 {
			u.publish(t, 0, flow("new", "  - test.New:\n"))
			u.load(t, "new", 3)
		}
		u.grow(t, 10, "old")
		u.grow(t, 4, "new")
	}
	u.settle(t)
}

// flow goes through all ways in which work comes to an instance: a start, an
// event, a timer and a child's end.
func flow(id, more string) string {
	return "id: " + id + "\nroot:\n  - event: go\n  - delay: 200ms\n" + more +
		"  - executeWorkflow: {workflowDefinitionId: child, waitForCompletion: true}\n" + more + "  - writeLine: done\n"
}

// users call a cluster.
type users struct {
	foreign bool // the data is of another format than the tree's, which its fsck says
	name    string
	addrs   [3]string
	client  *http.Client
	stop    []context.CancelFunc
	working sync.WaitGroup
	turn    atomic.Int64

	mu  sync.Mutex
	ids []string // of the instances that were started, and sent their event; guarded by mu
}

// call sends a request with a key to one node after the other until it is
// answered for good; other says which.
func (u *users) call(path, body, key string) (map[string]any, error) {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		addr := u.addrs[u.turn.Add(1)%3]
		status, answer, err := u.once(http.MethodPost, "http://"+addr+"/api/v1"+path, body, key)
		if err == nil && status < 300 {
			return answer, nil
		}
		if err == nil && status != http.StatusServiceUnavailable {
			return nil, fmt.Errorf("%s answered %d %v", path, status, answer)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s: no answer for two minutes; the last: %d %v %w", path, status, answer, err)
		}
		time.Sleep(50 * time.Millisecond) // the pace of a client that repeats
	}
}

func (u *users) once(method, url, body, key string) (int, map[string]any, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	var answer map[string]any
	if len(bytes.TrimSpace(raw)) > 0 {
		err = json.Unmarshal(raw, &answer)
	}
	return resp.StatusCode, answer, err
}

func (u *users) publish(t *testing.T, node int, sources ...string) {
	t.Helper()
	for _, src := range sources {
		status, answer, err := u.once(http.MethodPost, "http://"+u.addrs[node]+"/api/v1/definitions", src, "")
		if err != nil || status != http.StatusCreated {
			t.Fatalf("publish: %d %v %v", status, answer, err)
		}
	}
}

// load starts n users of a definition, who go on until settle.
func (u *users) load(t *testing.T, def string, n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	u.stop = append(u.stop, cancel)
	t.Cleanup(func() {
		cancel()
		u.working.Wait()
	})
	for w := range n {
		u.working.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				if err := u.round(def, fmt.Sprintf("%s-%d-%d", def, w, k)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
}

// round starts an instance and sends the event that it waits for.
func (u *users) round(def, id string) error {
	if _, err := u.call("/definitions/"+def+"/execute", fmt.Sprintf(`{"instanceId": %q, "correlationId": %q}`, id, id), "start-"+id); err != nil {
		return err
	}
	if _, err := u.call("/events/go", fmt.Sprintf(`{"correlationId": %q}`, id), "go-"+id); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ids = append(u.ids, id)
	return nil
}

// grow waits until so many more instances of a definition were started and sent
// their event.
func (u *users) grow(t *testing.T, n int, def string) {
	t.Helper()
	from := u.count(def)
	polltest.Within(t, 2*time.Minute, "the users of "+def+" get answers", func() bool { return u.count(def) >= from+n || t.Failed() })
}

func (u *users) count(def string) (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range u.ids {
		if strings.HasPrefix(id, def+"-") {
			n++
		}
	}
	return n
}

// settle ends the load and holds that each instance did all that it is for, once.
func (u *users) settle(t *testing.T) {
	t.Helper()
	for _, stop := range u.stop {
		stop()
	}
	u.working.Wait()
	counts := map[string]int{}
	for _, id := range u.ids {
		def, _, _ := strings.Cut(id, "-")
		counts[def]++
		var in map[string]any
		polltest.Within(t, 2*time.Minute, id+" is finished", func() bool {
			_, answer, err := u.once(http.MethodGet, "http://"+u.addrs[0]+"/api/v1/instances/"+id, "", "")
			in = answer
			return err == nil && answer["status"] == "Finished"
		})
		if incidents, _ := in["incidents"].([]any); in["subStatus"] != "Finished" || len(incidents) > 0 {
			t.Errorf("%s: %v %v", id, in["subStatus"], in["incidents"])
		}
		_, journal, err := u.once(http.MethodGet, "http://"+u.addrs[0]+"/api/v1/instances/"+id+"/journal?limit=500", "", "")
		if n := strings.Count(fmt.Sprint(journal), "event:WriteLine"); err != nil || n != 1 {
			t.Errorf("%s wrote %d lines, %v", id, n, err)
		}
	}
	_, dead, err := u.once(http.MethodGet, "http://"+u.addrs[1]+"/api/v1/dead-letters", "", "")
	if items, ok := dead["items"].([]any); err != nil || !ok || len(items) > 0 {
		t.Errorf("dead letters: %v %v", dead, err)
	}
	kept, err := etcdstore.New(etcdstore.Config{Client: clustertest.Shared(t).Client(t), Root: cluster.Root(u.name)})
	if err != nil {
		t.Fatal(err)
	}
	check, err := kept.Upkeep.Fsck(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check.Findings {
		if !f.Passing && !(u.foreign && f.Rule == "format") {
			t.Errorf("fsck: %+v", f)
		}
	}
	t.Logf("instances: %v", counts)
}

// A node of another format does not join, in neither direction, says why, and
// disturbs nobody.
func TestANodeOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	commit := base(t, false)
	older, newer := buildCommit(t, commit), buildNewer(t)
	t.Logf("%s and the present tree", commit)
	for what, programs := range map[string][2]string{"the newer beside the older": {older, newer}, "the older beside the newer": {newer, older}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			name := clustertest.Namespace(t)
			u := &users{name: name, client: &http.Client{Timeout: 30 * time.Second}, foreign: programs[0] == older}
			u.addrs = [3]string{freeaddr.Of(t)}
			u.addrs[1], u.addrs[2] = u.addrs[0], u.addrs[0]
			start(t, programs[0], u.addrs[0], name)
			u.publish(t, 0, "id: child\nroot:\n  - delay: 100ms\n", flow("old", ""))
			if err := u.round("old", "old-before"); err != nil {
				t.Fatal(err)
			}
			refused := launch(t, programs[1], freeaddr.Of(t), name)
			if code := refused.exit(t); code == 0 || !strings.Contains(refused.said(), "is of format") {
				t.Errorf("it ended with %d and said %s", code, refused.said())
			}
			if err := u.round("old", "old-after"); err != nil {
				t.Fatal(err)
			}
			u.settle(t)
		})
	}
}
