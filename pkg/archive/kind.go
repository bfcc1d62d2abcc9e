package archive

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/weft-run/weft/pkg/activities/sql"
)

// kind is what a kind of database has of its own.
type kind struct {
	dialect     *sql.Dialect
	connections int
	tables      []string
	prepare     func(context.Context, *stdsql.Conn) error
	partitioned bool
	clock       string // the time of the database, in milliseconds since 1970
	putting     string // a lock that those who put share, and who deletes has alone
	deleting    string
	durable     string // what a transaction begins with, so that its commit is on the disk
}

// names are those of the columns.
const names = "id, created, sequence, life, finished, status, definition, correlation, parent, header, body"

// The order of ids is that of bytes: that of a language changes with the library of the system, and then an index of it is wrong.
const columns = `id TEXT %[2]s NOT NULL, created BIGINT NOT NULL, sequence BIGINT NOT NULL, life BIGINT NOT NULL, finished BIGINT NOT NULL, status TEXT %[2]s NOT NULL, definition TEXT %[2]s NOT NULL, correlation TEXT %[2]s NOT NULL, parent TEXT %[2]s NOT NULL, header %[1]s NOT NULL, body %[1]s NOT NULL, PRIMARY KEY (id, created)`

// indexes are what lists go through. Of those of PostgreSQL each partition has its own.
var indexes = []string{
	"CREATE INDEX IF NOT EXISTS weft_archive_created ON weft_archive (created, id)",
	"CREATE INDEX IF NOT EXISTS weft_archive_definition ON weft_archive (definition, created, id)",
	"CREATE INDEX IF NOT EXISTS weft_archive_correlation ON weft_archive (correlation, created, id)",
	"CREATE INDEX IF NOT EXISTS weft_archive_status ON weft_archive (status, created, id)",
	"CREATE INDEX IF NOT EXISTS weft_archive_parent ON weft_archive (parent, created, id) WHERE parent <> ''",
	"CREATE INDEX IF NOT EXISTS weft_archive_finished ON weft_archive (finished)",
	"CREATE INDEX IF NOT EXISTS weft_archive_label_of ON weft_archive_label (id, created)",
}

// labelColumns are those of the table that has the labels of instances. What is left of an older life does no harm: who lists looks
// at what is found.
const labelColumns = `label TEXT %[1]s NOT NULL, created BIGINT NOT NULL, id TEXT %[1]s NOT NULL, PRIMARY KEY (label, created, id)`

// deletedTable has what was deleted a short while ago, see [Archive.Delete].
const deletedTable = `CREATE TABLE IF NOT EXISTS weft_archive_deleted (id TEXT %s PRIMARY KEY, at BIGINT NOT NULL)`

const metaTable = "CREATE TABLE IF NOT EXISTS weft_archive_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"

// lock keeps two nodes from making tables at once, which PostgreSQL answers with an error to one of them.
const lock = "SELECT pg_advisory_xact_lock(8385262201)"

// patience is how long a change of the tables waits for who reads them, a dump for example: all others wait behind it.
const patience = "SET LOCAL lock_timeout = '2s'"

// kindOf knows the databases by their schemes; nil: it is none that can be an archive.
func kindOf(d *sql.Dialect) *kind {
	switch d.Schemes[0] {
	case "sqlite":
		return &kind{
			dialect: d, connections: 8,
			clock: "unixepoch() * 1000",
			tables: append([]string{metaTable, fmt.Sprintf(deletedTable, ""), fmt.Sprintf("CREATE TABLE IF NOT EXISTS weft_archive ("+columns+")", "BLOB", ""),
				fmt.Sprintf("CREATE TABLE IF NOT EXISTS weft_archive_label ("+labelColumns+") WITHOUT ROWID", "")}, indexes...),
			// Readers and the writer do not wait for each other then. The file keeps it; it cannot be set within a transaction.
			prepare: func(ctx context.Context, c *stdsql.Conn) error {
				_, err := c.ExecContext(ctx, "PRAGMA journal_mode=WAL")
				return err
			},
		}
	case "postgres":
		return &kind{
			dialect: d, connections: 8, partitioned: true,
			clock:   "(extract(epoch FROM now()) * 1000)::bigint",
			putting: "SELECT pg_advisory_xact_lock_shared(8385262202)", deleting: "SELECT pg_advisory_xact_lock(8385262202)",
			durable: "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'",
			tables: append([]string{
				lock, metaTable, fmt.Sprintf(deletedTable, `COLLATE "C"`), fmt.Sprintf("CREATE TABLE IF NOT EXISTS weft_archive ("+columns+") PARTITION BY RANGE (created)", "BYTEA", `COLLATE "C"`),
				"CREATE TABLE IF NOT EXISTS weft_archive_other PARTITION OF weft_archive DEFAULT",
				fmt.Sprintf("CREATE TABLE IF NOT EXISTS weft_archive_label ("+labelColumns+") PARTITION BY RANGE (created)", `COLLATE "C"`),
				"CREATE TABLE IF NOT EXISTS weft_archive_label_other PARTITION OF weft_archive_label DEFAULT",
			}, indexes...),
			prepare: func(context.Context, *stdsql.Conn) error { return nil },
		}
	}
	return nil
}

// connection adds the password, and what the archive needs, to the text.
func (k *kind) connection(text, password string) (string, error) {
	if !k.partitioned {
		if password != "" {
			return "", errors.New("a file of SQLite has no password")
		}
		if strings.Contains(text, "?") {
			return "", errors.New("it is to be sqlite:/path/of/a/file.db, with nothing behind the path")
		}
		return text + "?mode=rwc", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || !strings.Contains(text, "://") { // as words, which pgx takes, too, and where a password may be
		return "", errors.New("it cannot be read; it is to be postgres://user@host:port/database?sslmode=verify-full") // the cause has the text
	}
	if _, given := u.User.Password(); given || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return "", errors.New("it has a password, which everybody sees who may list the processes; put it into a file of its own")
	}
	if password != "" {
		u.User = url.UserPassword(u.User.Username(), password)
	}
	return u.String(), nil
}

// text has the parameters of the database in the place of question marks.
func (k *kind) text(statement string) string {
	var out strings.Builder
	for n, part := range strings.Split(statement, "?") {
		if n > 0 {
			out.WriteString(k.dialect.Parameter(n))
		}
		out.WriteString(part)
	}
	return out.String()
}
