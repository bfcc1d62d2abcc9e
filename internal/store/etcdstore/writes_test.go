package etcdstore

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// writesOf are the keys, below the root, that a commit puts and deletes whatever it finds,
// by their first parts.
func (w *world) writesOf(c *store.Commit) (puts, deletes []string) {
	w.tb.Helper()
	p, err := w.Prepare(c)
	w.ok(err)
	var look func(ops []clientv3.Op)
	look = func(ops []clientv3.Op) {
		for _, op := range ops {
			name, _, _ := strings.Cut(strings.TrimPrefix(string(op.KeyBytes()), w.Keys.Root), "/")
			switch {
			case op.IsTxn():
				cmps, then, _ := op.Txn()
				if len(cmps) == 0 {
					look(then)
				}
			case op.IsPut():
				puts = append(puts, name)
			case op.IsDelete():
				deletes = append(deletes, name)
			}
		}
	}
	look(p.Then)
	return puts, deletes
}

// A key more in every commit is a tenth of a put more: which there are is decided here.
func TestWhatACommitWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, _ := w.standing()
	is := func(what string, c *store.Commit, puts, deletes string) {
		t.Helper()
		p, d := w.writesOf(c)
		if got := strings.Join(p, " "); got != puts {
			t.Errorf("%s puts %s, want %s", what, got, puts)
		}
		if got := strings.Join(d, " "); got != deletes {
			t.Errorf("%s deletes %s, want %s", what, got, deletes)
		}
	}
	atOnce := w.unlocked("once", u)
	atOnce.After.Header.Status, atOnce.After.Header.SubStatus = workflow.StatusFinished, workflow.Finished
	is("a start that ends", atOnce, "journal instance index finished", "")
	waits := w.unlocked("waits", u, "go")
	is("a start that waits", waits, "journal instance index bookmark", "")
	w.commit(waits)
	on := w.next("waits", w.lock("waits", "me"))
	on.Burned = on.Before.Header.Bookmarks
	on.Created = []workflow.Bookmark{w.bookmark("waits", "again", "go")}
	on.After.Header.Bookmarks, on.Release = on.Created, true
	is("a resume that waits again", on, "journal instance bookmark", "bookmark")
	w.commit(on)
	end := ends(w.next("waits", w.lock("waits", "me")))
	end.Release = true
	is("a resume that ends", end, "journal instance index finished", "index bookmark")
	labelled := w.next("waits", nil)
	labelled.After.Header.Labels = map[string]string{"team": "sales"}
	is("a label", labelled, "journal instance label", "")
}
