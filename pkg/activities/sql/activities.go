package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// The types of the activities.
const (
	QueryType   = "Elsa.SqlQuery"
	CommandType = "Elsa.SqlCommand"
	ValueType   = "Elsa.SqlSingleValue"
)

const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = 10 * time.Minute
	defaultRows    = 1000
	maxRows        = 10_000
	maxBytes       = 1 << 20 // of what a query gives, about
)

// connectionInputs are those that all of them have.
func connectionInputs(text, does string) []workflow.InputDescriptor {
	return []workflow.InputDescriptor{
		{Name: text, Type: "String", Required: true, Raw: true, Description: does + " ${{ }} in it, or {{Variable.Name}} and {{Input.Name}} as Elsa has them, are parameters; they need no quotes, and what they give is no part of the text."},
		{Name: "connection", Type: "String", Description: "The name of a secret that has the text of the connection: postgres: with user, password, host and database, or sqlite: with the path of a file. It is looked up at each call."},
		{Name: "connectionString", Type: "String", Sensitive: true, Description: "In place of connection, as Elsa has it: an expression that gives the whole value of a secret, such as ${{ secrets.shop }}."},
		{Name: "client", Type: "String", Usual: []string{"PostgreSql", "Sqlite"}, Description: "Elsa's name of the kind of database. The text of the connection says it too."},
		{Name: "timeout", Type: "TimeSpan", Default: defaultTimeout.String(), Positive: true, Description: "How long it may take, up to 10m; the database ends the statement then."},
	}
}

const faults = " What fails is an incident, or a failed attempt of its retry. Codes: sql-unreachable and sql-again (a deadlock, a conflict of transactions, no connection left), sql-late, where nothing took effect; sql-unknown, where the answer to the commit was lost; " +
	"sql-refused and sql-invalid, which a retry does not try again unless its on names them. The SQLSTATE is the category: on: [\"23505\"]."

// Query gives the descriptor of sqlQuery, and code that asks nothing: see [Databases.Activities].
func Query() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: QueryType, Main: "query", Asks: workflow.AsksDatabase,
		Description: "Asks a database, in a transaction of its own, and gives the rows." + faults,
		Inputs: append(connectionInputs("query", "The query."),
			workflow.InputDescriptor{Name: "maxRows", Type: "Int32", Default: defaultRows, Description: "How many rows there may be, up to 10000; more are a fault, as are more than 1 MiB."}),
		Outputs: []workflow.OutputDescriptor{
			{Name: "results", Type: "Object[]", Description: "The rows, each an object of its columns: numbers as numbers with all of their digits, times in RFC 3339, dates as 2026-03-01, JSON as values, bytes in base64, NULL as null."},
			{Name: "count", Type: "Int32", Description: "How many there are."},
		},
	}, activity{input: "query"}
}

// Command gives the descriptor of sqlCommand, and code that does nothing.
func Command() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: CommandType, Main: "command", Asks: workflow.AsksDatabase,
		Description: "Changes a database, in a transaction of its own, and says how many rows it changed." + faults,
		Inputs: append(connectionInputs("command", "The command."),
			workflow.InputDescriptor{Name: "once", Type: "Boolean", Description: "It takes effect once for each call, however often it is repeated: its transaction writes the call into the table weft_calls, which the database has to have."}),
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Int64", Description: "How many rows were changed."},
			{Name: "repeated", Type: "Boolean", Description: "With once: it had taken effect before, and nothing was done."},
		},
	}, activity{input: "command"}
}

// SingleValue gives the descriptor of sqlSingleValue, and code that asks nothing.
func SingleValue() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: ValueType, Main: "command", Asks: workflow.AsksDatabase,
		Description: "Asks a database for one value, in a transaction of its own: the first column of the first row, null if there is none." + faults,
		Inputs:      connectionInputs("command", "The query."),
		Outputs:     []workflow.OutputDescriptor{{Name: "result", Type: "Object", Description: "The value, as sqlQuery has values."}},
	}, activity{input: "command"}
}

// Activities puts the code that asks these databases in the place of what [Query], [Command] and [SingleValue] give.
func (d *Databases) Activities(r *engine.Registry) error {
	return errors.Join(r.Replace(QueryType, activity{"query", d}), r.Replace(CommandType, activity{"command", d}), r.Replace(ValueType, activity{"command", d}))
}

type activity struct {
	input string // that has the statement
	on    *Databases
}

// Prepare reads the statement, and looks at what is known of the connection.
func (a activity) Prepare(p *engine.Preparation) {
	p.SetData(read(p, a.input))
	named, given := p.Node.Given("connection"), p.Node.Given("connectionString")
	switch {
	case named && given:
		p.Problem("bad-literal", p.Place("connection"), "connection and connectionString both say where the database is; leave one out")
	case !named && !given:
		p.Problem("bad-literal", p.Place("connection"), "connection names a secret with the text of the connection, and is not given")
	}
	if v, ok := p.Constant("connection"); ok && v != nil {
		if name := engine.Text(v); strings.ContainsAny(name, ":/=; ") {
			p.Problem("bad-literal", p.Place("connection"), "connection is the name of a secret, and not the text of the connection: put that into a file of --secrets-dir, and its name here")
		} else {
			p.Secret(name, "connection")
		}
	}
	if v, ok := p.Constant("connectionString"); ok && v != nil {
		p.Problem("bad-literal", p.Place("connectionString"), "the text of a connection is in a secret, and in no definition: put it into a file of --secrets-dir, and write connection: NAME, or ${{ secrets.NAME }}")
	}
	if v, ok := p.Constant("client"); ok && v != nil && !knownClient(engine.Text(v)) {
		p.Problem("bad-literal", p.Place("client"), "there is no client %q; PostgreSql and Sqlite are known", workflow.Shorten(engine.Text(v)))
	}
	if v, ok := p.Constant("maxRows"); a.input == "query" && ok && v != nil {
		if err := checkRows(v.(int64)); err != nil {
			p.Problem("bad-literal", p.Place("maxRows"), "%v", err)
		}
	}
}

func checkRows(n int64) error {
	if n < 1 || n > maxRows {
		return fmt.Errorf("maxRows is %d; it must be from 1 to %d", n, maxRows)
	}
	return nil
}

// clients are Elsa's names of the kinds that are known.
var clients = []string{"postgresql", "postgresqlclient", "postgres", "sqlite", "sqliteclient"}

func plain(client string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "").Replace(client))
}

func knownClient(client string) bool { return slices.Contains(clients, plain(client)) }

func (a activity) Execute(ctx context.Context, x *engine.Execution) error {
	if a.on == nil {
		return errors.New("this node asks no databases: the program that it is part of was made without them")
	}
	c := call{statement: x.Node().Data().(*statement), limit: min(cmp.Or(x.Duration("timeout"), defaultTimeout), maxTimeout), rows: defaultRows}
	for _, p := range c.parameters {
		v, err := x.Run(p)
		if err != nil {
			return err
		}
		c.values = append(c.values, v)
	}
	switch {
	case x.Node().Type() == ValueType:
		c.rows, c.first = 1, true
	case a.input == "query":
		c.rows = x.Int("maxRows")
		if err := checkRows(c.rows); err != nil {
			return err
		}
	case a.input == "command":
		c.changes = true
		if x.Bool("once") {
			c.once = workflow.DeriveID("sql", x.InstanceID(), x.IdempotencyKey())
		}
	}
	connection, secret, err := a.connection(x)
	if err != nil {
		return err
	}
	pool, release, err := a.on.take(connection, secret)
	if err != nil {
		return err
	}
	defer release()
	if client := plain(x.Text("client")); client != "" && !slices.Contains(pool.dialect.Clients, client) {
		return fmt.Errorf("the client is %s, and the secret %s is a connection to %s", workflow.Shorten(x.Text("client")), secret, pool.dialect.Name)
	}
	var got *answer
	err = engine.Outside(ctx, x, func(ctx context.Context) (err error) {
		got, err = pool.run(ctx, &c)
		return err
	})
	var f *failed
	switch {
	case err == nil:
		c.publish(x, got)
		return nil
	case ctx.Err() != nil: // who goes on calls again
		return errors.Join(context.Cause(ctx), err)
	case errors.As(err, &f):
		err = &engine.FaultError{Code: f.code, Category: f.state, Message: f.text}
		if f.code == codeRefused || f.code == codeInvalid {
			err = &retry.LastingError{Err: err}
		}
	}
	return err
}

// connection is the text of the connection, and the name of the secret that has it.
func (activity) connection(x *engine.Execution) (text, secret string, err error) {
	if name := x.Text("connection"); name != "" {
		text, ok := x.Secret(name)
		if !ok {
			return "", "", fmt.Errorf("connection: %w", evaluation.NoSecret(name))
		}
		return text, name, nil
	}
	if text = x.Text("connectionString"); text == "" {
		return "", "", errors.New("connection: it has no value")
	}
	m := mark.FindStringSubmatch(x.Redact(text))
	if m == nil {
		return errNoSecret()
	}
	if value, ok := x.Secret(m[1]); !ok || value != text {
		return errNoSecret()
	}
	return text, m[1], nil
}

// mark is a text that is the whole value of a secret, as it is shown.
var mark = regexp.MustCompile(`^\*\*\*([A-Za-z0-9._-]+)\*\*\*$`)

func errNoSecret() (string, string, error) {
	return "", "", errors.New("connectionString: it is not the whole value of a secret; put the text of the connection into a file of --secrets-dir, and name that: connection: NAME")
}
