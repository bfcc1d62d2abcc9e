package etcdstore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// page reads a page of a list.
func (w *world) page(f find.Filter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Filter: f, Cursor: cursor, Limit: limit, Whole: true})
	if err != nil {
		return nil, "", err
	}
	return page.Items, page.Next, nil
}

// listed reads a list to its end in pages of a size, and gives the ids in their order.
func (w *world) listed(f find.Filter, limit int64) []string {
	w.tb.Helper()
	return w.listedBy(lists.InstanceQuery{Filter: f, Limit: limit})
}

func (w *world) listedBy(q lists.InstanceQuery) []string {
	w.tb.Helper()
	for ids := []string{}; ; {
		page, err := w.Reader.Instances(w.ctx(), q)
		w.ok(err)
		if int64(len(page.Items)) > q.Limit {
			w.tb.Fatalf("%d instances, limit %d", len(page.Items), q.Limit)
		}
		for _, in := range page.Items {
			ids = append(ids, in.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return ids
		}
	}
}

// someInstances makes instances that differ in all that is listed by. Half of the definitions
// have a head, and their ids are in another order than their keys.
func (w *world) someInstances(n int) []workflow.Instance {
	w.tb.Helper()
	random := rand.New(rand.NewPCG(16, uint64(n)))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for _, id := range []string{"a-b", "a", "zz"} {
		_, err := w.raw.Put(w.ctx(), w.Keys.Head(id), "{}")
		w.ok(err)
	}
	var all []workflow.Instance
	for i := range n {
		c := w.first(fmt.Sprintf("i%03d", i), nil)
		h := &c.After.Header
		h.DefinitionID, h.Version = pick("a", "a-b", "a.b", "b", "ab"), 1+random.IntN(12)
		h.SubStatus = record.SubStatuses[random.IntN(len(record.SubStatuses))]
		h.Status = h.SubStatus.Status()
		h.CorrelationID = pick("", "k", "c/d")
		h.CreatedAt = w.now.Add(time.Duration(random.IntN(n/4)) * time.Millisecond) // by a clock that is years ahead
		if i%2 == 0 {                                                               // a moment ago, or years
			h.CreatedAt = time.Now().Add(-time.Duration(1) << random.IntN(60)).Truncate(time.Millisecond)
		}
		if p := pick("", "p", "q"); p != "" {
			h.Parent = &workflow.Parent{InstanceID: p}
		}
		if team := pick("", "sales", "a/b"); team != "" {
			h.Labels = map[string]string{"team": team, "customer": pick("acme", "a+b c")}
		}
		if h.Status == workflow.StatusRunning {
			for _, of := range someWaits[:random.IntN(len(someWaits)+1)] {
				b := w.bookmark(h.ID, fmt.Sprint("b", len(h.Bookmarks)), of.Name)
				if b.Name = of.Name; of.Kind == find.WaitTask {
					b.ActivityType = workflow.TaskType
				}
				h.Bookmarks = append(h.Bookmarks, b)
			}
			c.Created = h.Bookmarks
		}
		w.commit(c)
		all = append(all, *h)
	}
	slices.SortFunc(all, func(a, b workflow.Instance) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// someWaits are what some of them wait for: the first ones more often than the others.
var someWaits = []find.Wait{{Kind: find.WaitEvent, Name: "paid"}, {Kind: find.WaitTask, Name: "päck/it ~1%2F"}, {Kind: find.WaitEvent, Name: "naïve/оплата *~ 支払"}, {Kind: find.WaitTask, Name: strings.Repeat("ü", 120)}, {Kind: find.WaitEvent, Name: "rare"}}

// someOf leaves three filters of four out of small runs, others in each.
func someOf(all []find.Filter) []find.Filter {
	if !testsize.Whole() {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:len(all)/4]
	}
	return all
}

func byAge(a, b workflow.Instance) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// The oldest first, and what waits for something: all that fits is listed once, in its order,
// whether the keys of what waits are asked or not.
func TestListsAreWholeAndTheOldestFirst(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	all := w.someInstances(testsize.Of(150, 60))
	var filters []find.Filter
	for i, of := range append(slices.Clone(someWaits), find.Wait{}, find.Wait{Kind: find.WaitTask}, find.Wait{Kind: find.WaitEvent}, find.Wait{Kind: "Elsa.Event", Name: "paid"}, find.Wait{Kind: find.WaitEvent, Name: "never"}, find.Wait{Kind: find.WaitTimer}) {
		f := find.Filter{WaitsFor: of}
		filters = append(filters, f)
		f.CorrelationID = "c/d"
		filters = append(filters, f)
		f.CorrelationID, f.DefinitionID = "", "a"
		filters = append(filters, f)
		f.Status, f.Labels = workflow.StatusRunning, map[string]string{"team": "a/b"}
		filters = append(filters, f)
		f = find.Filter{WaitsFor: of, SubStatus: record.SubStatuses[i%len(record.SubStatuses)]}
		filters = append(filters, f)
		f = find.Filter{WaitsFor: of, Created: find.Span{After: find.Moment{At: all[len(all)*3/4].CreatedAt}, Before: find.Moment{At: all[len(all)/3].CreatedAt}}}
		filters = append(filters, f)
	}
	ids := []string{"i000", "i003", "i010", "i033", "i034", "i059", "i120", "i121", "i149", "nothing"}
	filters = append(filters, find.Filter{IDs: ids}, find.Filter{IDs: ids, Status: workflow.StatusRunning}, find.Filter{IDs: ids, WaitsFor: someWaits[0]},
		find.Filter{IDs: ids, DefinitionID: "a", Labels: map[string]string{"team": "sales"}}, find.Filter{IDs: ids[9:]}, find.Filter{Not: []find.Filter{{IDs: ids}}})
	for _, f := range someOf(filters) {
		for _, order := range []find.Order{find.NewestFirst, find.OldestFirst} {
			if f.Order = order; order == find.OldestFirst {
				slices.SortFunc(all, byAge)
			} else {
				slices.SortFunc(all, func(a, b workflow.Instance) int {
					return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
				})
			}
			want := []string{}
			for i := range all {
				if f.Fits(&all[i], nil) {
					want = append(want, all[i].ID)
				}
			}
			for _, q := range []lists.InstanceQuery{{Limit: 7}, {Limit: 500}, {Limit: 7, Direct: 1}, {Limit: 20, Most: 25}} {
				q.Filter = f
				if got := w.listedBy(q); !slices.Equal(got, want) {
					t.Errorf("%s by %d (%d, %d):\n%v, want\n%v", f.String(), q.Limit, q.Direct, q.Most, got, want)
				}
			}
		}
	}
}

// Instances that are named are read by their names, whatever else there is; one whose record
// cannot be read is found by the list, and is told.
func TestNamedInstancesAreReadByTheirNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := testsize.Of(300, 100)
	all := w.someInstances(n)
	middle := fmt.Sprintf("i%03d", n/2)
	f := find.Filter{IDs: []string{"i000", middle, fmt.Sprintf("i%03d", n-1)}}
	requests := w.faults.Calls("get") + w.faults.Calls("txn")
	page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Filter: f, Limit: 50})
	w.ok(err)
	if got := w.faults.Calls("get") + w.faults.Calls("txn") - requests; len(page.Items) != 3 || got > 2 || page.Looked != 3 {
		t.Errorf("%d instances of %d that were looked at with %d requests", len(page.Items), page.Looked, got)
	}
	_, err = w.raw.Put(w.ctx(), w.Keys.Instance(middle), "{")
	w.ok(err)
	for _, order := range []find.Order{find.NewestFirst, find.OldestFirst} {
		f.Order = order
		got := w.listed(f, 2)
		if slices.Sort(got); !slices.Equal(got, f.IDs) {
			t.Errorf("%s: %v of %d", order, got, len(all))
		}
	}
}

// However many are of one millisecond, and wherever a list begins, the oldest come first and
// none is left out: also where a node looks at a beginning that is there no more, or not yet.
func TestTheOldestOfManyAtOnce(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	var all []workflow.Instance
	add := func(n int, made time.Time, apart time.Duration) {
		t.Helper()
		for i := range n {
			c := w.first(fmt.Sprintf("i%04d", len(all)), nil)
			c.After.Header.CreatedAt = made.Add(time.Duration(i) * apart)
			w.commit(c)
			all = append(all, c.After.Header)
		}
		slices.SortFunc(all, byAge)
	}
	same := func(what string) {
		t.Helper()
		want := []string{}
		for i := range all {
			want = append(want, all[i].ID)
		}
		for _, limit := range testsize.Of([]int64{3, 60}, []int64{60}) {
			if got := w.listed(find.Filter{Order: find.OldestFirst}, limit); !slices.Equal(got, want) {
				t.Errorf("%s, by %d:\n%v, want\n%v", what, limit, got, want)
			}
		}
	}
	same("none")
	add(260, w.now, 0) // more than an era may have
	same("of one millisecond")
	add(230, w.now.Add(time.Hour), time.Millisecond)
	same("and others, close")
	add(3, time.Now().AddDate(80, 0, 0), time.Hour)
	add(2, time.UnixMilli(3), time.Millisecond)
	add(2, time.UnixMilli(-5), 0)
	same("by clocks that are off")
	add(220, w.now.Add(-1000*time.Hour), time.Minute)
	same("and more before where it began")
	for _, in := range all[:400] {
		w.remove(in.ID)
	}
	all = all[400:]
	same("and what it began with is gone")
}

// Whatever is asked for, alone or together, all that fits is listed once, the newest
// first, whether or not the definitions' heads are known.
func TestListsAreWholeAndTheNewestFirst(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	all := w.someInstances(testsize.Of(150, 60))
	filters := []find.Filter{{}}
	each := func(with func(f find.Filter) []find.Filter) {
		for _, f := range slices.Clone(filters) {
			filters = append(filters, with(f)...)
		}
	}
	each(func(f find.Filter) []find.Filter {
		a, b := f, f
		a.DefinitionID, b.DefinitionID = "a", "a.b"
		return []find.Filter{a, b}
	})
	each(func(f find.Filter) []find.Filter { f.Version = 2; return []find.Filter{f} })
	each(func(f find.Filter) []find.Filter {
		a, b := f, f
		a.Status, b.SubStatus = workflow.StatusRunning, workflow.Faulted
		return []find.Filter{a, b}
	})
	each(func(f find.Filter) []find.Filter { f.CorrelationID = "c/d"; return []find.Filter{f} })
	each(func(f find.Filter) []find.Filter { f.Parent = "q"; return []find.Filter{f} })
	each(func(f find.Filter) []find.Filter {
		a, b := f, f
		a.Labels, b.Labels = map[string]string{"team": "a/b"}, map[string]string{"team": "sales", "customer": "a+b c"}
		return []find.Filter{a, b}
	})
	for _, f := range someOf(filters) {
		want := []string{}
		for i := range all {
			if f.Fits(&all[i], nil) {
				want = append(want, all[i].ID)
			}
		}
		for _, limit := range []int64{7, 500} {
			if got := w.listed(f, limit); !slices.Equal(got, want) {
				t.Errorf("%+v by %d:\n%v, want\n%v", f, limit, got, want)
			}
		}
	}
}

// Lists that are known are not looked for again, and what comes before, between and
// behind them is found all the same.
func TestListsThatComeLaterAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for _, of := range []struct {
		definition string
		version    int
		sub        workflow.SubStatus
	}{
		{"m", 2, workflow.Suspended}, {"m", 1, workflow.Suspended}, {"m", 3, workflow.Suspended}, {"m", 20, workflow.Suspended}, {"a", 1, workflow.Suspended}, {"z", 1, workflow.Suspended},
		{"m-", 1, workflow.Suspended}, {"m", 2, workflow.Faulted}, {"m", 2, workflow.Executing}, {"m.1", 1, workflow.Finished},
	} {
		c := w.first(fmt.Sprintf("i%03d", len(want)), nil)
		h := &c.After.Header
		h.DefinitionID, h.Version, h.SubStatus, h.Status = of.definition, of.version, of.sub, of.sub.Status()
		w.commit(c)
		want = append(want, h.ID)
		if got := w.listed(find.Filter{}, 3); !slices.Equal(got, want) {
			t.Errorf("after %+v: %v, want %v", of, got, want)
		}
		if got := w.listed(find.Filter{DefinitionID: of.definition, SubStatus: of.sub}, 3); !slices.Contains(got, h.ID) {
			t.Errorf("after %+v: %v", of, got)
		}
	}
}

// A page costs as many requests, and as many keys, beside many others as beside few.
func TestAPageCostsAsMuchBesideMany(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	made := 0
	add := func(n int, definition string, version int, sub workflow.SubStatus) {
		t.Helper()
		for range n {
			made++
			c := w.first(fmt.Sprintf("%s%d-%03d", definition, version, made), nil)
			h := &c.After.Header
			h.DefinitionID, h.Version, h.SubStatus, h.Status = definition, version, sub, sub.Status()
			h.CreatedAt = w.now.Add(time.Duration(made) * time.Second)
			h.CorrelationID, h.Parent, h.Labels = definition, &workflow.Parent{InstanceID: definition}, map[string]string{"of": definition}
			w.commit(c)
		}
	}
	for _, sub := range record.SubStatuses {
		for _, definition := range []string{"rare", "often"} {
			add(1, definition, 1, sub)
			add(1, definition, 2, sub)
		}
	}
	filters := []find.Filter{{}, {Status: workflow.StatusRunning}, {Status: workflow.StatusFinished}, {DefinitionID: "rare"}, {DefinitionID: "rare", Version: 1}, {SubStatus: workflow.Faulted},
		{DefinitionID: "often", Version: 1}, {DefinitionID: "often", SubStatus: workflow.Pending}, {CorrelationID: "rare"}, {Parent: "rare"}, {Labels: map[string]string{"of": "rare"}}}
	const limit = 5
	cost := func() (all []int) {
		t.Helper()
		for _, f := range filters {
			before := w.faults.Calls("get") + w.faults.Calls("txn")
			page, _, err := w.page(f, "", limit)
			w.ok(err)
			if len(page) == 0 {
				t.Errorf("%+v: nothing", f)
			}
			all = append(all, w.faults.Calls("get")+w.faults.Calls("txn")-before)
		}
		return all
	}
	few := cost()
	add(150, "often", 2, workflow.Suspended)
	add(150, "often", 2, workflow.Finished)
	many := cost()
	for i := range filters {
		if many[i] > few[i]+1 { // a list that has more than its part of a page is read on
			t.Errorf("%+v: %d requests beside few, %d beside many", filters[i], few[i], many[i])
		}
	}
}

// What an instance is listed under goes where it goes: with a commit that changes it, and
// with the instance. fsck knows each of them, and puts back what is lost.
func TestEveryEntryOfAnInstanceIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.first("i", nil)
	h := &c.After.Header
	h.CorrelationID, h.Parent = "c/d", &workflow.Parent{InstanceID: "p"}
	h.Labels = map[string]string{"team": "sales", "customer": "a+b c/~"}
	w.commit(c)
	w.commit(ends(w.next("i", nil)))
	now := w.record("i")
	entries := w.IndexEntries(&now.Header)
	if len(entries) != 6 {
		t.Fatalf("%q", entries)
	}
	sound := func() {
		t.Helper()
		check, err := w.Fsck(w.ctx())
		if w.ok(err); len(check.Findings) > 0 {
			t.Errorf("%+v", check.Findings)
		}
		if listed := w.has("index/") + w.has("by-correlation/") + w.has("by-parent/") + w.has("label/") + w.has("finished/"); listed != len(entries) {
			t.Errorf("%d entries, want %d", listed, len(entries))
		}
	}
	sound()
	strange := now.Header
	strange.ID, strange.CreatedAt = "stranger", w.now.Add(time.Hour)
	stranger := w.IndexEntries(&strange)
	slices.Sort(entries) // labels come in any order
	slices.Sort(stranger)
	for i, key := range entries {
		_, err := w.raw.Delete(w.ctx(), key)
		w.ok(err)
		_, err = w.raw.Put(w.ctx(), stranger[i], "")
		w.ok(err)
		check, err := w.Fsck(w.ctx())
		w.ok(err)
		rules := map[string]string{}
		for _, n := range check.Findings {
			rules[w.Keys.Root+n.Key] = n.Rule
		}
		if len(check.Findings) != 2 || rules[key] != "index-missing" || rules[stranger[i]] != "index-outdated" {
			t.Errorf("%s: %+v", key, check.Findings)
		}
		_, err = w.Repair(w.ctx(), nil)
		w.ok(err)
		sound()
	}
	w.remove("i")
	entries = nil
	sound()
}

// A time is a part of a key whose order is the other way round, whatever clock it is of.
func TestTheNewestComesFirst(t *testing.T) {
	t.Parallel()
	before := time.UnixMilli(1234567890123).UTC()
	for _, tc := range []struct{ older, newer time.Time }{
		{before, before.Add(time.Millisecond)}, {time.Time{}, before}, {before, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if older, newer := record.Newest(tc.older), record.Newest(tc.newer); older <= newer || len(older) != len(newer) {
			t.Errorf("%v is %s, %v is %s", tc.older, older, tc.newer, newer)
		}
	}
	if at := record.FromNewest(record.Newest(before)); !at.Equal(before) {
		t.Error(at)
	}
	for _, odd := range []time.Time{{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if got := record.Newest(odd); len(got) != 13 {
			t.Errorf("%v is %q", odd, got)
		}
	}
	if !record.FromNewest("x").IsZero() {
		t.Error("no time")
	}
}
