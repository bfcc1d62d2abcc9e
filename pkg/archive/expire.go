package archive

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"time"
)

// deletedFor is how long an id that was deleted is not put, in milliseconds: longer than a [Archive.Put] lasts that was under way, with what
// was read for it, and less than the ten minutes that a new instance of this id is in etcd at least.
const deletedFor = 5 * 60 * 1000

// Delete removes all that is kept of an id, and reports whether there was something. Somebody may have read the instance, and be about
// to put it: it is not put for some minutes.
func (a *Archive) Delete(ctx context.Context, id string) (bool, error) {
	if err := a.Check(ctx); err != nil || !storable(id) {
		return false, err
	}
	ours, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	var n int64
	err := a.write(ours, a.timeout, func(tx *stdsql.Tx) error {
		if a.kind.deleting != "" {
			if _, err := tx.ExecContext(ours, a.kind.deleting); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ours, a.kind.text("INSERT INTO weft_archive_deleted (id, at) VALUES (?, "+a.kind.clock+") ON CONFLICT (id) DO UPDATE SET at = excluded.at"), id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ours, fmt.Sprintf("DELETE FROM weft_archive_deleted WHERE at < %s - %d", a.kind.clock, deletedFor)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ours, a.kind.text("DELETE FROM weft_archive_label WHERE id = ?"), id); err != nil {
			return err
		}
		done, err := tx.ExecContext(ours, a.kind.text("DELETE FROM weft_archive WHERE id = ?"), id)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n > 0, a.answered(ctx, "instance "+id+" could not be removed from the archive", err)
}

// removeSome removes a thousand instances of a table that ended before, with their labels, and gives how many there were.
func (a *Archive) removeSome(ctx context.Context, table string, before int64) (n int64, err error) {
	some := " WHERE (id, created) IN (SELECT id, created FROM " + table + " WHERE finished < ? ORDER BY finished, id LIMIT 1000)"
	err = a.write(ctx, a.timeout, func(tx *stdsql.Tx) error {
		if _, err := tx.ExecContext(ctx, a.kind.text("DELETE FROM "+labelsOf(table)+some), before); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, a.kind.text("DELETE FROM "+table+some), before)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, err
}

// Expire removes what ended longer ago than keep. The time is now, or that of the newest end or of PostgreSQL if that is earlier, so that a
// clock that is ahead deletes nothing that is not old beside what ended last. In PostgreSQL a month goes when all that was made in it has ended before then;
// of what has no month of its own, and in SQLite, a thousand instances go at a time. It gives how many went.
func (a *Archive) Expire(ctx context.Context, now time.Time, keep time.Duration) (gone int64, err error) {
	if err := a.Check(ctx); err != nil {
		return 0, err
	}
	newest, err := a.newestEnd(ctx)
	if err != nil {
		return 0, a.failed(ctx, "the archive could not be read", err)
	}
	before := min(now.UnixMilli(), newest) - keep.Milliseconds()
	table := "weft_archive"
	if a.kind.partitioned {
		if gone, err = a.dropMonths(ctx, before); err != nil {
			return gone, a.failed(ctx, "old months of the archive could not be dropped", err)
		}
		table = "weft_archive_other"
	}
	for {
		part, cancel := context.WithTimeout(ctx, a.timeout)
		n, err := a.removeSome(part, table, before)
		cancel()
		if err != nil {
			return gone, a.failed(ctx, "old instances could not be removed from the archive", err)
		}
		if gone += n; n < 1000 {
			return gone, nil
		}
	}
}

// newestEnd is when what ended last did, in milliseconds since 1970; 0 if there is nothing.
func (a *Archive) newestEnd(ctx context.Context) (newest int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	text := "SELECT coalesce(max(finished), 0) FROM weft_archive"
	if a.kind.partitioned { // whose own clock counts, too
		text = "SELECT least(coalesce(max(finished), 0), (extract(epoch FROM now()) * 1000)::bigint) FROM weft_archive"
	}
	err = a.db.QueryRowContext(ctx, text).Scan(&newest)
	return newest, err
}

// dropMonths drops the partitions of which everything ended before.
func (a *Archive) dropMonths(ctx context.Context, before int64) (gone int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	rows, err := a.db.QueryContext(ctx, "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'weft_archive'::regclass")
	if err != nil {
		return 0, err
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			_ = rows.Close()
			return 0, err
		}
		if month, err := time.Parse(monthName, name); err == nil && month.AddDate(0, 1, 0).UnixMilli() <= before {
			names = append(names, name)
		}
	}
	_ = rows.Close()
	if err := rows.Err(); err != nil {
		return 0, err
	}
	for _, name := range names {
		dropped, n, err := a.dropMonth(ctx, name, before)
		if err != nil {
			return gone, err
		}
		if gone += n; dropped {
			a.mu.Lock()
			delete(a.months, name)
			a.mu.Unlock()
		}
	}
	return gone, nil
}

// dropMonth drops a partition if nothing in it ended later. The lock keeps others from putting something in between.
func (a *Archive) dropMonth(ctx context.Context, name string, before int64) (dropped bool, n int64, err error) {
	err = a.write(ctx, a.timeout, func(tx *stdsql.Tx) error {
		var later bool
		if err := tx.QueryRowContext(ctx, a.kind.text("SELECT EXISTS (SELECT 1 FROM "+name+" WHERE finished >= ?)"), before).Scan(&later); err != nil || later {
			return err
		}
		if _, err := tx.ExecContext(ctx, patience); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "LOCK TABLE weft_archive, weft_archive_label IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, a.kind.text("SELECT EXISTS (SELECT 1 FROM "+name+" WHERE finished >= ?), (SELECT count(*) FROM "+name+")"), before).Scan(&later, &n); err != nil || later {
			n = 0
			return err
		}
		_, err := tx.ExecContext(ctx, "DROP TABLE "+name+", "+labelsOf(name))
		dropped = err == nil
		return err
	})
	return dropped, n, err
}
