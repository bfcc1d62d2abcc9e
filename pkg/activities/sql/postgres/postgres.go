// Package postgres is PostgreSQL for the activities that ask databases.
//
// Guaranteed: the server ends a statement whose time is over, also where the node is gone. Errors have nothing of the
// text of the connection. No statement is prepared beyond its own transaction, so a pooler may stand in between.
package postgres

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/weft-run/weft/internal/outgoing"
	weftsql "github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/workflow"
)

// Dialect is PostgreSQL, reached with pgx.
func Dialect() *weftsql.Dialect {
	return &weftsql.Dialect{
		Name: "PostgreSQL", Schemes: []string{"postgres", "postgresql"}, Clients: []string{"postgresql", "postgresqlclient", "postgres"},
		Open: open, Begin: begin, Parameter: func(n int) string { return "$" + strconv.Itoa(n) }, Argument: argument, Value: value, Failure: failure,
		Calls: "CREATE TABLE weft_calls (id text PRIMARY KEY, result bigint, at timestamptz NOT NULL DEFAULT now())",
	}
}

func open(connection string) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(connection)
	if err != nil {
		return nil, errors.New("it cannot be read; it is to be postgres://user:password@host:port/database?sslmode=verify-full") // the cause has the text
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "weft"
	}
	return stdlib.OpenDB(*cfg), nil
}

// begin begins a transaction whose statements the server ends after limit, and which it ends when nothing comes.
func begin(ctx context.Context, conn *sql.Conn, limit time.Duration) (*sql.Tx, error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	ms := strconv.FormatInt(max(limit.Milliseconds(), 1), 10)
	if _, err := tx.ExecContext(ctx, "SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)", ms); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// argument leaves objects and lists as they are, which the driver makes JSON or arrays of, as the parameter wants.
func argument(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), nil
	case time.Duration:
		return v.String(), nil
	}
	return v, nil
}

func value(v any, column string) (any, error) {
	switch v := v.(type) {
	case []byte:
		if column == "JSON" || column == "JSONB" {
			var out any
			err := workflow.Unmarshal(v, &out)
			return out, err
		}
		if column == "XML" {
			return string(v), nil
		}
		return base64.StdEncoding.EncodeToString(v), nil
	case string:
		if column == "NUMERIC" {
			if n, ok := workflow.ParseNumber(v); ok {
				return n, nil
			}
		}
		return v, nil // NaN too
	case time.Time:
		switch column {
		case "DATE":
			return v.Format(time.DateOnly), nil
		case "TIMESTAMP": // of no zone
			return v.Format("2006-01-02T15:04:05.999999999"), nil
		}
		return v.UTC().Format(time.RFC3339Nano), nil
	case float64:
		return workflow.Float(v), nil
	case nil, int64, bool:
		return v, nil
	}
	return nil, fmt.Errorf("its type %s is not known", column)
}

// failure says what PostgreSQL said. What it says of rows (DETAIL) is left out.
func failure(err error) weftsql.Failure {
	var reply *pgconn.PgError
	if !errors.As(err, &reply) {
		var refused *pgconn.ConnectError
		if errors.As(err, &refused) {
			err = refused.Unwrap() // it has the user and the host
		}
		if strings.Contains(err.Error(), "tls") || errors.Is(err, context.DeadlineExceeded) {
			return weftsql.Failure{Text: "no connection: " + outgoing.Explain(cause(err)).Error()}
		}
		return weftsql.Failure{Text: "no connection: " + known(err)}
	}
	f := weftsql.Failure{State: reply.Code, Text: reply.Message, Late: reply.Code == "57014"}
	switch {
	case strings.HasPrefix(reply.Code, "28"), reply.Code == "3D000":
		f.Text = "the user, the password or the name of the database is not taken" // what it says has them
	case reply.Code == "40001", reply.Code == "40P01", reply.Code == "55P03", strings.HasPrefix(reply.Code, "08"), strings.HasPrefix(reply.Code, "53"),
		reply.Code == "57P01", reply.Code == "57P02", reply.Code == "57P03", reply.Code == "25P03":
		f.Again = true
	}
	if reply.ConstraintName != "" {
		f.Text += " (" + reply.ConstraintName + ")"
	}
	return f
}

// cause is the innermost error, which has nothing of the connection around it.
func cause(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// known is what is told of an error that may have parts of the connection in it.
func known(err error) string {
	text := outgoing.Explain(err).Error()
	for _, harmless := range []string{"connection refused", "connection reset by peer", "no server is known by this name", "broken pipe", "no route to host", "i/o timeout", "unexpected EOF"} {
		if strings.Contains(text, harmless) {
			return harmless
		}
	}
	return "it broke, or was not made"
}
