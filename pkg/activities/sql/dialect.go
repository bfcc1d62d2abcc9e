package sql

import (
	"context"
	"database/sql"
	"time"
)

// Dialect is a kind of database, with what is its own.
type Dialect struct {
	Name    string   // such as PostgreSQL
	Schemes []string // how texts of connections begin, up to the colon
	Clients []string // what Elsa calls it, in small letters and without spaces

	// Open makes a pool, and connects to nothing. Its error has nothing of the text.
	Open func(connection string) (*sql.DB, error)
	// Begin begins a transaction on a connection, which ends by itself after limit, where the database can do that.
	Begin func(ctx context.Context, conn *sql.Conn, limit time.Duration) (*sql.Tx, error)
	// Parameter is the n-th parameter in the text of a statement, from 1.
	Parameter func(n int) string
	// Argument is a value of workflows as the driver takes it.
	Argument func(v any) (any, error)
	// Value is a value of the driver, of a column of this type, as workflows have it.
	Value func(v any, column string) (any, error)
	// Failure says what an error of the driver is.
	Failure func(err error) Failure
	// Calls makes the table that once writes to.
	Calls string
}

// Failure is what the database said.
type Failure struct {
	State string // the SQLSTATE, or what the database has in its place; "": it did not answer
	Text  string // what it said, without anything of the connection
	Again bool   // another attempt may succeed
	Late  bool   // it ended the statement, since its time was over
}
