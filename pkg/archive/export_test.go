package archive

import "context"

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
