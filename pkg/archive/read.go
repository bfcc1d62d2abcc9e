package archive

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Instance gives what people see of an instance, of several of one id the one that was made last; nil: there is none, or no archive.
func (a *Archive) Instance(ctx context.Context, id string) (*workflow.Instance, error) {
	if a == nil {
		return nil, nil
	}
	it, err := a.get(ctx, "''", id)
	if err != nil || it == nil {
		return nil, err
	}
	return &it.Instance, nil
}

// Get is [Archive.Instance], with all that is kept.
func (a *Archive) Get(ctx context.Context, id string) (*Item, error) { return a.get(ctx, "body", id) }

func (a *Archive) get(ctx context.Context, what, id string) (*Item, error) {
	if err := a.Check(ctx); err != nil || !storable(id) {
		return nil, err
	}
	ours, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	var header, whole []byte
	it := &Item{}
	err := a.db.QueryRowContext(ours, a.kind.text("SELECT header, "+what+", sequence, life FROM weft_archive WHERE id = ? ORDER BY created DESC LIMIT 1"), id).Scan(&header, &whole, &it.Sequence, &it.Life)
	none := errors.Is(err, stdsql.ErrNoRows)
	if none {
		err = nil
	}
	if err := a.answered(ctx, "the archive could not be read", err); err != nil || none {
		return nil, err
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

// mostListed is how many bytes of instances a list gives at most, but for one: what is larger comes in several.
const mostListed = 8 << 20

// List gives what people see of instances, in the order of the query, [Query.Limit] at most, and tells whether there may be more: also
// large ones come in several lists. One that cannot be read says so, see [workflow.Instance.Damaged].
func (a *Archive) List(ctx context.Context, q Query) (found []workflow.Instance, more bool, err error) {
	if err := a.Check(ctx); err != nil {
		return nil, false, err
	}
	if q.From != nil && !storable(q.From.ID) {
		return nil, false, workflow.Fail(workflow.CodeInvalid, "the cursor is not one of a list of instances")
	}
	ours, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	found, more, err = a.list(ours, &q)
	return found, more, a.answered(ctx, "the archive could not be listed", err)
}

func (a *Archive) list(ctx context.Context, q *Query) (out []workflow.Instance, more bool, err error) {
	text, args := a.statement(q)
	rows, err := a.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = rows.Close() }()
	bytes := 0
	for rows.Next() {
		var id string
		var created int64
		var header []byte
		if err := rows.Scan(&id, &created, &header); err != nil {
			return nil, false, err
		}
		in := workflow.Instance{}
		raw, err := unpacker.DecodeAll(header, nil)
		if err == nil {
			err = workflow.Unmarshal(raw, &in)
		}
		if err != nil {
			in = workflow.Instance{ID: id, CreatedAt: time.UnixMilli(created).UTC(), Damaged: err.Error()}
		}
		out = append(out, in)
		if bytes += len(raw); bytes >= mostListed {
			return out, true, nil
		}
	}
	return out, len(out) == q.Limit, rows.Err()
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
		and("a.id IN (?"+strings.Repeat(", ?", len(ids)-1)+")", ids...)
	}
	if q.DefinitionID != "" {
		and("a.definition = ?", key(q.DefinitionID))
	}
	if q.CorrelationID != "" {
		and("a.correlation = ?", key(q.CorrelationID))
	}
	if q.SubStatus != "" {
		and("a.status = ?", string(q.SubStatus))
	}
	if q.Parent != "" {
		and("a.parent = ? AND a.parent <> ''", key(q.Parent)) // as the index says it
	}
	from, first := "weft_archive a", "a."
	for n, name := range slices.Sorted(maps.Keys(q.Labels)) {
		if n == 0 { // the list goes through those that have it
			from, first = "weft_archive_label l JOIN weft_archive a ON a.id = l.id AND a.created = l.created", "l."
			and("l.label = ?", label(name, q.Labels[name]))
			continue
		}
		and("EXISTS (SELECT 1 FROM weft_archive_label o WHERE o.label = ? AND o.created = a.created AND o.id = a.id)", label(name, q.Labels[name]))
	}
	if !q.After.IsZero() { // to the millisecond: callers look closer
		and("a.created >= ?", q.After.UnixMilli())
	}
	if !q.Before.IsZero() {
		and("a.created <= ?", q.Before.UnixMilli())
	}
	than, order := "<", " DESC"
	if q.OldestFirst {
		than, order = ">", ""
	}
	if q.From != nil {
		and("("+first+"created, "+first+"id) "+than+" (?, ?)", q.From.Created, q.From.ID)
	}
	text = "SELECT a.id, a.created, a.header FROM " + from
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, q.Limit)
	return a.kind.text(text + " ORDER BY " + first + "created" + order + ", " + first + "id" + order + " LIMIT ?"), args
}
