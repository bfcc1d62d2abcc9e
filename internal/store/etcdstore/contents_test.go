package etcdstore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// kept keeps a file beside an instance.
func (w *world) kept(id, text string) files.Content {
	w.tb.Helper()
	c, err := w.Contents.Put(w.ctx(), id, false, []byte(text))
	w.ok(err)
	return c
}

// withFile makes an instance beside which a file lies.
func (w *world) withFile(id, text string) {
	w.tb.Helper()
	c := w.first(id, nil, w.bookmark(id, "b", "paid"))
	c.Contents = []files.Content{w.kept(id, text)}
	w.commit(c)
}

// A file is read as it was, whatever its size and what is in it, in pieces that no request is too small for.
func TestAFileIsReadAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := rand.NewChaCha8([32]byte{7})
	for _, size := range []int{0, 1, contents.PieceBytes - 1, contents.PieceBytes, contents.PieceBytes + 1, 3 * contents.PieceBytes} {
		noise := make([]byte, size)
		_, _ = r.Read(noise)
		for name, data := range map[string][]byte{"noise": noise, "zeros": make([]byte, size), "what looks packed": append([]byte{1, 0x28, 0xb5, 0x2f, 0xfd}, noise...)} {
			id := strings.ReplaceAll(fmt.Sprintf("%s-%d", name, size), " ", "-")
			first, err := w.Contents.Put(w.ctx(), id, false, data)
			w.ok(err)
			again, err := w.Contents.Put(w.ctx(), id, false, data) // the same again is the same
			w.ok(err)
			if first != again || first.Created == 0 {
				t.Errorf("%s: kept as %v and as %v", id, first, again)
			}
			got, err := w.Contents.Get(w.ctx(), id, first.Hash, int64(len(data)))
			if w.ok(err); !bytes.Equal(got, data) {
				t.Errorf("%s: %d bytes are read otherwise", id, len(data))
			}
			w.ok(w.Contents.Stands(w.ctx(), id, first.Hash, int64(len(data))))
			w.want("content/"+id+"/", max(1, (len(data)+contents.PieceBytes-1)/contents.PieceBytes))
			for _, wrong := range []int64{int64(len(data)) + 2*contents.PieceBytes, -1, files.MaxSize + 1} {
				if err := w.Contents.Stands(w.ctx(), id, first.Hash, wrong); workflow.CodeOf(err) != workflow.CodeContentNotFound {
					t.Errorf("%s of %d bytes stands: %v", id, wrong, err)
				}
				if _, err := w.Contents.Get(w.ctx(), id, first.Hash, wrong); err == nil {
					t.Errorf("%s is read as %d bytes", id, wrong)
				}
			}
		}
	}
	if _, err := w.Contents.Get(w.ctx(), "noise-1", contents.Hash([]byte("other")), 5); workflow.CodeOf(err) != workflow.CodeContentNotFound {
		t.Errorf("what was never kept: %v", err)
	}
}

// What is in etcd is not believed: neither a piece of another size, nor another form, nor another file.
func TestAFileThatIsNotAsItWasIsDamaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hash := contents.Hash([]byte("what it was"))
	bomb := db.Encoder.EncodeAll(make([]byte, 4*contents.PieceBytes), []byte{1})
	for name, value := range map[string]string{"nothing": "", "another form": "\x07what it was", "another file": "\x00what it is!", "junk": "\x01junk", "much": string(bomb)} {
		id := strings.ReplaceAll(name, " ", "-")
		w.spoil(contents.Keys(w.Conn.Conn).Piece(id, hash, 0), []byte(value))
		if _, err := w.Contents.Get(w.ctx(), id, hash, 11); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if piece, err := w.Contents.Piece(w.ctx(), "much", hash, 0); !errors.Is(err, ErrDamaged) { // before it is unpacked
		t.Errorf("a piece of %d bytes, %v", len(piece), err)
	}
}

// An instance has a bounded number of pieces, and a file a bounded size; what is refused leaves nothing.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.Contents.Put(w.ctx(), "i", false, make([]byte, files.MaxSize+1)); workflow.CodeOf(err) != workflow.CodeTooLarge {
		t.Errorf("too large a file: %v", err)
	}
	for n := range contents.MostPieces - 1 {
		w.kept("i", fmt.Sprint(n))
	}
	if _, err := w.Contents.Put(w.ctx(), "i", false, make([]byte, contents.PieceBytes+1)); workflow.CodeOf(err) != workflow.CodeTooLarge {
		t.Errorf("two pieces where one has room: %v", err)
	}
	w.kept("i", "the last")
	w.kept("i", "0") // which is there
	if _, err := w.Contents.Put(w.ctx(), "i", false, nil); workflow.CodeOf(err) != workflow.CodeTooLarge {
		t.Errorf("one more: %v", err)
	}
	w.kept("i2", "another's")
	w.want("content/i/", contents.MostPieces)
	if _, err := w.Contents.Put(w.ctx(), "gone", true, []byte("x")); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
		t.Errorf("for an instance that is not there: %v", err)
	}
	w.want("content/gone/", 0)
}

// Files go with their instance, however that goes; those of others stay.
func TestFilesGoWithTheirInstance(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(w *world){
		"deleted": func(w *world) { w.remove("a") },
		"removed": func(w *world) { w.ok(errOf(w.Remove(w.ctx(), w.lock("a", "me"), "a", w.now))) },
		"removed, as it is damaged": func(w *world) {
			w.spoil(w.Keys.Instance("a"), []byte("junk"))
			w.ok(errOf(w.Remove(w.ctx(), w.lock("a", "me"), "a", w.now)))
		},
		"purged": func(w *world) {
			c := ends(w.next("a", nil))
			c.After.Header.FinishedAt = &w.now
			w.commit(c)
			purged, err := w.Purge(w.ctx(), Late("a"), nil, nil)
			w.ok(err)
			if !slices.Equal(purged, []string{"a"}) {
				w.tb.Errorf("purged %v", purged)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.withFile("a", "hers")
			w.withFile("ab", "his")
			w.commit(w.next("a", nil)) // which says nothing of files
			remove(w)
			w.want("content/a/", 0)
			w.want("content/ab/", 1)
		})
	}
}

// Of instances with files few are purged in one transaction: etcd stalls when it deletes much at once.
func TestManyInstancesWithFilesArePurged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 5 {
		id := fmt.Sprintf("i%d", i)
		w.withFile(id, "x")
		c := ends(w.next(id, nil))
		c.After.Header.FinishedAt = &w.now
		w.commit(c)
		ids = append(ids, id)
	}
	before := w.faults.Calls("txn")
	purged, err := w.Purge(w.ctx(), Late(ids...), nil, nil)
	w.ok(err)
	if !slices.Equal(purged, ids) {
		t.Errorf("purged %v", purged)
	}
	if n := w.faults.Calls("txn") - before; n < len(ids) {
		t.Errorf("in %d transactions", n)
	}
	w.want("content/", 0)
}

// The commit that makes an instance compares the files that it refers to: a sweep may have taken them.
func TestAStartWithoutItsFilesIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	swept := func(id string) files.Content {
		c := w.kept(id, "x")
		if gone, _, err := w.Contents.Sweep(w.ctx(), w.revision(), ""); gone < 1 || err != nil {
			t.Fatalf("swept %d, %v", gone, err)
		}
		return c
	}
	c := w.first("a", w.lock("a", "me"))
	start := w.start("s")
	start.Contents = []files.Content{swept("a")}
	c.Consumed = []store.Consumed{{Command: start, Effect: store.Effect{Outcome: workflow.OutcomeStarted}}}
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrConflict) {
		t.Errorf("with a lock: %v", err)
	}
	w.kept("a", "x") // another one of the same name: a late copy is refused all the same
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrConflict) {
		t.Errorf("late: %v", err)
	}
	u, _ := w.standing()
	c = w.first("b", nil)
	c.Unlocked, c.Contents = u, []files.Content{swept("b")}
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrConflict) {
		t.Errorf("without a lock: %v", err)
	}
	n := w.newInstance("c", "s2", nil)
	n.Command.Contents = []files.Content{swept("c")}
	if out, err := w.Create(w.ctx(), n, nil); out != CreateMoved || err != nil {
		t.Errorf("to be created: %v, %v", out, err)
	}
	w.want("instance/", 0)
	n = w.newInstance("c", "s3", nil)
	n.Command.Contents = []files.Content{w.kept("c", "x")}
	if out, err := w.Create(w.ctx(), n, nil); out != Created || err != nil {
		t.Errorf("created: %v, %v", out, err)
	}
	if !w.record("c").Contents {
		t.Error("the record does not say that there are files")
	}
}

// Swept is what has no instance and no mail, and to which nothing came lately.
func TestTheSweepLeavesWhatMayBeNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withFile("there", "x")
	for _, id := range []string{"old", "mailed", "old2", "grows"} {
		for n := range 60 { // more than a page
			w.kept(id, fmt.Sprint(n))
		}
	}
	w.spoil(w.Keys.Mail("mailed", "c"), []byte("{}"))
	before := w.revision()
	w.kept("grows", "more")
	w.kept("new", "x")
	var gone []int
	for cursor, more := "", true; more; more = cursor != "" {
		n, next, err := w.Contents.Sweep(w.ctx(), before, cursor)
		w.ok(err)
		gone, cursor = append(gone, n), next
	}
	if n := gone[0]; len(gone) < 2 || n > 2 {
		t.Errorf("swept %v", gone)
	}
	for id, want := range map[string]int{"there": 1, "old": 0, "old2": 0, "mailed": 60, "grows": 61, "new": 1} {
		w.want("content/"+id+"/", want)
	}
}

// A node that ended while it put a file leaves pieces that another one completes; each rule of fsck says what is not whole.
func TestFsckKnowsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := contents.Keys(w.Conn.Conn)
	w.withFile("a", strings.Repeat("x", 3*contents.PieceBytes))
	w.sound()
	hash := contents.Hash([]byte("y"))
	put := func(id string, n int) { w.spoil(k.Piece(id, hash, n), []byte("\x00y")) }
	for rule, spoil := range map[string]func(){
		"content-without-instance": func() { put("nobody", 0) },
		"content-begun":            func() { put("a", 2) },
		"content-unknown":          func() { w.spoil(k.ContentsOf("a")+"what", nil) },
		"content-gap":              func() { put("a", 0); put("a", 2) },
	} {
		spoil()
		check, err := w.Fsck(w.ctx())
		w.ok(err)
		if len(check.Findings) != 1 || check.Findings[0].Rule != rule || check.Findings[0].Passing == (rule == "content-gap") {
			t.Errorf("%s: found %+v", rule, check.Findings)
		}
		for _, key := range []string{k.Content("nobody", hash) + "00", k.Content("a", hash) + "00", k.Content("a", hash) + "02", k.ContentsOf("a") + "what"} {
			w.del(key)
		}
	}
}

// Files count as what fills etcd, for their definitions.
func TestFilesAreAmongWhatFillsEtcd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withFile("a", noise(100_000))
	filling, err := w.Filling(w.ctx(), FillingBounds{Time: time.Minute})
	w.ok(err)
	if !strings.Contains(fmt.Sprintf("%+v", filling), "files") {
		t.Errorf("got %+v", filling)
	}
}

// What lies beside an instance is listed and read without knowing its size; what was begun and not finished is not there.
func TestFilesAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	noise := make([]byte, 2*contents.PieceBytes+1)
	_, _ = rand.NewChaCha8([32]byte{9}).Read(noise)
	want := map[string][]byte{}
	for _, data := range [][]byte{nil, []byte("a"), noise, make([]byte, contents.PieceBytes)} {
		want[w.kept("i", string(data)).Hash] = data
	}
	w.kept("i2", "another's")
	w.spoil(contents.Keys(w.Conn.Conn).Piece("i", contents.Hash([]byte("begun")), 1), []byte("\x00un"))
	list, err := w.Contents.List(w.ctx(), "i")
	if w.ok(err); len(list) != len(want) {
		t.Errorf("%d files are listed: %+v", len(list), list)
	}
	for _, h := range list {
		data, err := w.Contents.Whole(w.ctx(), "i", h)
		if w.ok(err); !bytes.Equal(data, want[h.Hash]) || h.Created == 0 {
			t.Errorf("%+v is read otherwise", h)
		}
	}
	first := list[0]
	w.spoil(contents.Keys(w.Conn.Conn).Piece("i", first.Hash, 0), []byte("\x00what it was not"))
	if _, err := w.Contents.Whole(w.ctx(), "i", first); !errors.Is(err, ErrDamaged) {
		t.Errorf("another file: %v", err)
	}
	if list, err := w.Contents.List(w.ctx(), "none"); err != nil || len(list) != 0 {
		t.Errorf("of nobody: %v, %v", list, err)
	}
}
