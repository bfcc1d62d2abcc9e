package etcdstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestLargeCommitsFitIntoOneTransaction(t *testing.T) {
	t.Parallel()
	f := func(name string, build func(w *world, c *store.Commit), check func(w *world)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instance("a", "paid")
			c := w.next("a", w.lock("a", "me"))
			c.Release = true
			build(w, c)
			w.commit(c)
			check(w)
		})
	}
	bookmarks := func(n int) func(w *world, c *store.Commit) {
		return func(w *world, c *store.Commit) {
			for i := range n {
				b := w.bookmark("a", fmt.Sprint("new", i), fmt.Sprint("e", i))
				b.DueAt = &w.now
				c.Created = append(c.Created, b)
			}
			c.After.Header.Bookmarks = append(c.After.Header.Bookmarks, c.Created...)
		}
	}
	children := func(n int, gated bool) func(w *world, c *store.Commit) {
		return func(w *world, c *store.Commit) {
			for i := range n {
				cmd := w.start(fmt.Sprint("s", i))
				cmd.Start.CorrelationID = "k"
				cmd.Start.Parent = &workflow.Parent{InstanceID: "a", BookmarkID: workflow.BookmarkID("a", fmt.Sprint("kid", i))}
				ch := store.Child{ID: fmt.Sprint("kid", i), Command: cmd}
				if gated {
					ch.Gate = &store.Gate{Definition: fmt.Sprint("d", i)}
				}
				c.Children = append(c.Children, ch)
			}
		}
	}
	mail := func(n int) func(w *world, c *store.Commit) {
		return func(w *world, c *store.Commit) {
			b := w.look(event("paid")).Bookmarks[0]
			for i := range n {
				cmd := w.resume(fmt.Sprint("c", i), &b, nil)
				_, created, err := w.PutMail(w.ctx(), "a", cmd, &b)
				w.ok(err)
				c.Consumed = append(c.Consumed, store.Consumed{Command: cmd, Created: created, Effect: store.Effect{Outcome: workflow.OutcomeResumed}})
			}
		}
	}
	hands := func(n int) func(w *world, c *store.Commit) { return func(_ *world, c *store.Commit) { inHand(c, n) } }
	f("200 bookmarks with timers", bookmarks(200), func(w *world) { w.want("bookmark/", 201); w.want("timer/", 200) })
	f("150 children", children(150, false), func(w *world) { w.want("instance/", 151); w.want("mailbox/", 150) })
	f("150 gated children", children(150, true), func(w *world) { w.want("instance/", 151); w.want("gate/", 150) })
	f("60 commands from the mailbox", mail(60), func(w *world) { w.want("mailbox/", 0); w.want("idem/c/", 60); w.want("lock/", 1) })
	f("100 keyed commands in hand", hands(100), func(w *world) { w.want("idem/k/", 100); w.want("lock/", 0) })
	f("all of it", func(w *world, c *store.Commit) {
		mail(50)(w, c)
		hands(90)(w, c)
		bookmarks(200)(w, c)
		children(150, true)(w, c)
	}, func(w *world) { w.want("instance/", 151); w.want("mailbox/", 150); w.want("bookmark/", 201) })
}

func TestWhatIsTooLargeIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	noise := func(n int) []byte {
		raw := make([]byte, n)
		x := uint64(1)
		for i := range raw {
			x = x*6364136223846793005 + 1
			raw[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[x>>58]
		}
		return raw
	}
	for name, grow := range map[string]func(c *store.Commit){
		"state":    func(c *store.Commit) { c.After.State = append(append([]byte{'"'}, noise(3<<20)...), '"') },
		"compares": func(c *store.Commit) { inHand(c, 140) },
		"nested compares": func(c *store.Commit) {
			for i := range 2000 {
				id := fmt.Sprintf("%0200d%d", 0, i)
				c.Outgoing = append(c.Outgoing, store.Outgoing{InstanceID: id, Command: workflow.Command{ID: id}})
			}
		},
		"operations": func(c *store.Commit) {
			for i := range db.MaxOps + 1 {
				c.Dead = append(c.Dead, store.DeadLetter{ID: fmt.Sprint(i)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instance("a")
			c := w.next("a", w.lock("a", "me"))
			grow(c)
			calls := w.faults.Calls("txn")
			if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrTooLarge) {
				t.Errorf("error %v, want too large", err)
			}
			if w.faults.Calls("txn") != calls {
				t.Error("it was sent")
			}
		})
	}
	// Just below the limit etcd takes it.
	w := newWorld(t)
	w.instance("a")
	c := w.next("a", w.lock("a", "me"))
	for i := range 9 {
		c.Dead = append(c.Dead, store.DeadLetter{ID: fmt.Sprint(i), Detail: string(noise(154 << 10))})
	}
	w.commit(c)
}

// inHand adds keyed commands in hand, each with a compare of its own.
func inHand(c *store.Commit, n int) {
	for i := range n {
		cmd := workflow.Command{ID: fmt.Sprint("h", i), Kind: workflow.CommandResume, Key: &workflow.CommandKey{Name: fmt.Sprint("k", i)}}
		c.Consumed = append(c.Consumed, store.Consumed{Command: cmd, Answer: &store.Answer{BodyHash: "h"}})
	}
}

// TestIndexEntriesFollowTheInstance: whatever a commit changes, the entries are
// those of the instance as it is.
func TestIndexEntriesFollowTheInstance(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *store.Commit){
		"nothing":             func(*store.Commit) {},
		"the end":             func(c *store.Commit) { ends(c) },
		"another sub-status":  func(c *store.Commit) { c.After.Header.SubStatus = workflow.Executing },
		"a correlation":       func(c *store.Commit) { c.After.Header.CorrelationID = "other" },
		"labels":              func(c *store.Commit) { c.After.Header.Labels = map[string]string{"a": "x", "b": "y/z ~"} },
		"no correlation":      func(c *store.Commit) { c.After.Header.CorrelationID = "" },
		"an imported date":    func(c *store.Commit) { c.After.Header.CreatedAt = c.At.AddDate(-1, 0, 0) },
		"another definition":  func(c *store.Commit) { c.After.Header.DefinitionID = "invoice" },
		"end and correlation": func(c *store.Commit) { ends(c).After.Header.CorrelationID = "other" },
		"end and labels":      func(c *store.Commit) { ends(c).After.Header.Labels = map[string]string{"kept": "other"} },
		"a parent":            func(c *store.Commit) { c.After.Header.Parent = &workflow.Parent{InstanceID: "p"} },
		"another version":     func(c *store.Commit) { c.After.Header.Version = 7 },
		"delete":              func(c *store.Commit) { c.Delete, c.Burned = true, c.Before.Header.Bookmarks },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instanceIn("a", "k", "paid")
			labelled := w.next("a", nil)
			labelled.After.Header.Labels = map[string]string{"kept": "k", "lost": "l"}
			w.commit(labelled)
			c := w.next("a", w.lock("a", "me"))
			change(c)
			w.commit(c)
			var want []string
			if !c.Delete {
				want = w.IndexEntries(&c.After.Header)
			}
			for _, key := range want {
				w.want(strings.TrimPrefix(key, w.Keys.Root), 1)
			}
			listed := w.has("index/") + w.has("by-correlation/") + w.has("by-parent/") + w.has("label/") + w.has("finished/")
			if listed != len(want) {
				t.Errorf("%d index entries, want %d", listed, len(want))
			}
		})
	}
}

func TestBookmarksFollowTheCorrelation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bs := []workflow.Bookmark{w.bookmark("a", "kept", "paid"), w.bookmark("a", "burned", "shipped")}
	for i := range bs {
		bs[i].DueAt = &w.now
	}
	first := w.first("a", nil, bs...)
	first.After.Header.CorrelationID = "k"
	w.commit(first)
	timers := func() (out []string) {
		for k := range w.dump() {
			if strings.HasPrefix(k, "timer/") && strings.Contains(k, "kept") {
				out = append(out, k)
			}
		}
		return out
	}
	before := timers()
	c := w.next("a", nil)
	c.After.Header.CorrelationID = "other"
	c.Burned, c.After.Header.Bookmarks = bs[1:], bs[:1]
	w.commit(c)
	w.want("bookmark/", 1)
	w.want("timer/", 1)
	if after := timers(); len(after) != 1 || after[0] != before[0] {
		t.Errorf("timer %v became %v", before, after)
	}
	for st, want := range map[string]int{"k": 0, "other": 1} {
		if n := len(w.look(correlated("paid", st)).Bookmarks); n != want {
			t.Errorf("under %s there are %d bookmarks, want %d", st, n, want)
		}
	}
	if b := w.look(correlated("paid", "other")).Bookmarks[0]; b.ID != bs[0].ID || b.CorrelationID != "other" {
		t.Errorf("found %+v", b)
	}
}

func TestADeleteLeavesNothingButItsRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Create(w.ctx(), w.newInstance("a", "s1", &store.Gate{Definition: "order"}), nil)
	w.ok(err)
	c := w.consumes(w.next("a", nil))
	b := w.bookmark("a", "b", "paid")
	b.DueAt = &w.now
	c.Created, c.After.Header.Bookmarks, c.After.Header.CorrelationID = []workflow.Bookmark{b}, []workflow.Bookmark{b}, "k"
	w.commit(c)
	w.commit(w.next("a", nil))
	_, _, err = w.PutMail(w.ctx(), "a", workflow.Command{ID: "del", Kind: workflow.CommandDelete, CreatedAt: w.now}, nil)
	w.ok(err)
	w.want("cancel/", 1)
	w.want("journal/a/", 2)
	d := w.consumes(w.next("a", nil))
	d.Delete, d.Burned = true, d.Before.Header.Bookmarks
	w.commit(d)
	for k := range w.dump() {
		if !strings.HasPrefix(k, "idem") {
			t.Errorf("%s is left", k)
		}
	}
}

func TestAnInstanceStartedAndDeletedInOneBurstIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.keyed(w.first("a", w.lock("a", "me"), w.bookmark("a", "b", "paid")), false)
	c.Created, c.Delete, c.Release = nil, true, true
	if done := w.commit(c); !done.Released {
		t.Errorf("%+v", done)
	}
	w.want("instance/", 0)
	w.want("index/", 0)
	w.want("idem/k/", 1)
}
