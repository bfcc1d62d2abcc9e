package archive_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/postgrestest"
	"github.com/weft-run/weft/pkg/activities/sql/postgres"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/workflow"
)

// What is written to a file that was removed is nowhere: nothing is taken, and etcd keeps it.
func TestAFileThatIsAnotherOneTakesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "archive.db")
	a := open(t, "sqlite:"+file, "c")
	put(t, a, item("before", time.Hour, nil))
	if err := os.Rename(file, filepath.Join(dir, "aside.db")); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"gone", "replaced"} {
		if err := a.Put(t.Context(), []archive.Item{item("after", time.Hour, nil)}); !errors.Is(err, archive.ErrRefused) || !strings.Contains(err.Error(), "removed or replaced") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := a.Get(t.Context(), "nobody"); workflow.CodeOf(err) != workflow.CodeUnavailable {
			t.Errorf("%s: %v", what, err)
		}
		put(t, open(t, "sqlite:"+file, "c"), item("other", time.Hour, nil)) // another node makes a file
	}
	if err := os.Rename(filepath.Join(dir, "aside.db"), file); err != nil {
		t.Fatal(err)
	}
	put(t, a, item("after", time.Minute, nil))
	if got := ids(t, a, archive.Query{}); got != "after before" {
		t.Error(got)
	}
}

// between is a network to a database that may take in what is sent, and pass on nothing.
type between struct {
	addr   string
	stuck  atomic.Bool
	opened atomic.Int64 // connections
}

func newBetween(t *testing.T, to string) *between {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &between{addr: l.Addr().String()}
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			b.opened.Add(1)
			out, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, in, out)
			mu.Unlock()
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				all.Go(func() { b.pass(way[0], way[1]) })
			}
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return b
}

func (b *between) pass(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			_ = to.Close()
			return
		}
		if b.stuck.Load() {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			_ = from.Close()
			return
		}
	}
}

// While a database hangs one who asks waits for it, and the others are told at once that it is away.
func TestADatabaseThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	u := postgrestest.Start(t)
	b := newBetween(t, u.Host)
	u.Host = b.addr
	u.RawQuery += "&connect_timeout=1" // what is being opened while it hangs has its place in the pool until then
	b.stuck.Store(true)
	a := open(t, u.String(), "c")
	a.Impatient(200 * time.Millisecond)
	ask := func() {
		t.Helper()
		var all sync.WaitGroup
		for n := range 200 {
			all.Go(func() {
				if _, err := a.Get(t.Context(), fmt.Sprint("nobody", n)); workflow.CodeOf(err) != workflow.CodeUnavailable {
					t.Error(err)
				}
			})
		}
		all.Wait()
		before := b.opened.Load()
		for range 20 {
			if _, err := a.Get(t.Context(), "nobody"); workflow.CodeOf(err) != workflow.CodeUnavailable {
				t.Error(err)
			}
		}
		if n := b.opened.Load() - before; n > 5 {
			t.Errorf("%d connections were tried for 20 who asked after it had not answered", n)
		}
	}
	ask() // before it was ever there
	if err := a.Put(t.Context(), []archive.Item{item("one", time.Hour, nil)}); workflow.CodeOf(err) != workflow.CodeUnavailable || !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
	b.stuck.Store(false)
	a.Heal()
	a.Impatient(10 * time.Second)
	polltest.Eventually(t, "it takes something again", func() bool {
		a.Heal()
		return a.Put(t.Context(), []archive.Item{item("one", time.Hour, nil)}) == nil
	})
	b.stuck.Store(true)
	a.Impatient(200 * time.Millisecond)
	ask()
	b.stuck.Store(false)
	a.Heal()
	a.Impatient(10 * time.Second)
	polltest.Eventually(t, "it answers again", func() bool {
		a.Heal()
		in, err := a.Instance(t.Context(), "one")
		return err == nil && in != nil
	})
}

// Who may read only, or make no months, is told at the start.
func TestWhoMayNotWriteIsRefused(t *testing.T) {
	t.Parallel()
	u := postgrestest.Start(t)
	put(t, open(t, u.String(), "c"), item("one", time.Hour, nil))
	db, err := postgres.Dialect().Open(u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range []string{
		"CREATE ROLE reader LOGIN PASSWORD 'pg-pass-word'", "GRANT SELECT ON weft_archive, weft_archive_meta TO reader",
		"CREATE ROLE writer LOGIN PASSWORD 'pg-pass-word'", "GRANT ALL ON weft_archive, weft_archive_meta, weft_archive_deleted TO writer",
		"CREATE ROLE copy LOGIN PASSWORD 'pg-pass-word' IN ROLE weft", "ALTER ROLE copy SET default_transaction_read_only = on",
	} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(s, err)
		}
	}
	dropMonth(t, db)
	for _, name := range []string{"reader", "writer", "copy"} {
		u.User = url.UserPassword(name, "pg-pass-word")
		if err := open(t, u.String(), "c").Check(t.Context()); !errors.Is(err, archive.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// dropMonth takes away that of now, as there is none when a month begins.
func dropMonth(t *testing.T, db *sql.DB) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), "DROP TABLE IF EXISTS "+time.Now().UTC().Format("weft_archive_2006_01")); err != nil {
		t.Fatal(err)
	}
}

// What is put is on the disk, also where the server is told that commits need not be.
func TestACommitIsOnTheDisk(t *testing.T) {
	t.Parallel()
	u := postgrestest.Start(t)
	for given, want := range map[string]string{"off": "on", "remote_write": "remote_write"} {
		with := *u
		with.RawQuery += "&synchronous_commit=" + given
		if got, err := open(t, with.String(), "c").Transaction(t.Context(), "SHOW synchronous_commit"); err != nil || got != want {
			t.Errorf("%s: %s, want %s: %v", given, got, want, err)
		}
	}
}

// A list has no more than a few megabytes of large instances, and none of them is left out.
func TestLargeInstancesComeInSeveralLists(t *testing.T) {
	t.Parallel()
	a := open(t, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"), "c")
	large := make([]byte, 3<<20)
	for i := range large {
		large[i] = "abcdefgh"[rand.IntN(8)]
	}
	for n := range 5 {
		put(t, a, item(fmt.Sprint("i", n), time.Hour-time.Duration(n)*time.Minute, func(in *workflow.Instance) { in.Input = map[string]any{"x": string(large)} }))
	}
	q, got := archive.Query{Limit: 100}, ""
	for lists, more := 0, true; more; lists++ {
		var found []workflow.Instance
		var err error
		if found, more, err = a.List(t.Context(), q); err != nil || len(found) > 3 || lists > 5 {
			t.Fatalf("list %d has %d: %v", lists, len(found), err)
		}
		for i := range found {
			at := archive.PlaceOf(&found[i])
			q.From, got = &at, got+found[i].ID+" "
		}
	}
	if got != "i4 i3 i2 i1 i0 " {
		t.Error(got)
	}
}

// No text of a caller is more than not found.
func TestTextsThatNoDatabaseTakes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connection string) {
		a := open(t, connection, "c")
		for _, id := range []string{"a\x00b", "\xff", "'; DROP TABLE weft_archive; --"} {
			put(t, a, item("one", time.Hour, func(in *workflow.Instance) { in.CorrelationID = id }))
			if got, err := a.Get(t.Context(), id); got != nil || err != nil {
				t.Errorf("%q: %v, %v", id, got, err)
			}
			if gone, err := a.Delete(t.Context(), id); gone || err != nil {
				t.Errorf("%q: %t, %v", id, gone, err)
			}
			if _, _, err := a.List(t.Context(), archive.Query{DefinitionID: id, CorrelationID: id, Limit: 5}); err != nil {
				t.Errorf("%q: %v", id, err)
			}
		}
		if _, _, err := a.List(t.Context(), archive.Query{From: &archive.Place{ID: "\xff"}, Limit: 5}); err != nil && workflow.CodeOf(err) != workflow.CodeInvalid {
			t.Error(err)
		}
	})
}

// A delete counts also for who has read the instance and is about to put it.
func TestWhatIsDeletedWhileItIsPut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connection string) {
		a, other := open(t, connection, "c"), open(t, connection, "c")
		for n := range 30 {
			id := fmt.Sprint("i", n)
			var both sync.WaitGroup
			both.Go(func() {
				if err := a.Put(t.Context(), []archive.Item{item("stays", time.Hour, nil), item(id, time.Hour, nil)}); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				if _, err := other.Delete(t.Context(), id); err != nil {
					t.Error(err)
				}
			})
			both.Wait()
		}
		put(t, a, item("i0", time.Hour, nil))
		if got := ids(t, a, archive.Query{}); got != "stays" {
			t.Error(got)
		}
		// One of that id that ran since then is another one.
		if _, err := a.Transaction(t.Context(), "UPDATE weft_archive_deleted SET at = at - 300001 WHERE id = 'i0' RETURNING id"); err != nil {
			t.Fatal(err)
		}
		put(t, a, item("i0", time.Minute, nil))
		if got := ids(t, a, archive.Query{}); got != "i0 stays" {
			t.Error(got)
		}
	})
}
