package archive

import (
	"context"
	"database/sql"
	"time"
)

// Plan is how SQLite says that it goes through a query.
func (a *Archive) Plan(ctx context.Context, q Query) (plan []string, err error) {
	text, args := a.statement(&q)
	rows, err := a.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			return nil, err
		}
		plan = append(plan, step)
	}
	return plan, rows.Err()
}

// Labels counts those of all instances.
func (a *Archive) Labels(ctx context.Context) (n int, err error) {
	err = a.db.QueryRowContext(ctx, "SELECT count(*) FROM weft_archive_label").Scan(&n)
	return n, err
}

// Impatient makes looks at the database short.
func (a *Archive) Impatient(timeout time.Duration) { a.timeout = timeout }

// Transaction asks within one as the archive writes in.
func (a *Archive) Transaction(ctx context.Context, statement string) (said string, err error) {
	err = a.write(ctx, time.Minute, func(tx *sql.Tx) error { return tx.QueryRowContext(ctx, statement).Scan(&said) })
	return said, err
}

// Heal lets the next one who asks try it.
func (a *Archive) Heal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until = time.Time{}
}
