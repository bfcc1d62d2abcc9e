package archive

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/workflow"
)

// What bounds a look at the database, and a write of a batch; and for how long it is not asked after it did not answer.
const (
	lookTimeout = 5 * time.Second
	putTimeout  = time.Minute
	rest        = 5 * time.Second
)

// Archive is a table in a database. Make it with [Open].
type Archive struct {
	cluster string
	db      *stdsql.DB
	kind    *kind
	file    string        // of SQLite
	timeout time.Duration // of a look
	turn    chan struct{} // has one in it while somebody looks whether the tables are there

	mu     sync.Mutex      // never held while the database is asked
	ready  bool            // the tables are there, and this cluster's; guarded by mu
	opened os.FileInfo     // of the file, when they were found; guarded by mu
	months map[string]bool // that have a partition; guarded by mu
	away   error           // why it did not answer the last time; guarded by mu
	until  time.Time       // when one who asks tries it again, if it is away; guarded by mu
}

// Config says which archive a node has. Without a connection it has none.
type Config struct {
	Databases    []*sql.Dialect // that the program has
	Connection   string         // see [Open]
	PasswordFile string
	Cluster      string
	Log          *slog.Logger
}

// Start is [Open] and [Archive.Check]; nil: there is none. A database that does not answer delays only that instances leave etcd, and no
// start: the log says so. One that can never be the archive is an error.
func Start(ctx context.Context, cfg Config) (*Archive, error) {
	if cfg.Connection == "" {
		if cfg.PasswordFile != "" {
			return nil, errors.New("archive-password-file is about an archive, and there is none")
		}
		return nil, nil
	}
	a, err := Open(cfg.Databases, cfg.Connection, cfg.PasswordFile, cfg.Cluster)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	switch err := a.Check(ctx); {
	case errors.Is(err, ErrRefused):
		return nil, errors.Join(fmt.Errorf("archive: %w", err), a.Close())
	case err != nil:
		cfg.Log.WarnContext(ctx, "the archive does not answer; finished instances stay in etcd until it does", slog.Any("error", err))
	}
	return a, nil
}

// Open gives the archive of a cluster that lies at a connection, such as sqlite:/var/lib/weft/archive.db or
// postgres://weft@db.example.com/archive?sslmode=verify-full, with a password that a file has ("": there is none). It connects to
// nothing yet.
func Open(dialects []*sql.Dialect, connection, passwordFile, cluster string) (*Archive, error) {
	password := ""
	if passwordFile != "" {
		raw, err := os.ReadFile(passwordFile)
		if err != nil {
			return nil, fmt.Errorf("the file with the password: %w", err)
		}
		if password = strings.TrimRight(string(raw), "\r\n"); password == "" {
			return nil, fmt.Errorf("the file with the password, %s, is empty", passwordFile)
		}
	}
	scheme, _, _ := strings.Cut(connection, ":")
	for _, d := range dialects {
		k := kindOf(d)
		if k == nil || !slices.Contains(d.Schemes, strings.ToLower(scheme)) {
			continue
		}
		text, err := k.connection(connection, password)
		if err != nil {
			return nil, err
		}
		db, err := d.Open(text)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(k.connections)
		db.SetMaxIdleConns(idleConnections)
		a := &Archive{cluster: cluster, db: db, kind: k, timeout: lookTimeout, turn: make(chan struct{}, 1), months: map[string]bool{}}
		if !k.partitioned {
			a.file = strings.TrimPrefix(connection[len(scheme)+1:], "//")
		}
		return a, nil
	}
	return nil, errors.New("it is to begin with sqlite: or postgres:, and this program is to have that database")
}

// Close gives the connections back. Of no archive it does nothing.
func (a *Archive) Close() error {
	if a == nil {
		return nil
	}
	return a.db.Close()
}

// Check connects, and makes the tables if there are none. The error is [ErrRefused] where it is of no use to try again.
// While a database does not answer one who asks waits for it at a time, and the others are told that it is away.
func (a *Archive) Check(ctx context.Context) error {
	ready, before, err := a.known()
	if ready || err != nil {
		return err
	}
	ours, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ours.Done():
		return a.failed(ctx, "the archive could not be opened", ours.Err())
	}
	a.mu.Lock()
	ready, away := a.ready, a.away
	a.mu.Unlock()
	switch {
	case ready:
		return nil
	case away != nil && away != before: //nolint:errorlint // the same one
		return away
	}
	return a.prepare(ctx, ours)
}

// known tells what is known without asking the database. The error is that it is away, or that its file is another one;
// away is why it did not answer before, and who gets it is the one that tries it.
func (a *Archive) known() (ready bool, away, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.away != nil {
		if time.Now().Before(a.until) {
			return false, nil, a.away
		}
		a.until = time.Now().Add(max(rest, a.timeout))
	}
	return a.ready, a.away, a.sameFile()
}

// sameFile refuses to go on with a file of SQLite that is not the one that was opened: what is written goes to that one, which nobody
// finds any more. Hold mu.
func (a *Archive) sameFile() error {
	if a.opened == nil {
		return nil
	}
	if now, err := os.Stat(a.file); err != nil || !os.SameFile(now, a.opened) {
		return refusal("the file of the archive is not the one that this node opened: it was removed or replaced; put it back, or start the node again with what is there")
	}
	return nil
}

// version of the tables.
const version = "2"

// prepare is Check, for one at a time; ours is asked's context with a limit.
func (a *Archive) prepare(asked, ours context.Context) error {
	found := map[string]string{}
	err := a.meta(ours, found)
	if err != nil || len(found) == 0 { // perhaps there are no tables yet
		if err := a.make(ours); err != nil {
			return a.failed(asked, "the tables of the archive could not be made", err)
		}
		if err := a.meta(ours, found); err != nil {
			return a.failed(asked, "the archive could not be read", err)
		}
	}
	switch {
	case found["version"] != version:
		return refusal(fmt.Sprintf("the tables of the archive are of version %s, and this program knows version %s; run the program that made it, or name another database", found["version"], version))
	case found["cluster"] != a.cluster:
		return refusal(fmt.Sprintf("the archive is that of the cluster %q, and this one is %q; name another database", found["cluster"], a.cluster))
	}
	if err := a.writable(ours); err != nil {
		return a.failed(asked, "the archive can be read, and not written", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.kind.partitioned {
		if a.opened, err = os.Stat(a.file); err != nil {
			return refusal("the file of the archive was removed while it was opened")
		}
	}
	a.ready, a.away = true, nil
	return nil
}

// writable does what takes the rights of all that comes, without a change: who may not is told at the start, and not by instances that stay.
func (a *Archive) writable(ctx context.Context) error {
	err := a.write(ctx, a.timeout, func(tx *stdsql.Tx) error {
		for _, s := range []string{
			"INSERT INTO weft_archive (" + names + ") SELECT " + names + " FROM weft_archive WHERE 1 = 0 ON CONFLICT (id, created) DO UPDATE SET sequence = excluded.sequence",
			"DELETE FROM weft_archive WHERE 1 = 0", "DELETE FROM weft_archive_deleted WHERE 1 = 0", "DELETE FROM weft_archive_label WHERE 1 = 0",
		} {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.partitions(ctx, []row{{created: time.Now().UnixMilli()}})
}

// make makes the tables. Several nodes may do it at once: the first says whose they are.
func (a *Archive) make(ctx context.Context) error {
	return a.write(ctx, a.timeout, func(tx *stdsql.Tx) error {
		for _, s := range a.kind.tables {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, a.kind.text("INSERT INTO weft_archive_meta (name, value) VALUES ('version', '"+version+"'), ('cluster', ?) ON CONFLICT DO NOTHING"), a.cluster)
		return err
	})
}

func (a *Archive) meta(ctx context.Context, into map[string]string) error {
	rows, err := a.db.QueryContext(ctx, "SELECT name, value FROM weft_archive_meta")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		into[name] = value
	}
	return rows.Err()
}

// idleConnections are how many stay open between questions.
const idleConnections = 4

// write runs do in a transaction.
func (a *Archive) write(ctx context.Context, limit time.Duration, do func(*stdsql.Tx) error) error {
	conn, err := a.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := a.kind.prepare(ctx, conn); err != nil {
		return err
	}
	tx, err := a.kind.dialect.Begin(ctx, conn, limit)
	if err != nil {
		return err
	}
	if a.kind.durable != "" {
		if _, err := tx.ExecContext(ctx, a.kind.durable); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// failed is an error for people, without anything of the connection: what the database said, and whether it is of use
// to try again. One that did not answer is not asked for a while, unless it was the caller who had no time.
func (a *Archive) failed(ctx context.Context, what string, err error) error {
	f := a.kind.dialect.Failure(err)
	if f.Text == "" {
		f.Text = "it did not answer"
	}
	text := fmt.Sprintf("%s: %s says: %s", what, a.kind.dialect.Name, f.Text)
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("%s: %s did not answer in time", what, a.kind.dialect.Name)
	} else if refused(f.State) || !a.kind.partitioned && f.State == "" {
		if f.State == "" {
			text += fmt.Sprintf("; it is %s, and its directory has to be there and writable", a.file)
		}
		return refusal(text)
	}
	told := &workflow.Error{Code: workflow.CodeUnavailable, Detail: text, RetryAfter: time.Second}
	if f.State == "" && ctx.Err() == nil { // connections that lie idle may be as dead as this one: each would take who comes next as long
		a.db.SetMaxIdleConns(0)
		a.db.SetMaxIdleConns(idleConnections)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case f.State != "":
		a.away = nil // it answered
	case ctx.Err() == nil:
		told.RetryAfter = rest
		a.away, a.until = told, time.Now().Add(rest)
	}
	return told
}

// answered is failed, of what succeeded, too.
func (a *Archive) answered(ctx context.Context, what string, err error) error {
	if err != nil {
		return a.failed(ctx, what, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = nil
	return nil
}

func refusal(text string) error {
	return &workflow.Error{Code: workflow.CodeUnavailable, Detail: text, RetryAfter: time.Minute, Err: ErrRefused}
}

// refused reports whether a state says that somebody has to change something: wrong credentials, missing rights or
// database, a database that is only read, a file that is none.
func refused(state string) bool {
	for _, class := range []string{"28", "3D", "42501", "25006", "SQLITE26"} {
		if strings.HasPrefix(state, class) {
			return true
		}
	}
	return false
}
