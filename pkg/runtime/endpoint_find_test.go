package runtime_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// callback waits at a path of its own for each instance, and says where.
const callback = `
id: callback
inputs:
  path: {type: string}
root:
  - httpEndpoint: {path: "${{ inputs.path }}", supportedMethods: [POST]}
  - writeHttpResponse: {content: "${{ inputs.path }}"}
`

func (m *member) waitsAt(id, path string) workflow.Instance {
	m.T.Helper()
	res, err := m.Starts.Execute(m.T.Context(), runtime.StartRequest{DefinitionID: "callback", InstanceID: id, Input: map[string]any{"path": path}})
	if err != nil {
		m.T.Fatal(err)
	}
	return res.Instance
}

// call sends a request and gives what the workflow wrote, or the code.
func (m *member) call(path string) string {
	m.T.Helper()
	res, err := m.Endpoints.Endpoint(m.T.Context(), runtime.EndpointRequest{Method: "POST", Path: path})
	switch {
	case err != nil:
		return string(workflow.CodeOf(err))
	case res.Response == nil:
		m.T.Fatalf("%s: %+v", path, res)
	}
	return string(res.Response.Body)
}

// crowdOfEndpoints makes n bookmarks wait, each at a path of its own.
func crowdOfEndpoints(tb testing.TB, m *member, n int) {
	tb.Helper()
	etcd := clustertest.Shared(tb).Client(tb)
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := w * 100; i < n; i += 800 {
				var ops []clientv3.Op
				for j := i; j < min(i+100, n); j++ {
					hash, err := workflow.Hash(workflow.EndpointType, workflow.EndpointPayload("POST", fmt.Sprintf("callback/c%07d", j)))
					if err != nil {
						tb.Error(err)
					}
					ops = append(ops, clientv3.OpPut(fmt.Sprintf("%sbookmark/%s/-/c%07d/b", m.Root, hash, j), fmt.Sprintf(`{"instance":"c%07d"}`, j)))
				}
				if _, err := etcd.Txn(tb.Context()).Then(ops...).Commit(); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	writers.Wait()
}

// However many wait, each is found, and by as many calls to etcd.
func TestEveryEndpointWithAPathOfItsOwnIsFound(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m := c[0]
	m.Publish(callback)
	calls := 0
	var mu sync.Mutex
	c[1].Faults.Add(clustertest.Rule{Match: func(call clustertest.Call) bool {
		if call.Touches(m.Root+"endpoint/") || call.Touches(m.Root+"route/") || call.Touches(m.Root+"bookmark/") {
			mu.Lock()
			calls++
			mu.Unlock()
		}
		return false
	}})
	counted := func(path string) int {
		mu.Lock()
		calls = 0
		mu.Unlock()
		if got := c[1].call(path); got != path {
			t.Errorf("%s: %s", path, got)
		}
		mu.Lock()
		defer mu.Unlock()
		return calls
	}
	m.waitsAt("first", "callback/first")
	alone := counted("callback/first")
	crowdOfEndpoints(t, m, 10_500)
	for _, id := range []string{"a", "m", "z"} {
		m.waitsAt(id, "callback/"+id)
	}
	for _, id := range []string{"z", "a", "m"} {
		if n := counted("callback/" + id); n > alone {
			t.Errorf("%s took %d calls, alone %d", id, n, alone)
		}
	}
	if got := m.call("callback/nobody"); got != string(workflow.CodeRouteNotFound) {
		t.Errorf("got %s", got)
	}
}

// What waits there counts, not what waited there once: the best match is of those.
func TestTheBestOfTheEndpointsThatWait(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(callback)
	for i, path := range []string{"{*all}", "{a}/{b}", "{a}/two", "One/{b}", "one/{*rest}", "one/two/{*rest}", "one/two"} {
		m.waitsAt(fmt.Sprint("i", i), path)
	}
	var got []string
	for range 8 {
		got = append(got, m.call("one/TWO"))
	}
	want := []string{"one/two", "one/two/{*rest}", "One/{b}", "one/{*rest}", "{a}/two", "{a}/{b}", "{*all}", string(workflow.CodeRouteNotFound)}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("answered by\n%q, want\n%q", got, want)
	}
	m.waitsAt("root", "")
	if got := m.call("/"); got != "" {
		t.Errorf("at the root: %q", got)
	}
}

func TestAPathBeyondTheLimitsIsRefused(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(callback)
	for path, want := range map[string]string{
		strings.Repeat("x/", 17): "17 segments; at most 16",
		"{a}/{b}/{c}/{d}/{e}":    "5 parameters; at most 4",
	} {
		in := m.waitsAt("", path)
		if in.SubStatus != workflow.Faulted || len(in.Incidents) != 1 || !strings.Contains(in.Incidents[0].Message, want) {
			t.Errorf("%s: %+v", path, in)
		}
	}
}

// An answer is the key's, also when nothing waits there any more.
func TestARepeatFindsItsAnswerWhenNothingWaitsAnyMore(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(callback)
	c[0].waitsAt("one", "callback/one")
	key := &runtime.Key{Scope: "POST callback/one", Value: "k", BodyHash: "b"}
	for i := range 3 {
		res, err := c[i%2].Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "callback/one", Key: key})
		if err != nil || res.Response == nil || string(res.Response.Body) != "callback/one" {
			t.Errorf("%d: %+v, %v", i, res, err)
		}
	}
	_, err := c[0].Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "callback/one", Key: &runtime.Key{Scope: "POST callback/one", Value: "other", BodyHash: "b"}})
	if workflow.CodeOf(err) != workflow.CodeRouteNotFound {
		t.Errorf("another key: %v", err)
	}
}

// BenchmarkEndpointInACrowd starts an instance that waits at a path of its own and
// sends a request there, alone and beside many others. The figures should not
// differ.
func BenchmarkEndpointInACrowd(b *testing.B) {
	for _, n := range []int{0, 100_000} {
		b.Run(fmt.Sprint(n, " waiting"), func(b *testing.B) {
			m := newCluster(b, 1)[0]
			m.Publish(callback)
			crowdOfEndpoints(b, m, n)
			i := 0
			b.ResetTimer()
			for b.Loop() {
				i++
				path := fmt.Sprint("callback/mine", i)
				b.StopTimer()
				m.waitsAt("", path)
				b.StartTimer()
				if got := m.call(path); got != path {
					b.Fatalf("got %s", got)
				}
			}
		})
	}
}
