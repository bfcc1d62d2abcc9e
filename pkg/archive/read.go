package archive

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Instance gives what people see of an instance, of several of one id the one that was made last; nil: there is none.
func (a *Archive) Instance(ctx context.Context, id string) (*workflow.Instance, error) {
	it, err := a.get(ctx, "''", id)
	if err != nil || it == nil {
		return nil, err
	}
	return &it.Instance, nil
}

// Get is [Archive.Instance], with all that is kept.
func (a *Archive) Get(ctx context.Context, id string) (*Item, error) { return a.get(ctx, "body", id) }

func (a *Archive) get(ctx context.Context, what, id string) (*Item, error) {
	if err := a.Check(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var header, whole []byte
	it := &Item{}
	err := a.db.QueryRowContext(ctx, a.kind.text("SELECT header, "+what+", sequence, life FROM weft_archive WHERE id = ? ORDER BY created DESC LIMIT 1"), id).Scan(&header, &whole, &it.Sequence, &it.Life)
	switch {
	case errors.Is(err, stdsql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, a.failed("the archive could not be read", err)
	}
	if err := unpack(header, &it.Instance); err != nil {
		return nil, damaged(id, err)
	}
	if len(whole) > 0 {
		var b body
		if err := unpack(whole, &b); err != nil {
			return nil, damaged(id, err)
		}
		it.State, it.Journal = b.State, b.Journal
	}
	return it, nil
}

func damaged(id string, err error) error {
	return workflow.Fail(workflow.CodeInternal, fmt.Sprintf("what the archive has of instance %q cannot be read: %v", id, err))
}

func unpack(raw []byte, into any) error {
	text, err := unpacker.DecodeAll(raw, nil)
	if err != nil {
		return err
	}
	return workflow.Unmarshal(text, into)
}

// List gives what people see of instances, in the order of the query, [Query.Limit] at most. One that cannot be read says
// so, see [workflow.Instance.Damaged].
func (a *Archive) List(ctx context.Context, q Query) ([]workflow.Instance, error) {
	if err := a.Check(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	text, args := a.statement(&q)
	rows, err := a.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, a.failed("the archive could not be listed", err)
	}
	defer func() { _ = rows.Close() }()
	var out []workflow.Instance
	for rows.Next() {
		var id string
		var created int64
		var header []byte
		if err := rows.Scan(&id, &created, &header); err != nil {
			return nil, a.failed("the archive could not be listed", err)
		}
		in := workflow.Instance{}
		if err := unpack(header, &in); err != nil {
			in = workflow.Instance{ID: id, CreatedAt: time.UnixMilli(created).UTC(), Damaged: err.Error()}
		}
		out = append(out, in)
	}
	if err := rows.Err(); err != nil {
		return nil, a.failed("the archive could not be listed", err)
	}
	return out, nil
}

func (a *Archive) statement(q *Query) (text string, args []any) {
	var where []string
	and := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if len(q.IDs) > 0 {
		ids := make([]any, len(q.IDs))
		for i, id := range q.IDs {
			ids[i] = id
		}
		and("id IN (?"+strings.Repeat(", ?", len(ids)-1)+")", ids...)
	}
	if q.DefinitionID != "" {
		and("definition = ?", key(q.DefinitionID))
	}
	if q.CorrelationID != "" {
		and("correlation = ?", key(q.CorrelationID))
	}
	if !q.After.IsZero() { // to the millisecond: callers look closer
		and("created >= ?", q.After.UnixMilli())
	}
	if !q.Before.IsZero() {
		and("created <= ?", q.Before.UnixMilli())
	}
	than, order := "<", " DESC"
	if q.OldestFirst {
		than, order = ">", ""
	}
	if q.From != nil {
		and("(created, id) "+than+" (?, ?)", q.From.Created, q.From.ID)
	}
	text = "SELECT id, created, header FROM weft_archive"
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, q.Limit)
	return a.kind.text(text + " ORDER BY created" + order + ", id" + order + " LIMIT ?"), args
}
