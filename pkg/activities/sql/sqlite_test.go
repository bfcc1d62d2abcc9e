package sql_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/activities/sql/sqlite"
)

// file is a lab with a file of SQLite that has the table t.
func file(t *testing.T) (*lab, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b.db")
	l := newLab(t, map[string]string{"db": "sqlite:" + path + "?mode=rwc", "ro": "sqlite:" + path + "?mode=ro"})
	l.do("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, n REAL, b BLOB, at DATETIME)", nil)
	return l, path
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	l, path := file(t)
	l.do("INSERT INTO t (id, name, n, b, at) VALUES (1, ${{ inputs.x.name }}, ${{ inputs.x.n }}, X'0001ff', '2026-03-01 12:00:00'), (9007199254740993, NULL, 3, NULL, NULL)", map[string]any{"name": "O'Brien\"; DROP TABLE t; --", "n": 1.5})
	for text, want := range map[string]string{
		"SELECT * FROM t ORDER BY id": `[{"at":"2026-03-01T12:00:00Z","b":"AAH/","id":1,"n":1.5,"name":"O'Brien\"; DROP TABLE t; --"},{"at":null,"b":null,"id":9007199254740993,"n":3,"name":null}]`,
		"SELECT name FROM t WHERE name = ${{ inputs.x.name }} AND n > ${{ 1 + 0.25 }}":     `[{"name":"O'Brien\"; DROP TABLE t; --"}]`,
		"SELECT count(*) AS c FROM t WHERE name = {{Input.x.name}}":                        `[{"c":1}]`,
		"SELECT ${{ inputs.x.list }} AS l, ${{ inputs.x.nothing }} AS z, ${{ true }} AS y": `[{"l":"[1,{\"a\":2}]","y":1,"z":null}]`,
		"SELECT {{Input.x.list[1].a}} AS a, {{Workflow.Instance.Id}} AS i":                 `[{"a":2,"i":"i1"}]`,
		"SELECT 1 AS a WHERE 1 = 0": `[]`,
		"SELECT 1 AS a, 2 AS a":     "sql-invalid: two columns are called a",
		"SELEC 1":                   "sql-refused: the database refused the statement: 42000",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1001) SELECT n FROM r":                          "sql-invalid: the query gives more than 1000 rows",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 20) SELECT n, hex(zeroblob(50000)) AS h FROM r": "sql-invalid: the query gives more than 1048576 bytes",
		"ATTACH DATABASE '" + path + ".other' AS other":                                                                       "too many attached databases",
		"VACUUM INTO '" + path + ".copy'":                                                                                     "cannot VACUUM from within a transaction",
	} {
		got := l.query(text, map[string]any{"name": "O'Brien\"; DROP TABLE t; --", "list": []any{int64(1), map[string]any{"a": int64(2)}}, "nothing": nil})
		if got != want && !(want[0] != '[' && strings.Contains(got, want)) {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	for root, want := range map[string]string{
		"  - sqlCommand: {command: \"UPDATE t SET n = n\", connection: db}\n    result: out\n":                                 "2",
		"  - sqlSingleValue: {command: \"SELECT n, 7 FROM t ORDER BY id\", connection: db}\n    result: out\n":                 "1.5",
		"  - sqlSingleValue: {command: \"SELECT n FROM t WHERE 1 = 0\", connection: db}\n    result: out\n":                    "null",
		"  - sqlQuery: {query: \"SELECT 1 AS a\", connectionString: \"${{ secrets.ro }}\", client: Sqlite}\n    result: out\n": `[{"a":1}]`,
		"  - sqlQuery: {query: \"SELECT 1 AS a\", connectionString: {javascript: getSecret('ro')}}\n    result: out\n":         `[{"a":1}]`,
	} {
		r := l.run(t.Context(), "i1", root+given, nil)
		if got := r.out(t); r.incident() != "" || got != want {
			t.Errorf("%s: %s %s", root, got, r.incident())
		}
		if strings.Contains(r.all, path) {
			t.Errorf("kept: %s", r.all)
		}
	}
	for root, want := range map[string]string{
		"  - sqlCommand: {command: \"INSERT INTO t (id) VALUES (1)\", connection: db}\n":                                                                     "sql-refused: the database refused the statement: 23000",
		"  - sqlCommand: {command: \"DELETE FROM t\", connection: ro}\n":                                                                                     "sql-refused: the database refused the statement: 25006",
		"  - sqlQuery: {query: \"SELECT 1\", connection: gone}\n":                                                                                            "there is no secret gone",
		"  - sqlQuery: {query: \"SELECT 1\", connectionString: \"${{ secrets.ro + '&a=1' }}\"}\n":                                                            "it is not the whole value of a secret",
		"  - sqlQuery: {query: \"SELECT 1\", connectionString: \"${{ 'sqlite:/tmp/x' }}\"}\n":                                                                "it is not the whole value of a secret",
		"  - sqlQuery: {query: \"SELECT 1\", connection: ro, client: PostgreSql}\n":                                                                          "is a connection to SQLite",
		"  - sqlQuery: {query: \"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r\", connection: ro, timeout: 10ms}\n": "sql-late: ",
		"  - sqlCommand: {command: \"DELETE FROM t\", connection: db, once: true}\n":                                                                         "once: the table of calls cannot be written (42000 SQL logic error: no such table: weft_calls (1)); it is made by: CREATE TABLE weft_calls",
	} {
		if got := l.run(t.Context(), "i1", root, nil).incident(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", root, got, want)
		}
	}
}

// A command with once takes effect once for each call.
func TestOnce(t *testing.T) {
	t.Parallel()
	l, _ := file(t)
	l.do(sqlite.Dialect().Calls, nil)
	const root = "  - sqlCommand: {command: \"INSERT INTO t (n) VALUES (1), (2)\", connection: db, once: true}\n    outputs: {result: out}\n" + given
	for i, id := range []string{"i1", "i1", "i2"} {
		if r := l.run(t.Context(), id, root, nil); r.incident() != "" || r.out(t) != "2" {
			t.Errorf("%d: %s %s", i, r.incident(), r.out(t))
		}
	}
	if got := l.query("SELECT count(*) AS c FROM t", nil); got != `[{"c":4}]` {
		t.Errorf("rows: %s", got)
	}
	// One that fails has not taken effect, and may be repeated.
	const bad = "  - sqlCommand: {command: \"INSERT INTO t (id) VALUES (1), (${{ inputs.x }})\", connection: db, once: true}\n"
	if r := l.run(t.Context(), "i3", bad, 1); !strings.Contains(r.incident(), "23000") {
		t.Error(r.incident())
	}
	if r := l.run(t.Context(), "i3", strings.Replace(bad, "(1), ", "", 1), 100); r.incident() != "" {
		t.Error(r.incident())
	}
	if got := l.query("SELECT count(*) AS c FROM t", nil); got != `[{"c":5}]` {
		t.Errorf("rows: %s", got)
	}
}

// Pools are bounded, and nothing is asked when they are closed.
func TestPools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := sql.NewDatabases(sqlite.Dialect())
	connections := map[string]string{}
	for i := range 40 {
		connections["db"+strings.Repeat("x", i)] = "sqlite:" + filepath.Join(dir, strings.Repeat("x", i+1)) + "?mode=rwc"
	}
	l := &lab{t, on, connections}
	for name := range connections {
		if r := l.run(t.Context(), "i1", "  - sqlQuery: {query: \"SELECT 1\", connection: "+name+"}\n", nil); r.incident() != "" {
			t.Error(r.incident())
		}
	}
	if n := sql.Pools(on); n > 32 {
		t.Errorf("%d pools", n)
	}
	if err := on.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if r := l.run(t.Context(), "i1", "  - sqlQuery: {query: \"SELECT 1\", connection: db}\n", nil); !strings.Contains(r.incident(), "the node is stopping") {
		t.Error(r.incident())
	}
	if err := on.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// The end of a node waits for what runs, as long as it may.
func TestTheEndWaits(t *testing.T) {
	t.Parallel()
	l, _ := file(t)
	_, release, err := sql.Take(l.on, l.secrets["db"])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.on.Close(ctx); err == nil || !strings.Contains(err.Error(), "statements run still") {
		t.Errorf("%v", err)
	}
	closed := make(chan error)
	go func() { closed <- l.on.Close(context.WithoutCancel(ctx)) }()
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// What is known when a definition is published is refused then.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{
		"{query: {javascript: \"'SELECT ' + input.x\"}, connection: db}":                 "the text of a statement is not computed",
		"{query: \"${{ inputs.x }}\", connection: db}":                                   "the text of a statement is not computed",
		"{query: {liquid: \"SELECT {{ inputs.x }}\"}, connection: db}":                   "the text of a statement is not computed",
		"{query: \"SELECT '${{ inputs.x }}'\", connection: db}":                          "stands in a text in quotes",
		"{query: \"SELECT \\\"${{ inputs.x }}\\\"\", connection: db}":                    "stands in a name in quotes",
		"{query: \"SELECT 1 -- ${{ inputs.x }}\\n\", connection: db}":                    "stands in -- comment",
		"{query: \"SELECT /* /* */ {{Input.x}} */ 1\", connection: db}":                  "stands in a comment",
		"{query: \"SELECT $a$ {{Input.x}} $a$\", connection: db}":                        "stands in a text in $a$",
		"{query: \"SELECT E'\\\\' {{Input.x}}'\", connection: db}":                       "stands in a text in quotes",
		"{query: \"SELECT 'a\", connection: db}":                                         "a text in quotes does not end",
		"{query: \"SELECT {{Input.x\", connection: db}":                                  "{{ has no closing }}",
		"{query: \"SELECT {{Output.x}}\", connection: db}":                               "{{Output.x}} is no placeholder that is known",
		"{query: \"SELECT ${{ nope( }}\", connection: db}":                               "input query of sqlQuery1",
		"{query: \" \", connection: db}":                                                 "a statement of SQL is wanted",
		"{query: \"SELECT 1\"}":                                                          "connection names a secret",
		"{query: \"SELECT 1\", connection: db, connectionString: \"${{ secrets.db }}\"}": "leave one out",
		"{query: \"SELECT 1\", connection: \"postgres://u:p@h/d\"}":                      "is the name of a secret, and not the text of the connection",
		"{query: \"SELECT 1\", connectionString: \"Server=a;Password=b\"}":               "the text of a connection is in a secret",
		"{query: \"SELECT 1\", connection: db, client: MySql}":                           "there is no client \"MySql\"",
		"{query: \"SELECT 1\", connection: db, maxRows: 10001}":                          "maxRows is 10001; it must be from 1 to 10000",
	} {
		_, problems := compile(t, "  - sqlQuery: "+root+"\n", nil)
		if err := problems.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", root, err)
		}
	}
	for _, root := range []string{"{query: \"SELECT 'it''s ' || ${{ inputs.x }} || E'\\\\\\\\'\", connection: db}", "{query: \"SELECT a$b$c, {{Input.x}} -- it's\", connection: db}", "{query: \"SELECT $$ it's $$, {{Input.x}}\", connection: db}"} {
		prog, problems := compile(t, "  - sqlQuery: "+root+"\n", nil)
		if err := problems.Err(); err != nil {
			t.Errorf("%s: %v", root, err)
			continue
		}
		if uses := prog.Secrets(); len(uses) != 1 || uses[0].Name != "db" {
			t.Errorf("secrets %v", uses)
		}
	}
}
