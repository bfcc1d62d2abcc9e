// Package sqlite is SQLite for the activities that ask databases.
//
// Guaranteed: a statement reaches the file that the secret names, and no other: nothing can be attached. A file that is
// not there is not made, unless the text of the connection says mode=rwc.
//
// Not guaranteed: that nodes on several machines may share a file. SQLite needs the locks of one machine's disk.
package sqlite

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	weftsql "github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/workflow"
)

// Dialect is SQLite, in this process.
func Dialect() *weftsql.Dialect {
	return &weftsql.Dialect{
		Name: "SQLite", Schemes: []string{"sqlite", "file"}, Clients: []string{"sqlite", "sqliteclient"},
		Open: open, Begin: begin, Parameter: func(n int) string { return fmt.Sprintf("?%d", n) }, Argument: argument, Value: value, Failure: failure,
		Calls: "CREATE TABLE weft_calls (id TEXT PRIMARY KEY, result INTEGER, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)",
	}
}

// open reads sqlite:/path?mode=ro. Of what may stand behind the path mode is taken.
func open(connection string) (*sql.DB, error) {
	_, rest, _ := strings.Cut(connection, ":")
	path, query, _ := strings.Cut(rest, "?")
	path = strings.TrimPrefix(path, "//")
	given, err := url.ParseQuery(query)
	mode := given.Get("mode")
	switch {
	case err != nil || path == "" || !strings.HasPrefix(path, "/"):
		return nil, errors.New("it is to be sqlite:/path/of/a/file.db, with a path from the root on")
	case mode != "" && mode != "ro" && mode != "rw" && mode != "rwc", len(given) > 1, len(given) == 1 && mode == "":
		return nil, errors.New("behind the path mode=ro, mode=rw or mode=rwc may stand")
	case mode == "":
		mode = "rw"
	}
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)", "foreign_keys(1)"}}
	return sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
}

// begin begins a transaction. The driver ends what runs when ctx does.
func begin(ctx context.Context, conn *sql.Conn, _ time.Duration) (*sql.Tx, error) {
	if _, err := sqlite.Limit(conn, lib.SQLITE_LIMIT_ATTACHED, 0); err != nil {
		return nil, err
	}
	return conn.BeginTx(ctx, nil)
}

// argument has objects and lists as JSON.
func argument(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), nil
	case time.Duration:
		return v.String(), nil
	case map[string]any, []any:
		raw, err := workflow.Marshal(v)
		return string(raw), err
	}
	return v, nil
}

func value(v any, _ string) (any, error) {
	switch v := v.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v), nil
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), nil
	case float64:
		return workflow.Float(v), nil
	case nil, int64, bool, string:
		return v, nil
	}
	return nil, fmt.Errorf("a value of Go's type %T is not known", v)
}

// states are the SQLSTATEs of what SQLite says, as far as there are some.
var states = map[int]string{lib.SQLITE_CONSTRAINT: "23000", lib.SQLITE_BUSY: "55P03", lib.SQLITE_LOCKED: "55P03", lib.SQLITE_FULL: "53100", lib.SQLITE_READONLY: "25006", lib.SQLITE_INTERRUPT: "57014", lib.SQLITE_ERROR: "42000"}

func failure(err error) weftsql.Failure {
	var said *sqlite.Error
	if !errors.As(err, &said) {
		return weftsql.Failure{Text: "no connection"}
	}
	code := said.Code() & 0xff
	f := weftsql.Failure{State: states[code], Text: said.Error(), Again: code == lib.SQLITE_BUSY || code == lib.SQLITE_LOCKED || code == lib.SQLITE_FULL, Late: code == lib.SQLITE_INTERRUPT}
	switch {
	case code == lib.SQLITE_CANTOPEN:
		return weftsql.Failure{Text: "the file cannot be opened"}
	case f.State == "":
		f.State = fmt.Sprintf("SQLITE%d", said.Code())
	}
	return f
}
