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

// timeout bounds a look at the database, and putTimeout a write of a batch.
const (
	timeout    = 10 * time.Second
	putTimeout = time.Minute
)

// Archive is a table in a database. Make it with [Open].
type Archive struct {
	cluster string
	db      *stdsql.DB
	kind    *kind

	mu     sync.Mutex
	ready  bool            // the tables are there, and this cluster's; guarded by mu
	months map[string]bool // that have a partition; guarded by mu
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
		return &Archive{cluster: cluster, db: db, kind: k, months: map[string]bool{}}, nil
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
func (a *Archive) Check(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ready {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := a.prepare(ctx); err != nil {
		return err
	}
	a.ready = true
	return nil
}

// version of the tables.
const version = "1"

func (a *Archive) prepare(ctx context.Context) error {
	found := map[string]string{}
	err := a.meta(ctx, found)
	if err != nil || len(found) == 0 { // perhaps there are no tables yet
		if err := a.make(ctx); err != nil {
			return a.failed("the tables of the archive could not be made", err)
		}
		if err := a.meta(ctx, found); err != nil {
			return a.failed("the archive could not be read", err)
		}
	}
	switch {
	case found["version"] != version:
		return refusal(fmt.Sprintf("the tables of the archive are of version %s, and this program knows version %s; run the program that made it, or name another database", found["version"], version))
	case found["cluster"] != a.cluster:
		return refusal(fmt.Sprintf("the archive is that of the cluster %q, and this one is %q; name another database", found["cluster"], a.cluster))
	}
	return nil
}

// make makes the tables. Several nodes may do it at once: the first says whose they are.
func (a *Archive) make(ctx context.Context) error {
	return a.write(ctx, timeout, func(tx *stdsql.Tx) error {
		for _, s := range append(slices.Clone(a.kind.tables), a.kind.text("INSERT INTO weft_archive_meta (name, value) VALUES ('version', '"+version+"'), ('cluster', ?) ON CONFLICT DO NOTHING")) {
			var args []any
			if strings.Contains(s, "weft_archive_meta (name, value)") {
				args = []any{a.cluster}
			}
			if _, err := tx.ExecContext(ctx, s, args...); err != nil {
				return err
			}
		}
		return nil
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
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// failed is an error for people, without anything of the connection: what the database said, and whether it is of use
// to try again.
func (a *Archive) failed(what string, err error) error {
	f := a.kind.dialect.Failure(err)
	if f.Text == "" {
		f.Text = "it did not answer"
	}
	text := fmt.Sprintf("%s: %s says: %s", what, a.kind.dialect.Name, f.Text)
	if refused(f.State) || !a.kind.partitioned && f.State == "" {
		return refusal(text)
	}
	return &workflow.Error{Code: workflow.CodeUnavailable, Detail: text, RetryAfter: time.Second}
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
