package etcdstore

import (
	"fmt"
	"maps"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// What is counted is what is listed, each list by itself.
func TestCountsAreOfWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none, err := w.Reader.Counts(w.ctx())
	if w.ok(err); len(none.Lists) != 0 || none.More || none.Revision == 0 {
		t.Errorf("of nothing: %+v", none)
	}
	want := map[lists.InstanceCount]int64{}
	for _, in := range w.someInstances(testsize.Of(150, 60)) {
		want[lists.InstanceCount{SubStatus: in.SubStatus, DefinitionID: in.DefinitionID, Version: in.Version}]++
	}
	got, err := w.Reader.Counts(w.ctx())
	w.ok(err)
	counted := map[lists.InstanceCount]int64{}
	for _, c := range got.Lists {
		n := c.Count
		c.Count = 0
		counted[c] = n
	}
	if !maps.Equal(counted, want) || got.Revision <= none.Revision {
		t.Errorf("counted %v, want %v", counted, want)
	}
	// A list that has become empty is not told of.
	_, err = w.raw.Delete(w.ctx(), w.Keys.Indexes()+"F", clientv3.WithPrefix())
	w.ok(err)
	got, err = w.Reader.Counts(w.ctx())
	w.ok(err)
	for _, c := range got.Lists {
		if c.SubStatus == workflow.Finished || c.SubStatus == workflow.Faulted {
			t.Errorf("%+v is counted, and there is none", c)
		}
	}
}

// fillIndex puts index entries of one list, the newest at, each so long before the other.
func (w *world) fillIndex(definition string, n int, at time.Time, apart time.Duration) {
	w.tb.Helper()
	for first := 0; first < n; first += 100 {
		o := db.NewOps()
		for i := first; i < first+100; i++ {
			h := w.header(fmt.Sprintf("%s-%06d", definition, i))
			h.DefinitionID, h.Version, h.SubStatus, h.CreatedAt = definition, 1, workflow.Suspended, at.Add(-time.Duration(i)*apart)
			o.PutRaw(w.Keys.IndexEntry(&h), nil)
		}
		then, err := o.Render()
		w.ok(err)
		_, err = w.Txn(w.ctx(), "fill the index", nil, then, nil)
		w.ok(err)
	}
}

// Of many it is counted how many there are at least, and so many lists only; one that is long
// keeps no other from being counted to its end.
func TestCountsAreBounded(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	w.fillIndex("long", 20_000, now, 2*time.Second)
	w.fillIndex("old", 200, now.Add(-10*365*24*time.Hour), time.Hour)
	w.fillIndex("ahead", 100, now.Add(365*24*time.Hour), time.Hour)
	_, err := w.Reader.Counts(w.ctx()) // the first time it finds out which lists there are
	w.ok(err)
	calls := w.faults.Calls("txn")
	got, err := w.Reader.Counts(w.ctx())
	w.ok(err)
	if calls = w.faults.Calls("txn") - calls; calls > 14 {
		t.Errorf("%d requests", calls)
	}
	by := map[string]lists.InstanceCount{}
	for _, c := range got.Lists {
		by[c.DefinitionID] = c
	}
	if c := by["long"]; c.Count < lists.CountedFar || c.Count >= 20_000 || !c.More {
		t.Errorf("long: %+v", c)
	}
	if c := by["old"]; c.Count != 200 || c.More {
		t.Errorf("old: %+v", c)
	}
	if c := by["ahead"]; c.Count != 100 || c.More {
		t.Errorf("ahead: %+v", c)
	}
	for first := 0; first <= lists.MostCountedLists; first += 100 {
		o := db.NewOps()
		for i := first; i < first+100; i++ {
			h := w.header("i")
			h.DefinitionID, h.Version, h.SubStatus, h.CreatedAt = fmt.Sprintf("m%05d", i), 1, workflow.Suspended, now
			o.PutRaw(w.Keys.IndexEntry(&h), nil)
		}
		then, err := o.Render()
		w.ok(err)
		_, err = w.Txn(w.ctx(), "fill the index", nil, then, nil)
		w.ok(err)
	}
	if got, err = w.Reader.Counts(w.ctx()); err != nil || !got.More || len(got.Lists) != lists.MostCountedLists {
		t.Errorf("%d lists, %v, %v", len(got.Lists), got.More, err)
	}
}
