package sql_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/postgrestest"
	"github.com/weft-run/weft/pkg/activities/sql/postgres"
)

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	u := postgrestest.Start(t)
	wrong, away, none := *u, *u, *u
	wrong.User = url.UserPassword("weft", "not-the-word")
	away.Host = "127.0.0.1:1"
	none.Path = "/no-such-base"
	l := newLab(t, map[string]string{"db": u.String(), "wrong": wrong.String(), "away": away.String(), "none": none.String(), "bad": "postgres://weft:se%zzcret@h/d"})
	l.do("CREATE TABLE t (id bigint PRIMARY KEY, name text UNIQUE, n numeric, d date, at timestamptz, j jsonb, b bytea, tags text[])", nil)
	x := map[string]any{"name": "O'Brien; DROP TABLE t", "n": 1.25, "j": map[string]any{"a": []any{int64(1)}}, "tags": []any{"a", "b"}, "ids": []any{int64(1), int64(3)}, "big": "123456789012345678901234567890"}
	l.do("INSERT INTO t VALUES (1, ${{ inputs.x.name }}, ${{ inputs.x.n }}, ${{ '2026-03-01' }}, ${{ '2026-03-01T13:00:00+01:00' }}, ${{ inputs.x.j }}, '\\x0001ff', ${{ inputs.x.tags }}), (3, NULL, {{Input.x.big}}, NULL, NULL, NULL, NULL, NULL)", x)
	for text, want := range map[string]string{
		"SELECT id, name, n, d, at, j, b FROM t ORDER BY id":                   `[{"at":"2026-03-01T12:00:00Z","b":"AAH/","d":"2026-03-01","id":1,"j":{"a":[1]},"n":1.25,"name":"O'Brien; DROP TABLE t"},{"at":null,"b":null,"d":null,"id":3,"j":null,"n":123456789012345678901234567890,"name":null}]`,
		"SELECT id FROM t WHERE id = ANY(${{ inputs.x.ids }}) ORDER BY id":     `[{"id":1},{"id":3}]`,
		"SELECT id FROM t WHERE name = {{Input.x.name}} AND n = {{Input.x.n}}": `[{"id":1}]`,
		"SELECT 1.10::numeric(5,2) AS a, true AS b, 'x'::text AS c, 2::smallint AS d, 0.5::real AS e, '2026-03-01 10:00'::timestamp AS f, '1 day'::interval AS g, 'NaN'::numeric AS h": `[{"a":1.1,"b":true,"c":"x","d":2,"e":0.5,"f":"2026-03-01T10:00:00","g":"1 day","h":"NaN"}]`,
		"SELEC 1":            "sql-refused: the database refused the statement: 42601",
		"SELECT 1; SELECT 2": "sql-refused: the database refused the statement: 42601",
		"SELECT 1/0":         "22012",
		"SELECT * FROM generate_series(1, 1001) AS n": "the query gives more than 1000 rows",
	} {
		if got := l.query(text, x); got != want && !(want[0] != '[' && strings.Contains(got, want)) {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	for root, want := range map[string]string{
		"  - sqlCommand: {command: \"INSERT INTO t (id, name) VALUES (9, {{Input.x.name}})\", connection: db}\n": "sql-refused: the database refused the statement: 23505 duplicate key value violates unique constraint \"t_name_key\" (t_name_key)",
		"  - sqlQuery: {query: \"SELECT pg_sleep(60)\", connection: db, timeout: 50ms}\n":                        "sql-late: ",
		"  - sqlQuery: {query: \"SELECT 1\", connection: wrong}\n":                                               "sql-refused: the database refused reaching the database: 28P01 the user, the password",
		"  - sqlQuery: {query: \"SELECT 1\", connection: none}\n":                                                "sql-refused: the database refused reaching the database: 3D000 the user, the password",
		"  - sqlQuery: {query: \"SELECT 1\", connection: away}\n":                                                "sql-unreachable: reaching the database: no connection: connection refused",
		"  - sqlQuery: {query: \"SELECT 1\", connection: bad}\n":                                                 "the secret bad is no connection to PostgreSQL: it cannot be read",
		"  - sqlCommand: {command: \"DELETE FROM t\", connection: db, once: true}\n":                             "it is made by: CREATE TABLE weft_calls",
	} {
		r := l.run(t.Context(), "i1", root, x)
		if !strings.Contains(r.incident(), want) {
			t.Errorf("%s: %s, want %s", root, r.incident(), want)
		}
		for _, part := range []string{"pg-pass-word", "not-the-word", "zzcret", u.Host, away.Host, "no-such-base"} {
			if strings.Contains(r.all, part) {
				t.Errorf("%s: %s is kept: %s", root, part, r.all)
			}
		}
	}
	t.Run("deadlock", func(t *testing.T) { deadlock(t, l) })
	t.Run("once", func(t *testing.T) { atOnce(t, l) })
}

// deadlock has two transactions wait for each other: one is ended, and may try again.
func deadlock(t *testing.T, l *lab) {
	l.do("CREATE TABLE pair (id int PRIMARY KEY, n int)", nil)
	l.do("INSERT INTO pair VALUES (1, 0), (2, 0)", nil)
	db, err := postgres.Dialect().Open(l.secrets["db"])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "UPDATE pair SET n = 1 WHERE id = 2"); err != nil {
		t.Fatal(err)
	}
	// It takes the first row, and waits for the second, which the other one has.
	did := make(chan string)
	go func() {
		did <- l.run(t.Context(), "i1", "  - sqlCommand: {command: \"UPDATE pair SET n = (SELECT n FROM pair p WHERE p.id = pair.id) + 1 WHERE id IN (SELECT id FROM pair ORDER BY id)\", connection: db}\n", nil).incident()
	}()
	polltest.Eventually(t, "it waits", func() bool {
		var n int
		return db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&n) == nil && n > 0
	})
	_, own := tx.ExecContext(t.Context(), "UPDATE pair SET n = 1 WHERE id = 1")
	_ = tx.Rollback()
	theirs := <-did
	if own == nil && !strings.HasPrefix(theirs, "sql-again: the database ended the transaction: 40P01") || own != nil && (theirs != "" || postgres.Dialect().Failure(own).State != "40P01" || !postgres.Dialect().Failure(own).Again) {
		t.Errorf("%v; %s", own, theirs)
	}
}

// atOnce runs one call several times at once, as nodes do of which one was taken for dead.
func atOnce(t *testing.T, l *lab) {
	l.do(postgres.Dialect().Calls, nil)
	l.do("CREATE TABLE c (n int)", nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r := l.run(t.Context(), "same", "  - sqlCommand: {command: \"INSERT INTO c VALUES (1)\", connection: db, once: true}\n    outputs: {result: out}\n"+given, nil)
			if r.incident() != "" || r.out(t) != "1" {
				t.Errorf("%s %s", r.incident(), r.out(t))
			}
		})
	}
	all.Wait()
	if got := l.query("SELECT count(*) AS c FROM c", nil); got != `[{"c":1}]` {
		t.Errorf("rows: %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.run(ctx, "other", "  - sqlCommand: {command: \"INSERT INTO c VALUES (1)\", connection: db}\n", nil)
	if got := l.query("SELECT count(*) AS c FROM c", nil); got != `[{"c":1}]` {
		t.Errorf("rows behind a call that ended: %s", got)
	}
}
