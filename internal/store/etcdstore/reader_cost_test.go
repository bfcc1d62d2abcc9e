package etcdstore

import (
	"maps"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// indexed are the filters that have an index, alone and together.
func indexed() map[string]find.Filter {
	filters := map[string]find.Filter{
		"all": {}, "running": {Status: workflow.StatusRunning}, "finished": {Status: workflow.StatusFinished}, "faulted": {SubStatus: workflow.Faulted},
		"definition": {DefinitionID: "d7"}, "version": {DefinitionID: "d7", Version: 2}, "running of a definition": {DefinitionID: "d7", Status: workflow.StatusRunning},
		"parent": {Parent: "p0"}, "label": {Labels: map[string]string{"team": "t0"}}, "correlation": {CorrelationID: "c0"},
		"running with a label":                   {Status: workflow.StatusRunning, Labels: map[string]string{"team": "t0"}},
		"made an age ago":                        {Created: find.Span{Before: find.Moment{At: time.Now().Add(-time.Minute)}}},
		"of a definition and age":                {DefinitionID: "d7", Created: find.Span{Before: find.Moment{At: time.Now().Add(-time.Minute)}}},
		"waiting for an event that all wait for": waitsFor(find.WaitEvent, "all"), "waiting for a rare event": waitsFor(find.WaitEvent, "rare"), "waiting for a task": waitsFor(find.WaitTask, "pack"),
	}
	for name, f := range maps.Clone(filters) {
		f.Order = find.OldestFirst
		filters["the oldest of "+name] = f
	}
	return filters
}

// A page of 50 by any indexed filter reads about as much beside thousands of instances as beside
// some hundreds: requests and keys, which are exact however busy the machine is.
func TestAnIndexedPageCostsTheSameBesideMany(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	type cost struct {
		requests int
		keys     int64
	}
	costs := map[int]map[string]cost{}
	for _, n := range []int{400, 8000} {
		w := newWorld(t)
		w.makeInstances(n)
		costs[n] = map[string]cost{}
		_, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Limit: 1}) // the first time it finds out which lists there are
		w.ok(err)
		for name, f := range indexed() {
			if f.Order == find.OldestFirst { // and where each begins
				_, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Filter: f, Limit: 50})
				w.ok(err)
			}
			requests, keys := w.faults.Calls("get")+w.faults.Calls("txn"), w.faults.Keys()
			page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Filter: f, Limit: 50})
			w.ok(err)
			if len(page.Items) == 0 || page.Revision == 0 {
				t.Errorf("%s: %d instances at revision %d", name, len(page.Items), page.Revision)
			}
			costs[n][name] = cost{w.faults.Calls("get") + w.faults.Calls("txn") - requests, w.faults.Keys() - keys}
		}
	}
	for name := range indexed() {
		few, many := costs[400][name], costs[8000][name]
		t.Logf("%-50s beside 400: %d requests, %d keys; beside 8,000: %d, %d", name, few.requests, few.keys, many.requests, many.keys)
		if many.requests > 3*few.requests || many.requests > 25 || many.keys > 3*max(few.keys, 150) {
			t.Errorf("%s: %+v beside 400, %+v beside 8,000", name, few, many)
		}
	}
}
