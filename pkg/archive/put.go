package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-run/weft/pkg/workflow"
)

// body is what no list reads.
type body struct {
	State   json.RawMessage         `json:"state,omitempty"`
	Journal []workflow.JournalEntry `json:"journal,omitempty"`
}

// row is an instance as it is kept.
type row struct {
	created, sequence, life, finished       int64
	id                                      string
	status, definition, correlation, parent string
	labels                                  []string
	header, body                            []byte
}

// rowsAtOnce is how many rows a statement has.
const rowsAtOnce = 100

// Put keeps instances that have ended; all of them, or none. What is there of the same life of an instance stays if it is as new; where etcd was
// restored from a backup it ends again, later, and may have counted no further. That of another life goes: to have one after the other takes longer than a Put may, so what is put is the later one, however far it has counted. What was deleted a moment ago is not put, see [Archive.Delete].
func (a *Archive) Put(ctx context.Context, items []Item) error {
	if err := a.Check(ctx); err != nil {
		return err
	}
	rows := map[Place]row{}
	for i := range items {
		r, err := rowOf(&items[i])
		if err != nil {
			return fmt.Errorf("instance %q cannot be archived: %w", items[i].Instance.ID, err)
		}
		if at := (Place{r.created, r.id}); rows[at].life != r.life || rows[at].sequence <= r.sequence {
			rows[at] = r
		}
	}
	all := make([]row, 0, len(rows))
	for _, r := range rows {
		all = append(all, r)
	}
	// In one order, so that two nodes that put the same do not wait for each other.
	slices.SortFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(a.created, b.created), strings.Compare(a.id, b.id)) })
	ours, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	if err := a.partitions(ours, all); err != nil {
		return a.failed(ctx, "a month of the archive could not be made", err)
	}
	err := a.write(ours, putTimeout, func(tx *stdsql.Tx) error {
		if a.kind.putting != "" {
			if _, err := tx.ExecContext(ours, a.kind.putting); err != nil {
				return err
			}
		}
		for chunk := range slices.Chunk(all, rowsAtOnce) {
			if err := a.insert(ours, tx, chunk); err != nil {
				return err
			}
		}
		return nil
	})
	if err := a.answered(ctx, fmt.Sprintf("%d instances could not be archived", len(all)), err); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sameFile() // it may have gone since it was looked for
}

func (a *Archive) insert(ctx context.Context, tx *stdsql.Tx, rows []row) error {
	const one = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	args := make([]any, 0, 11*len(rows))
	for _, r := range rows {
		args = append(args, r.id, r.created, r.sequence, r.life, r.finished, r.status, r.definition, r.correlation, r.parent, r.header, r.body)
	}
	_, err := tx.ExecContext(ctx, a.kind.text("INSERT INTO weft_archive ("+names+") VALUES "+
		one+strings.Repeat(", "+one, len(rows)-1)+
		" ON CONFLICT (id, created) DO UPDATE SET sequence = excluded.sequence, life = excluded.life, finished = excluded.finished, status = excluded.status, definition = excluded.definition, correlation = excluded.correlation, parent = excluded.parent, header = excluded.header, body = excluded.body WHERE excluded.sequence > weft_archive.sequence OR excluded.life <> weft_archive.life OR excluded.finished > weft_archive.finished"), args...)
	if err != nil {
		return err
	}
	ids := make([]any, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	if err := a.insertLabels(ctx, tx, rows); err != nil {
		return err
	}
	for _, table := range tables {
		_, err = tx.ExecContext(ctx, a.kind.text("DELETE FROM "+table+" WHERE id IN (?"+strings.Repeat(", ?", len(ids)-1)+") AND id IN (SELECT id FROM weft_archive_deleted WHERE at >= "+
			a.kind.clock+fmt.Sprintf(" - %d)", deletedFor)), ids...)
		if err != nil {
			return err
		}
	}
	return nil
}

// tables are those that have something of an instance.
var tables = []string{"weft_archive", "weft_archive_label"}

func (a *Archive) insertLabels(ctx context.Context, tx *stdsql.Tx, rows []row) error {
	var args []any
	for _, r := range rows {
		for _, l := range r.labels {
			args = append(args, l, r.created, r.id)
		}
	}
	const one = "(?, ?, ?)"
	for chunk := range slices.Chunk(args, 3*labelsAtOnce) {
		_, err := tx.ExecContext(ctx, a.kind.text("INSERT INTO weft_archive_label (label, created, id) VALUES "+one+strings.Repeat(", "+one, len(chunk)/3-1)+" ON CONFLICT DO NOTHING"), chunk...)
		if err != nil {
			return err
		}
	}
	return nil
}

// labelsAtOnce is how many labels a statement has.
const labelsAtOnce = 1000

func rowOf(it *Item) (row, error) {
	in := &it.Instance
	header, err := workflow.Marshal(in)
	if err != nil {
		return row{}, err
	}
	whole, err := workflow.Marshal(body{it.State, it.Journal})
	if err != nil {
		return row{}, err
	}
	ended := in.UpdatedAt
	if in.FinishedAt != nil {
		ended = *in.FinishedAt
	}
	parent := ""
	if in.Parent != nil {
		parent = in.Parent.InstanceID
	}
	labels := make([]string, 0, len(in.Labels))
	for _, name := range slices.Sorted(maps.Keys(in.Labels)) {
		labels = append(labels, label(name, in.Labels[name]))
	}
	return row{
		status: string(in.SubStatus), parent: key(parent), labels: labels,
		id: in.ID, created: in.CreatedAt.UnixMilli(), sequence: it.Sequence, life: it.Life, finished: ended.UnixMilli(),
		definition: key(in.DefinitionID), correlation: key(in.CorrelationID), header: packer.EncodeAll(header, nil), body: packer.EncodeAll(whole, nil),
	}, nil
}

// Coders of zstd that are asked for whole texts need no owner.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
)

// mostKey is how many bytes of a text an index has: PostgreSQL takes some 2,700 for all columns of one.
const mostKey = 600

// storable reports whether PostgreSQL takes a text: it takes no zero byte, and nothing that is not UTF-8.
func storable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// key is a text as it is indexed, which is no long one.
func key(text string) string {
	if len(text) <= mostKey && storable(text) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// label is a label as it is indexed.
func label(name, value string) string { return key(name + "=" + value) }

// Months that have a partition of their own: what is far from now is in the one for all others, so that nobody makes
// thousands of tables with a date.
const (
	monthsBack  = 24
	monthsAhead = 1
)

// partitions makes those that rows need.
func (a *Archive) partitions(ctx context.Context, rows []row) error {
	if !a.kind.partitioned {
		return nil
	}
	now := time.Now().UTC()
	for _, r := range rows {
		at := time.UnixMilli(r.created).UTC()
		from := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
		name := partition(from)
		if a.hasMonth(name) || from.Before(now.AddDate(0, -monthsBack, 0)) || from.After(now.AddDate(0, monthsAhead, 0)) {
			continue
		}
		err := a.write(ctx, a.timeout, func(tx *stdsql.Tx) error {
			span := fmt.Sprintf(" FOR VALUES FROM (%d) TO (%d)", from.UnixMilli(), from.AddDate(0, 1, 0).UnixMilli())
			for _, s := range []string{
				patience, lock, "CREATE TABLE IF NOT EXISTS " + name + " PARTITION OF weft_archive" + span,
				"CREATE TABLE IF NOT EXISTS " + labelsOf(name) + " PARTITION OF weft_archive_label" + span,
			} {
				if _, err := tx.ExecContext(ctx, s); err != nil {
					return err
				}
			}
			return nil
		})
		// Some of the month are in the partition for all others already, since a node had dropped it: there they stay.
		if err != nil && a.kind.dialect.Failure(err).State != checkViolation {
			return err
		}
		a.mu.Lock()
		a.months[name] = true
		a.mu.Unlock()
	}
	return nil
}

func (a *Archive) hasMonth(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.months[name]
}

// checkViolation is what PostgreSQL says then.
const checkViolation = "23514"

// monthName is the name of a month's partition, as a layout of time.
const monthName = "weft_archive_2006_01"

func partition(month time.Time) string { return month.Format(monthName) }

// labelsOf is the partition of the labels of a month, or of all others.
func labelsOf(partition string) string {
	return strings.Replace(partition, "weft_archive", "weft_archive_label", 1)
}
