package sql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/engine"
)

// The codes of faults.
const (
	codeUnreachable = "sql-unreachable" // no connection, or it broke: nothing took effect
	codeAgain       = "sql-again"       // the database ended the transaction, and another one may succeed
	codeLate        = "sql-late"        // it took too long, and the database ended it
	codeRefused     = "sql-refused"     // the database said no
	codeInvalid     = "sql-invalid"     // it cannot be asked, or its answer cannot be taken, as it is
	codeUnknown     = "sql-unknown"     // the answer to the commit was lost
)

// failed is why a statement did not take effect, or may not have.
type failed struct{ code, state, text string }

func (f *failed) Error() string { return f.text }

// call is a statement with its values.
type call struct {
	*statement
	values  []any
	limit   time.Duration
	rows    int64
	changes bool   // it changes rows, and gives none
	first   bool   // one value is wanted
	once    string // its name in weft_calls; "": it may take effect again
}

// answer is what came of a call.
type answer struct {
	rows     []any
	value    any // of the first column of the first row
	changed  int64
	repeated bool
}

func (c *call) publish(x *engine.Execution, a *answer) {
	switch {
	case c.first:
		x.SetOutput("result", a.value)
	case c.changes:
		x.SetOutput("result", a.changed)
		x.SetOutput("repeated", a.repeated)
	default:
		x.SetOutput("results", a.rows)
		x.SetOutput("count", int64(len(a.rows)))
	}
}

// grace is how much longer than the database the caller waits for it to end a statement.
const grace = 2 * time.Second

// run makes a call in a transaction of its own.
func (p *pool) run(ctx context.Context, c *call) (*answer, error) {
	args := make([]any, len(c.values))
	for i, v := range c.values {
		var err error
		if args[i], err = p.dialect.Argument(v); err != nil {
			return nil, &failed{codeInvalid, "", fmt.Sprintf("parameter %d: %v", i+1, err)}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit+grace)
	defer cancel()
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, p.failure("reaching the database", err)
	}
	defer conn.Close()
	tx, err := p.dialect.Begin(ctx, conn, c.limit)
	if err != nil {
		return nil, p.failure("reaching the database", err)
	}
	defer tx.Rollback() //nolint:errcheck // what was committed is, and what was not is gone with the connection
	a, err := c.within(ctx, p.dialect, tx, args)
	var own *failed
	switch {
	case errors.As(err, &own):
		return nil, own
	case err != nil:
		return nil, p.failure("the statement", err)
	case ctx.Err() != nil:
		return nil, p.failure("the statement", ctx.Err())
	}
	if err := tx.Commit(); err != nil {
		if f := p.dialect.Failure(err); f.State != "" {
			return nil, p.failure("the commit", err)
		}
		return nil, &failed{codeUnknown, "", "the database did not answer to the commit, so the statement may have taken effect"}
	}
	return a, nil
}

// within does what a call wants in its transaction.
func (c *call) within(ctx context.Context, d *Dialect, tx *sql.Tx, args []any) (*answer, error) {
	if !c.changes {
		return c.ask(ctx, d, tx, args)
	}
	if c.once != "" {
		before, err := c.claim(ctx, d, tx)
		if before != nil || err != nil {
			return before, err
		}
	}
	res, err := tx.ExecContext(ctx, c.of(d), args...)
	if err != nil {
		return nil, err
	}
	a := &answer{}
	if a.changed, err = res.RowsAffected(); err != nil {
		return nil, err
	}
	if c.once != "" {
		_, err = tx.ExecContext(ctx, "UPDATE weft_calls SET result = "+d.Parameter(1)+" WHERE id = "+d.Parameter(2), a.changed, c.once)
	}
	return a, err
}

// claim writes the call into the table of calls; it gives the answer of the one that did so before. Another transaction that
// has written it and not ended is waited for.
func (c *call) claim(ctx context.Context, d *Dialect, tx *sql.Tx) (*answer, error) {
	res, err := tx.ExecContext(ctx, "INSERT INTO weft_calls (id) VALUES ("+d.Parameter(1)+") ON CONFLICT (id) DO NOTHING", c.once)
	if err != nil {
		if f := d.Failure(err); f.State != "" && !f.Again && !f.Late {
			return nil, &failed{codeRefused, f.State, fmt.Sprintf("once: the table of calls cannot be written (%s %s); it is made by: %s", f.State, f.Text, d.Calls)}
		}
		return nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return nil, err
	}
	a := &answer{repeated: true}
	return a, tx.QueryRowContext(ctx, "SELECT result FROM weft_calls WHERE id = "+d.Parameter(1), c.once).Scan(&a.changed)
}

// ask gives the rows of a query.
func (c *call) ask(ctx context.Context, d *Dialect, tx *sql.Tx, args []any) (*answer, error) {
	rows, err := tx.QueryContext(ctx, c.of(d), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	kinds, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for i, k := range kinds {
		for _, other := range kinds[:i] {
			if k.Name() == other.Name() && !c.first {
				return nil, &failed{codeInvalid, "", fmt.Sprintf("two columns are called %s; give one of them another name, with AS", k.Name())}
			}
		}
	}
	a, bytes := &answer{rows: []any{}}, 0
	for rows.Next() {
		if c.first && len(a.rows) > 0 {
			break
		}
		if int64(len(a.rows)) >= c.rows {
			return nil, &failed{codeInvalid, "", fmt.Sprintf("the query gives more than %d rows; see maxRows, or ask for fewer, with LIMIT", c.rows)}
		}
		row, first, err := scan(rows, kinds, d)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(row)
		if err != nil {
			return nil, &failed{codeInvalid, "", "a value cannot be kept: " + err.Error()}
		}
		if bytes += len(raw); bytes > maxBytes {
			return nil, &failed{codeInvalid, "", fmt.Sprintf("the query gives more than %d bytes; ask for fewer rows or columns", maxBytes)}
		}
		if len(a.rows) == 0 {
			a.value = first
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

// scan reads one row, and its first value.
func scan(rows *sql.Rows, kinds []*sql.ColumnType, d *Dialect) (row map[string]any, first any, err error) {
	values, into := make([]any, len(kinds)), make([]any, len(kinds))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, nil, err
	}
	row = make(map[string]any, len(kinds))
	for i, k := range kinds {
		v, err := d.Value(values[i], k.DatabaseTypeName())
		if err != nil {
			return nil, nil, &failed{codeInvalid, "", fmt.Sprintf("column %s: %v", k.Name(), err)}
		}
		row[k.Name()] = v
		if i == 0 {
			first = v
		}
	}
	return row, first, nil
}

// failure says what an error of the driver means. It has nothing of the connection.
func (p *pool) failure(doing string, err error) *failed {
	f := p.dialect.Failure(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || f.Late:
		return &failed{codeLate, f.State, doing + " took longer than its timeout, and was ended; nothing took effect"}
	case f.State == "":
		return &failed{codeUnreachable, "", doing + ": " + f.Text + "; nothing took effect"}
	case f.Again:
		return &failed{codeAgain, f.State, fmt.Sprintf("the database ended the transaction: %s %s; nothing took effect", f.State, f.Text)}
	}
	return &failed{codeRefused, f.State, fmt.Sprintf("the database refused %s: %s %s", doing, f.State, f.Text)}
}
