package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/postgrestest"
	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/activities/sql/postgres"
	"github.com/weft-run/weft/pkg/activities/sql/sqlite"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/workflow"
)

var dialects = []*sql.Dialect{postgres.Dialect(), sqlite.Dialect()}

func open(t testing.TB, connection, cluster string) *archive.Archive {
	t.Helper()
	password := ""
	if u, err := url.Parse(connection); err == nil && u.User != nil {
		password, _ = u.User.Password()
		u.User = url.User(u.User.Username())
		connection = u.String()
	}
	file := ""
	if password != "" {
		file = filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := archive.Open(dialects, connection, file, cluster)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// each runs a test on every kind of database, in one of its own.
func each(t *testing.T, test func(t *testing.T, connection string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, postgrestest.Start(t).String())
	})
}

var now = time.Now().UTC().Truncate(time.Millisecond)

// item is an instance that was made so long ago and ended a minute later.
func item(id string, ago time.Duration, change func(*workflow.Instance)) archive.Item {
	made := now.Add(-ago)
	ended := made.Add(time.Minute)
	in := workflow.Instance{ID: id, DefinitionID: "orders", Version: 3, Status: workflow.StatusFinished, SubStatus: workflow.Finished,
		CorrelationID: "c-" + id, Labels: map[string]string{"a": "b"}, CreatedAt: made, UpdatedAt: ended, FinishedAt: &ended,
		Input: map[string]any{"n": json.Number("12345678901234567890"), "text": "ä\x00b"}}
	if change != nil {
		change(&in)
	}
	return archive.Item{Instance: in, Sequence: 2, State: json.RawMessage(`{"x":1}`), Journal: []workflow.JournalEntry{
		{Sequence: 1, Commit: "one", Node: "n", Began: made, Ended: made, Items: []workflow.JournalItem{{Sequence: 1, Time: made, Event: "Started", Data: map[string]any{"k": "v"}}}},
		{Sequence: 2, Commit: "two", Ended: ended, Variables: workflow.VariableChanges{Set: []workflow.VariableChange{{Name: "v", Value: "w"}}}},
	}}
}

func put(t *testing.T, a *archive.Archive, items ...archive.Item) {
	t.Helper()
	if err := a.Put(t.Context(), items); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, a *archive.Archive, q archive.Query) string {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	found, _, err := a.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range found {
		all = append(all, found[i].ID)
	}
	return strings.Join(all, " ")
}

func TestWhatIsPutIsThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connection string) {
		a := open(t, connection, "c")
		want := item("one", time.Hour, nil)
		put(t, a, want)
		got, err := a.Get(t.Context(), "one")
		if err != nil || !reflect.DeepEqual(got, &want) {
			t.Errorf("%v, got\n%+v, want\n%+v", err, got, want)
		}
		if in, err := a.Instance(t.Context(), "one"); err != nil || !reflect.DeepEqual(in, &want.Instance) {
			t.Errorf("%v, %+v", err, in)
		}
		if none, err := a.Get(t.Context(), "two"); none != nil || err != nil {
			t.Errorf("%v, %v", none, err)
		}
		// The same again, and another node, change nothing; what is older neither; what is newer does.
		other := open(t, connection, "c")
		old, newer := want, want
		old.Sequence, newer.Sequence = 1, 3
		old.Instance.Name, newer.Instance.Name = "old", "new"
		put(t, other, old, want)
		if in, err := other.Instance(t.Context(), "one"); err != nil || in.Name != "" {
			t.Errorf("%v, %+v", err, in)
		}
		put(t, other, newer, old, want)
		if in, err := a.Instance(t.Context(), "one"); err != nil || in.Name != "new" {
			t.Errorf("%v, %+v", err, in)
		}
		// Where etcd was restored from a backup, it goes on from there and ends once more, having counted no further.
		restored, ended := newer, newer.Instance.FinishedAt.Add(time.Minute)
		restored.Sequence, restored.Instance.Name, restored.Instance.FinishedAt = 2, "restored", &ended
		put(t, a, restored)
		if in, err := a.Instance(t.Context(), "one"); err != nil || in.Name != "restored" {
			t.Errorf("%v, %+v", err, in)
		}
		// One that was imported, which begins to count again, takes the place of what counted further.
		life := item("one", time.Hour, func(in *workflow.Instance) { in.Name = "imported" })
		life.Sequence, life.Life = 1, 77
		put(t, a, life)
		if got, err := a.Get(t.Context(), "one"); err != nil || !reflect.DeepEqual(got, &life) {
			t.Errorf("%v, %+v", err, got)
		}
		// One of the same id that was made later is another one, and found by it.
		put(t, a, item("one", time.Minute, func(in *workflow.Instance) { in.Name = "again" }))
		if in, err := a.Instance(t.Context(), "one"); err != nil || in.Name != "again" || ids(t, a, archive.Query{}) != "one one" {
			t.Errorf("%v, %+v, %s", err, in, ids(t, a, archive.Query{}))
		}
		if gone, err := a.Delete(t.Context(), "one"); !gone || err != nil || ids(t, a, archive.Query{}) != "" {
			t.Errorf("%t, %v", gone, err)
		}
		if gone, err := a.Delete(t.Context(), "one"); gone || err != nil {
			t.Errorf("%t, %v", gone, err)
		}
	})
}

func TestLists(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 5000)
	each(t, func(t *testing.T, connection string) {
		a := open(t, connection, "c")
		put(t, a,
			item("far", -24*365*200*time.Hour, nil), item("first", 24*365*50*time.Hour, nil), // in the partition of all others
			item("b", 2*time.Hour, nil), item("a", 2*time.Hour, nil), item("new", time.Hour, func(in *workflow.Instance) { in.DefinitionID = "other" }),
			item("spring", 24*100*time.Hour, func(in *workflow.Instance) {
				in.CorrelationID, in.Labels, in.SubStatus = long, map[string]string{"customer": "acme", "region": long}, workflow.Faulted
			}), item("nul", 24*200*time.Hour, func(in *workflow.Instance) {
				in.CorrelationID, in.Labels, in.Parent = "x\x00y", map[string]string{"customer": "acme", "n": "x\x00y"}, &workflow.Parent{InstanceID: "b"}
			}),
		)
		for _, tt := range []struct {
			q    archive.Query
			want string
		}{
			{archive.Query{}, "far new b a spring nul first"},
			{archive.Query{OldestFirst: true}, "first nul spring a b new far"},
			{archive.Query{Limit: 2}, "far new"},
			{archive.Query{DefinitionID: "orders", Limit: 3}, "far b a"},
			{archive.Query{DefinitionID: "other"}, "new"},
			{archive.Query{CorrelationID: "c-a"}, "a"},
			{archive.Query{CorrelationID: long}, "spring"},
			{archive.Query{CorrelationID: "x\x00y"}, "nul"},
			{archive.Query{CorrelationID: "xy"}, ""},
			{archive.Query{SubStatus: workflow.Faulted}, "spring"},
			{archive.Query{Parent: "b"}, "nul"},
			{archive.Query{Parent: "a"}, ""},
			{archive.Query{Labels: map[string]string{"customer": "acme"}}, "spring nul"},
			{archive.Query{Labels: map[string]string{"customer": "acme"}, OldestFirst: true, DefinitionID: "orders"}, "nul spring"},
			{archive.Query{Labels: map[string]string{"customer": "acme"}, Limit: 1}, "spring"},
			{archive.Query{Labels: map[string]string{"customer": "acme"}, From: &archive.Place{Created: now.Add(-24 * 100 * time.Hour).UnixMilli(), ID: "spring"}}, "nul"},
			{archive.Query{Labels: map[string]string{"customer": "acme", "region": long}}, "spring"},
			{archive.Query{Labels: map[string]string{"customer": "acme", "n": "x\x00y"}}, "nul"},
			{archive.Query{Labels: map[string]string{"customer": "acm"}}, ""},
			{archive.Query{IDs: []string{"a", "nul", "nobody"}}, "a nul"},
			{archive.Query{After: now.Add(-3 * time.Hour), Before: now.Add(-90 * time.Minute)}, "b a"},
			{archive.Query{From: &archive.Place{Created: now.Add(-2 * time.Hour).UnixMilli(), ID: "b"}}, "a spring nul first"},
			{archive.Query{From: &archive.Place{Created: now.Add(-2 * time.Hour).UnixMilli(), ID: "a"}, OldestFirst: true}, "b new far"},
			{archive.Query{DefinitionID: "x' OR '1'='1"}, ""},
		} {
			if got := ids(t, a, tt.q); got != tt.want {
				t.Errorf("%+.40v: got %s, want %s", tt.q, got, tt.want)
			}
		}
	})
}

// Several nodes put much of the same at once, into months that none of them had.
func TestNodesPutAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connection string) {
		var all sync.WaitGroup
		for n := range 3 {
			a := open(t, connection, "c")
			all.Go(func() {
				for part := range 4 {
					var items []archive.Item
					for i := range 150 {
						items = append(items, item(fmt.Sprint("i", (i+part*100+n*7)%400), time.Duration((i+part*100+n*7)%400)*24*time.Hour, nil))
					}
					if err := a.Put(t.Context(), items); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got := len(strings.Fields(ids(t, open(t, connection, "c"), archive.Query{Limit: 1000}))); got != 400 {
			t.Errorf("%d instances, want 400", got)
		}
	})
}

// Labels go with their instance, whichever way it goes, and are not put for one that was deleted a moment ago.
func TestLabelsGoWithTheirInstance(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connection string) {
		a := open(t, connection, "c")
		labelled := func(id string, ago time.Duration) archive.Item {
			return item(id, ago, func(in *workflow.Instance) { in.Labels = map[string]string{"customer": "acme", "region": "north"} })
		}
		const day = 24 * time.Hour
		put(t, a, labelled("deleted", day), labelled("old", 200*day), labelled("years", 5000*day), labelled("new", day))
		if _, err := a.Delete(t.Context(), "deleted"); err != nil {
			t.Fatal(err)
		}
		put(t, a, labelled("deleted", day))
		if _, err := a.Expire(t.Context(), now.Add(1000*day), 90*day); err != nil {
			t.Fatal(err)
		}
		if n, err := a.Labels(t.Context()); err != nil || n != 2 {
			t.Errorf("%d labels are left, want those of one instance: %v", n, err)
		}
	})
}

func TestWhatIsOldGoes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connection string) {
		a, other := open(t, connection, "c"), open(t, connection, "c")
		const day = 24 * time.Hour
		old := item("old", 200*day, nil)
		late := item("late", 130*day, func(in *workflow.Instance) { ended := now; in.FinishedAt = &ended }) // of a month that stays, as it ended today
		put(t, a, old, late, item("years", 5000*day, nil), item("new", day, nil))
		put(t, other, old)
		gone, err := a.Expire(t.Context(), now.Add(1000*day), 90*day)
		if got := ids(t, a, archive.Query{}); err != nil || gone != 2 || got != "new late" {
			t.Errorf("%v, %d gone, left %s", err, gone, got)
		}
		// Another node that does not know that the month went loses nothing, nor does one that makes it again.
		put(t, other, old)
		put(t, a, item("old2", 200*day, nil))
		put(t, open(t, connection, "c"), item("old3", 200*day, nil))
		if got := ids(t, a, archive.Query{}); got != "new late old3 old2 old" {
			t.Error(got)
		}
		if gone, err := a.Expire(t.Context(), now.Add(1000*day), 90*day); err != nil || gone != 3 || ids(t, a, archive.Query{}) != "new late" {
			t.Errorf("%v, %d gone", err, gone)
		}
	})
}

func TestAnArchiveBelongsToOneCluster(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connection string) {
		put(t, open(t, connection, "mine"), item("a", time.Hour, nil))
		other := open(t, connection, "theirs")
		for what, err := range map[string]error{"check": other.Check(t.Context()), "put": other.Put(t.Context(), nil), "read": second(other.Get(t.Context(), "a"))} {
			if !errors.Is(err, archive.ErrRefused) || !strings.Contains(err.Error(), `"mine"`) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// What is wrong is told without the password, and apart by whether it may heal.
func TestWhatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	for connection, want := range map[string]string{
		"mysql://h/d": "begin with", "": "begin with", "sqlite:relative.db": "path", "sqlite:/x?mode=ro": "nothing behind", "postgres://u:secret-word@h/d": "file of its own", "postgres://h/d?password=secret-word": "file of its own", "postgres://h/d?sslpassword=secret-word": "file of its own", "postgres:host=h password=secret-word": "postgres://",
	} {
		if _, err := archive.Open(dialects, connection, "", "c"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: %v", connection, err)
		}
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"word": "word", "empty": "\n"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Open(dialects, "sqlite:/x.db", file, "c"); err == nil {
			t.Errorf("a file with a password, %s", name)
		}
	}
	noFile := filepath.Join(dir, "text.db")
	if err := os.WriteFile(noFile, []byte(strings.Repeat("this is no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, connection := range []string{"sqlite:" + filepath.Join(dir, "none", "archive.db"), "sqlite:" + noFile, "postgres://weft@127.0.0.1:1/d?connect_timeout=1"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := open(t, connection, "c").Check(ctx); workflow.CodeOf(err) != workflow.CodeUnavailable {
			t.Errorf("%s: %v", connection, err)
		}
		cancel()
	}
	u := postgrestest.Start(t)
	u.User = url.UserPassword("weft", "not-the-word")
	if err := open(t, u.String(), "c").Check(t.Context()); !errors.Is(err, archive.ErrRefused) || strings.Contains(err.Error(), "not-the-word") {
		t.Error(err)
	}
}

// What lists read goes through an index, also where there is much.
func TestListsGoThroughAnIndex(t *testing.T) {
	t.Parallel()
	a := open(t, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"), "c")
	put(t, a, item("a", time.Hour, nil))
	for _, q := range []archive.Query{{}, {DefinitionID: "d"}, {CorrelationID: "c"}, {IDs: []string{"a"}}, {SubStatus: workflow.Faulted}, {Parent: "p"}, {Labels: map[string]string{"a": "b", "c": "d"}}, {After: now}, {OldestFirst: true, From: &archive.Place{}}} {
		q.Limit = 50
		plan, err := a.Plan(t.Context(), q)
		if err != nil || slices.ContainsFunc(plan, func(s string) bool {
			return strings.HasPrefix(s, "SCAN weft_archive") && !strings.Contains(s, "USING INDEX") || strings.Contains(s, "TEMP B-TREE") && q.IDs == nil
		}) {
			t.Errorf("%+v: %v, %q", q, err, plan)
		}
	}
}
