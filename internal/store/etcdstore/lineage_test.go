package etcdstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// born makes an instance that another started.
func (w *world) born(id, parent string, at time.Duration) {
	w.tb.Helper()
	c := w.first(id, nil)
	h := &c.After.Header
	if h.CreatedAt = w.now.Add(at); parent != "" {
		h.Parent = &workflow.Parent{InstanceID: parent, BookmarkID: parent + "~1"}
	}
	w.commit(c)
}

// family tells a lineage in one line: id:depth.
func (w *world) family(id string, depth, most int) (string, bool) {
	w.tb.Helper()
	l, err := w.Reader.Lineage(w.ctx(), id, depth, most)
	w.ok(err)
	if l == nil {
		return "none", false
	}
	var said []string
	for _, r := range l.Of {
		text := fmt.Sprintf("%s:%d", r.Instance.ID, r.Depth)
		if r.Gone {
			text += " gone"
		}
		if r.Instance.Damaged != "" {
			text += " damaged"
		}
		if r.Children > 0 {
			text += fmt.Sprintf("(%d)", r.Children)
		}
		said = append(said, text)
	}
	if l.Revision == 0 {
		w.tb.Error("it names no revision")
	}
	return strings.Join(said, " "), l.Whole
}

func TestLineage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.born("a", "", 0)
	w.born("b", "a", 1*time.Second)
	w.born("c", "b", 2*time.Second)
	w.born("d1", "c", 3*time.Second)
	w.born("d2", "c", 4*time.Second)
	w.born("e", "d1", 5*time.Second)
	w.born("other", "a", 6*time.Second)
	for _, tc := range []struct {
		id          string
		depth, most int
		want        string
		whole       bool
	}{
		{"none", 3, 100, "none", false},
		{"c", 3, 100, "a:-2 b:-1 c:0(2) d2:1 d1:1(1) e:2", true},
		{"a", 10, 100, "a:0(2) other:1 b:1(1) c:2(2) d2:3 d1:3(1) e:4", true},
		{"a", 2, 100, "a:0(2) other:1 b:1(1) c:2(2)", false},
		{"a", 10, 3, "a:0(2) other:1 b:1(1) c:2(2)", false},
		{"e", 3, 100, "a:-4 b:-3 c:-2 d1:-1 e:0", true},
	} {
		if got, whole := w.family(tc.id, tc.depth, tc.most); got != tc.want || whole != tc.whole {
			t.Errorf("%s to %d, %d: %s %v, want %s %v", tc.id, tc.depth, tc.most, got, whole, tc.want, tc.whole)
		}
	}
	_, err := w.raw.Put(w.ctx(), w.Keys.Instance("d1"), "junk")
	w.ok(err)
	_, err = w.raw.Delete(w.ctx(), w.Keys.Instance("b"))
	w.ok(err)
	if got, _ := w.family("c", 3, 100); got != "b:-1 gone c:0(2) d2:1 d1:1 damaged(1) e:2" {
		t.Error(got)
	}
	if got, _ := w.family("d1", 3, 100); got != "d1:0 damaged(1) e:1" {
		t.Error(got)
	}
	// An import may make a ring: it is told once around.
	w.born("r1", "r2", 0)
	w.born("r2", "r1", 0)
	if got, whole := w.family("r1", 2, 100); got != "r1:-2 r2:-1 r1:0(1) r2:1(1) r1:2(1)" || whole {
		t.Error(got, whole)
	}
}

// However many children there are, so many are read, and the others counted.
func TestLineageOfMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 1200
	for first := 0; first < n; first += 100 {
		o := db.NewOps()
		for i := first; i < first+100; i++ {
			h := w.header(fmt.Sprintf("i%04d", i))
			h.CreatedAt = w.now.Add(time.Duration(i) * time.Second)
			if i > 0 {
				h.Parent = &workflow.Parent{InstanceID: "i0000"}
			}
			o.Put(w.Keys.Instance(h.ID), map[string]any{"header": h})
			w.Conn.WriteIndex(o, nil, &store.Record{Header: h})
		}
		then, err := o.Render()
		w.ok(err)
		_, err = w.Txn(w.ctx(), "make instances", nil, then, nil)
		w.ok(err)
	}
	calls, keys := w.faults.Calls("txn"), w.faults.Keys()
	l, err := w.Reader.Lineage(w.ctx(), "i0000", 3, 500)
	w.ok(err)
	if len(l.Of) != 501 || l.Whole || l.Of[0].Children != n-1 || l.Of[1].Instance.ID != "i1199" {
		t.Errorf("%d, whole %v, %d children, %s first", len(l.Of), l.Whole, l.Of[0].Children, l.Of[1].Instance.ID)
	}
	if calls, keys = w.faults.Calls("txn")-calls, w.faults.Keys()-keys; calls > 30 || keys > 1100 {
		t.Errorf("%d requests, %d keys", calls, keys)
	}
}
