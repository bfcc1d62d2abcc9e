package etcdstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/fsck"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// noise is text that no compression makes small.
func noise(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	r := rand.New(rand.NewPCG(7, uint64(n)))
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	return string(out)
}

// many is an object of n members of size bytes each.
func many(n, size int) map[string]any {
	out := map[string]any{}
	for i := range n {
		out[fmt.Sprintf("m%05d", i)] = noise(size) + fmt.Sprint(i)
	}
	return out
}

// wide is a list of n items of size bytes each.
func wide(n, size int) []any {
	var out []any
	for i := range n {
		out = append(out, map[string]any{"no": int64(i), "text": noise(size)})
	}
	return out
}

func stateWith(tb testing.TB, vars any) json.RawMessage {
	tb.Helper()
	raw, err := workflow.Marshal(map[string]any{"v": 1, "started": true, "executions": []any{map[string]any{"id": "1", "node": "root", "parent": -1, "vars": vars}}})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// holdings are instances with much in them, each in another place and shape.
func holdings(tb testing.TB) map[string]func(*store.Record) {
	tb.Helper()
	input := func(v map[string]any) func(*store.Record) {
		return func(r *store.Record) { r.Header.Input = v }
	}
	return map[string]func(*store.Record){
		"an input of 20 KB":           input(map[string]any{"blob": noise(20_000)}),
		"an input of 380 KB":          input(map[string]any{"blob": noise(380_000), "small": int64(1)}),
		"an input of 1.2 MB":          input(map[string]any{"a": map[string]any{"b": noise(600_000), "c": noise(600_000)}}),
		"many small inputs":           input(many(2_000, 100)),
		"a list":                      input(map[string]any{"list": wide(3_000, 60), "after": "x"}),
		"an output":                   func(r *store.Record) { r.Header.Output = map[string]any{"o": noise(200_000)} },
		"a variable":                  func(r *store.Record) { r.State = stateWith(tb, map[string]any{"v": noise(200_000), "n": int64(3)}) },
		"many variables":              func(r *store.Record) { r.State = stateWith(tb, many(1_000, 300)) },
		"the same in three places":    func(r *store.Record) { same(tb, r, noise(100_000)) },
		"names and texts with quotes": input(map[string]any{`"}],{`: strings.Repeat(`"\]},`, 20_000), "~0": nil, "é": strings.Repeat("ü\n<>&", 9_000)}),
	}
}

func same(tb testing.TB, r *store.Record, text string) {
	tb.Helper()
	r.Header.Input, r.Header.Output = map[string]any{"a": text}, map[string]any{"a": text}
	r.State = stateWith(tb, map[string]any{"a": text})
}

// An end writes little, whatever the instance holds and where; a read gives all of it back; a delete and a purge
// leave nothing of it.
func TestAnEndWritesLittleOfWhatAnInstanceHolds(t *testing.T) {
	t.Parallel()
	for name, hold := range holdings(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f := w.lock("big", "a")
			c := w.first("big", f)
			hold(&c.After)
			held := c.After
			w.commit(c)
			w.same("big", &held)
			c = w.next("big", f)
			p, err := w.Instances.Prepare(ends(c))
			w.ok(err)
			if p.Size > 3*cut.LeastPart {
				t.Errorf("the end writes %d bytes", p.Size)
			}
			w.commit(c)
			ended := held
			ended.Header.Status, ended.Header.SubStatus = c.After.Header.Status, c.After.Header.SubStatus
			w.same("big", &ended)
			w.clean()
			if len(w.record("big").Parts) == 0 {
				t.Error("it lies in one key")
			}
			w.unlock(f)
			purged, err := w.Purge(w.ctx(), Late("big"), nil, nil)
			w.ok(err)
			if len(purged) != 1 {
				t.Errorf("purged %v", purged)
			}
			w.want("part/", 0)
			w.clean()
		})
	}
}

// same tells whether an instance is read as it is to be, by all who read all of it.
func (w *world) same(id string, want *store.Record) {
	w.tb.Helper()
	loaded, err := w.Load(w.ctx(), id, "", "")
	w.ok(err)
	situation, err := w.Situation(w.ctx(), id)
	w.ok(err)
	header, err := w.Reader.Header(w.ctx(), id)
	w.ok(err)
	if !reflect.DeepEqual(header.Header, w.record(id).Header) || len(header.Parts) > 0 && header.State != nil {
		w.tb.Errorf("its header alone: %+v", header)
	}
	seen, err := w.SeeInstance(w.ctx(), id)
	w.ok(err)
	for by, r := range map[string]*store.Record{"read": w.record(id), "loaded": loaded.Record, "seen": seen.Record} {
		if r.Apart || !bytes.Equal(r.State, want.State) || !reflect.DeepEqual(r.Header.Input, want.Header.Input) || !reflect.DeepEqual(r.Header.Output, want.Header.Output) || r.Header.SubStatus != want.Header.SubStatus {
			w.tb.Errorf("%s: %d bytes of state, inputs %d, outputs %d, %s", by, len(r.State), len(r.Header.Input), len(r.Header.Output), r.Header.SubStatus)
		}
	}
	if r := situation.Record; situation.Damage != nil || r.Header.SubStatus != want.Header.SubStatus || r.Apart != (len(r.Parts) > 0 && (len(situation.Mail) > 0 || r.Header.Status == workflow.StatusFinished)) {
		w.tb.Errorf("explained: %+v", situation)
	}
	if raw, err := workflow.Marshal(want); err != nil || loaded.Bytes < len(raw)*9/10 {
		w.tb.Errorf("loaded %d bytes of %d, %v", loaded.Bytes, len(raw), err)
	}
}

// clean wants no finding of parts.
func (w *world) clean() {
	w.tb.Helper()
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	for _, f := range check.Findings {
		if f.Rule == "damaged" || f.Rule == "part-unused" {
			w.tb.Errorf("%+v", f)
		}
	}
}

// A change of one variable writes that one, and what it had been goes; so does all of it in a delete.
func TestAChangeWritesWhatItChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.lock("big", "a")
	c := w.first("big", f)
	vars := map[string]any{"a": noise(100_000), "b": noise(100_001), "c": noise(100_002)}
	c.After.State = stateWith(t, vars)
	w.commit(c)
	w.want("part/big/", 3)
	c = w.next("big", f)
	vars["b"] = noise(90_000)
	c.After.State = stateWith(t, vars)
	p, err := w.Instances.Prepare(c)
	w.ok(err)
	if p.Size > 100_000 {
		t.Errorf("it writes %d bytes", p.Size)
	}
	w.commit(c)
	w.want("part/big/", 3)
	w.same("big", &store.Record{Header: c.After.Header, State: c.After.State})
	c = w.next("big", f)
	c.Delete = true
	w.commit(c)
	w.want("part/", 0)
	w.want("instance/", 0)
}

// While a node lives that reads no parts, records are written whole, but for an instance that lies in parts, as all of
// it may have become larger than a transaction; and a commit that is sent again is written as it was at first, whoever has joined or left in between.
func TestPartsWaitUntilEveryNodeReadsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := false
	w.Conn.PartsKnown = func(int) bool { return known }
	f := w.lock("big", "a")
	step := func(want int, first, again bool) {
		t.Helper()
		c := w.first("big", f)
		if w.has("instance/big") > 0 {
			c = w.next("big", f)
		}
		c.After.Header.Input = map[string]any{"blob": noise(50_000)}
		known = first
		_, err := w.Instances.Prepare(c)
		w.ok(err)
		known = again
		w.commit(c)
		w.want("part/big/", want)
		w.same("big", &c.After)
		w.clean()
		if got := len(c.After.Parts); got != want {
			t.Errorf("the committer knows of %d parts", got)
		}
	}
	step(0, false, false)
	step(0, false, true)
	step(1, true, true)
	step(1, true, false)
	step(1, false, false)
}

// An instance grows beyond what one transaction takes, a piece at a time, and goes on while a node of before lives.
func TestAnInstanceInPartsIsLargerThanATransaction(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	known := true
	w.Conn.PartsKnown = func(int) bool { return known }
	f := w.lock("big", "a")
	w.commit(w.first("big", f))
	vars := map[string]any{}
	for i := range 5 {
		vars[fmt.Sprint("v", i)] = noise(800_000 + i)
		c := w.next("big", f)
		c.After.State = stateWith(t, vars)
		w.commit(c)
		w.same("big", &c.After)
		known = i < 3
	}
	c := ends(w.next("big", f))
	w.commit(c)
	w.same("big", &c.After)
	w.clean()
}

// A part that is gone is damage and no empty input; one that nobody has is found, and set aside.
func TestMissingAndUnusedPartsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.lock("big", "a")
	c := w.first("big", f)
	c.After.Header.Input = map[string]any{"blob": noise(50_000)}
	w.commit(c)
	id := c.After.Parts[0].ID
	stray := w.Keys.Part("other", id)
	_, err := w.raw.Put(w.ctx(), stray, "x")
	w.ok(err)
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	wants(t, check, "part-unused")
	w.del(stray)
	w.del(w.Keys.Part("big", id))
	if _, err := w.Reader.Instance(w.ctx(), "big"); err == nil || !strings.Contains(err.Error(), "part "+id) {
		t.Errorf("read with %v", err)
	}
	if _, err := w.Reader.Header(w.ctx(), "big"); !errors.Is(err, db.ErrDamaged) || !strings.Contains(err.Error(), "part "+id) {
		t.Errorf("its header is read with %v", err)
	}
	for _, mailed := range []bool{false, true} {
		if mailed {
			w.mails("big", "x")
		}
		if st, err := w.Situation(w.ctx(), "big"); err != nil || !errors.Is(st.Damage, db.ErrDamaged) {
			t.Errorf("it is explained with %v, %v", st, err)
		}
	}
	check, err = w.Fsck(w.ctx())
	w.ok(err)
	wants(t, check, "damaged")
	page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Limit: 10})
	w.ok(err)
	if len(page.Items) != 1 || page.Items[0].Damaged != "" {
		t.Errorf("the list, which needs no part, has %+v", page.Items)
	}
	page, err = w.Reader.Instances(w.ctx(), lists.InstanceQuery{Limit: 10, Whole: true})
	w.ok(err)
	if len(page.Items) != 1 || !strings.Contains(page.Items[0].Damaged, "part "+id) {
		t.Errorf("the list of whole instances has %+v", page.Items)
	}
}

// A list of whole instances has what lies in parts, as far as a page has room for it, at the revision of the page.
func TestAListOfWholeInstancesHasTheirParts(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	const n = 30
	for i := range n {
		c := w.first(fmt.Sprintf("i%02d", i), nil)
		c.Form = store.InParts
		c.After.Header.Input, c.After.Header.Output = map[string]any{"text": noise(600_000), "n": int64(i)}, map[string]any{"o": noise(20_000)}
		w.commit(c)
	}
	got, pages := 0, 0
	for cursor := ""; ; {
		page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Limit: 100, Cursor: cursor, Whole: true})
		w.ok(err)
		pages++
		for _, in := range page.Items {
			one, err := w.Reader.Instance(w.ctx(), in.ID)
			w.ok(err)
			if !reflect.DeepEqual(in.Input, one.Header.Input) || !reflect.DeepEqual(in.Output, one.Header.Output) || len(in.Input) != 2 {
				t.Errorf("%s is listed with other values than it has", in.ID)
			}
			got++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if got != n || pages < 2 {
		t.Errorf("%d instances in %d pages", got, pages)
	}
	// A parent is told what its child gave, also what lies in a part.
	b := w.bookmark("p", "w", "x")
	b.Payload = map[string]any{"childInstanceId": "i00"}
	c := w.next("i00", nil)
	c.Before, _ = w.Reader.Instance(w.ctx(), "i00")
	c.After.Header.Status, c.After.Header.SubStatus, c.After.Header.FinishedAt = workflow.StatusFinished, workflow.Finished, &w.now
	c.After.Header.Input, c.After.Header.Output, c.Form = c.Before.Header.Input, c.Before.Header.Output, store.InParts
	w.commit(c)
	ends, why, err := w.Instances.MissedEnds(w.ctx(), "p", []workflow.Bookmark{b}, false, w.now)
	w.ok(err)
	if why != "" || len(ends) != 1 {
		t.Fatalf("%q, %d ends", why, len(ends))
	}
	if out, _ := ends[0].Input["WorkflowOutput"].(map[string]any); len(out) != 1 {
		t.Errorf("it is told %v", ends[0].Input["WorkflowSubStatus"])
	}
}

// wants that a check finds a thing, and repairs it.
func wants(t *testing.T, check *fsck.Check, rule string) {
	t.Helper()
	if !slices.ContainsFunc(check.Findings, func(f fsck.Finding) bool { return f.Rule == rule && f.Repair != "" }) {
		t.Errorf("no %s that is repaired in %+v", rule, check.Findings)
	}
}

// What is cut out and put in again is what there was, for every value and in every place, and what is left is JSON
// from which the header can be read.
func TestCuttingAndJoiningGivesBackEveryRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) any
		value = func(depth int) any {
			switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case kind == 0:
				return noise(rapid.IntRange(0, 40_000).Draw(t, "long"))
			case kind <= 2 || depth == 0:
				return rapid.String().Draw(t, "short")
			case kind == 3:
				return rapid.Int64().Draw(t, "number")
			case kind == 4:
				out := []any{}
				for range rapid.IntRange(0, 6).Draw(t, "items") {
					out = append(out, value(depth-1))
				}
				return out
			}
			out := map[string]any{}
			for range rapid.IntRange(0, 6).Draw(t, "members") {
				out[rapid.StringN(0, 10, -1).Draw(t, "name")] = value(depth - 1)
			}
			return out
		}
		r := store.Record{Seq: rapid.Int64().Draw(t, "seq"), Header: workflow.Instance{ID: "x", Name: "n", Input: map[string]any{"i": value(4)}, Output: map[string]any{"o": value(4)}}}
		state, err := workflow.Marshal(value(5))
		if err != nil {
			t.Fatal(err)
		}
		r.State = state
		places := func(name string) (list []workflow.Bookmark) {
			for i := range rapid.IntRange(0, 30).Draw(t, name) {
				list = append(list, workflow.Bookmark{ID: fmt.Sprint("x~", i), Name: rapid.String().Draw(t, "place"), Payload: value(1)})
			}
			return list
		}
		r.Header.Bookmarks, r.Unwritten = places("places"), &store.Unwritten{Gone: places("gone")}
		raw, err := workflow.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		wide := rapid.SampledFrom([]*cut.Lists{nil, {Part: 1, Listed: 3}, {Part: 1 << 10, Listed: 10}}).Draw(t, "wide")
		c := cut.Record(raw, wide)
		texts := map[string][]byte{}
		for i, p := range c.Parts {
			texts[p.ID] = c.Texts[i]
		}
		if len(c.Parts) > cut.MostParts && wide == nil {
			t.Fatalf("%d parts", len(c.Parts))
		}
		left := store.Record{Parts: c.Parts}
		whole, lacks, err := lookup.Splice(c.Left, &left, texts)
		if err != nil || lacks != "" || !bytes.Equal(whole, raw) {
			t.Fatalf("%v %q: %d bytes of %d", err, lacks, len(whole), len(raw))
		}
		var header store.Record
		if err := workflow.Unmarshal(c.Left, &header); err != nil || header.Header.ID != "x" || header.Seq != r.Seq {
			t.Fatalf("%v: %+v", err, header.Header)
		}
		had, has := r.Header.Bookmarks, record.WithoutGaps(header.Header.Bookmarks)
		if n := len(had); wide == nil && len(has) != n || wide != nil && len(has) < min(n, wide.Listed) {
			t.Fatalf("%d places of %d are left in the record", len(has), n)
		}
		for i := range has {
			if i < 3 && has[i].ID != had[i].ID {
				t.Fatalf("place %d is %s", i, has[i].ID)
			}
		}
	})
}
