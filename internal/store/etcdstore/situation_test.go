package etcdstore

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/trace"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// What is not there is looked for behind the gates in few requests, whoever asks for what id.
func TestAStartBehindAGateIsFoundInFewRequests(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	const all = 60 // more than are read
	trigger := store.TriggerRef{Hash: hashOf("paid"), DefinitionID: "order", Version: 1, ActivityID: "a", Activation: "Singleton"}
	instance := func(i int) string {
		return store.TriggeredInstance(fmt.Sprintf("s%02d", i), trigger.DefinitionID, trigger.ActivityID)
	}
	for name, c := range map[string]struct {
		detail           int // bytes of each item
		found, missing   []int
		fewest, requests int64
	}{
		"small ones":          {detail: 10, found: []int{0, trace.MostHeldStarts - 1}, missing: []int{trace.MostHeldStarts, all}, fewest: 2, requests: 6},
		"large ones, not all": {detail: db.PageBytes/10 - 1000, found: []int{0, 9}, missing: []int{10, all}, fewest: 2, requests: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i := range all {
				id := fmt.Sprintf("s%02d", i)
				st := event("paid")
				st.Input = map[string]any{"note": strings.Repeat("x", c.detail)}
				item := w.item(id, st)
				item.Held = &store.HeldStart{Event: id, Trigger: trigger, Gate: *single}
				raw, err := db.Encode(&item)
				w.ok(err)
				_, err = w.raw.Put(w.ctx(), w.Keys.GatedQueue(*single)+record.Millis(w.now)+"-"+record.Encode(id), string(raw))
				w.ok(err)
			}
			var requests atomic.Int64
			w.faults.Add(clustertest.Rule{Match: func(clustertest.Call) bool {
				requests.Add(1)
				return false
			}})
			look := func(i int) *store.Situation {
				t.Helper()
				before := requests.Load()
				st, err := w.Situation(w.ctx(), instance(i))
				w.ok(err)
				if n := requests.Load() - before; n < c.fewest || n > c.requests {
					t.Errorf("%d requests for that of %d", n, i)
				}
				return st
			}
			for _, i := range c.found {
				if st := look(i); st.Gate == nil || st.Gate.Start == nil || st.Gate.Start.ID != fmt.Sprintf("s%02d", i) || st.Gate.Behind != all {
					t.Errorf("%d: %+v", i, st.Gate)
				}
			}
			for _, i := range c.missing {
				if st := look(i); st.Gate != nil {
					t.Errorf("%d: %+v", i, st.Gate)
				}
			}
			for _, id := range []string{"order-1", "0199f0aa-7c1e-7d2a-9d0e-6f1b8a6c2f10", strings.ToUpper(instance(0))} { // no event starts what is called so
				before := requests.Load()
				st, err := w.Situation(w.ctx(), id)
				w.ok(err)
				if n := requests.Load() - before; n != 1 || st.Gate != nil {
					t.Errorf("%d requests for %s: %+v", n, id, st.Gate)
				}
			}
		})
	}
}

// A child that has ended is told to who waits for it by the mail of its commit. Without that nothing will tell it.
func TestAnEndThatNothingTells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		child        *workflow.SubStatus
		mail, untold bool
	}{
		"told":           {child: new(workflow.Finished), mail: true},
		"lost":           {child: new(workflow.Faulted), untold: true},
		"running":        {child: new(workflow.Suspended)},
		"gone":           {untold: true},
		"gone, and told": {mail: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			put := func(key string, v any) {
				t.Helper()
				raw, err := db.Encode(v)
				w.ok(err)
				w.ok(errOf(w.raw.Put(w.ctx(), key, string(raw))))
			}
			wait := workflow.Bookmark{ID: "p~1", Name: "kid", Payload: map[string]any{"childInstanceId": "k"}}
			if wait.Child() != "k" {
				t.Fatalf("%+v waits for no child", wait)
			}
			put(w.Keys.Instance("p"), &store.Record{Seq: 2, Header: workflow.Instance{ID: "p", DefinitionID: "d", Version: 1, Status: workflow.StatusRunning, SubStatus: workflow.Suspended, Bookmarks: []workflow.Bookmark{wait}}})
			if c.child != nil {
				put(w.Keys.Instance("k"), &store.Record{Seq: 3, Header: workflow.Instance{ID: "k", DefinitionID: "kid", Version: 1, Status: c.child.Status(), SubStatus: *c.child}})
			}
			if c.mail {
				end := record.ChildEnd("p~1", "k", workflow.Finished, nil, w.now)
				put(w.Keys.Mail("p", end.ID), &end)
			}
			st, err := w.Situation(w.ctx(), "p")
			w.ok(err)
			if len(st.Children) != 1 || st.Children[0].Untold != c.untold {
				t.Errorf("%+v", st.Children)
			}
		})
	}
}
