package sql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	maxPools       = 32
	maxConnections = 10 // of one pool
	idleFor        = time.Minute
	keptFor        = 10 * time.Minute // a pool that nothing asks for
)

// Databases are the pools of a node, one for each text of a connection.
type Databases struct {
	dialects []*Dialect

	mu      sync.Mutex
	pools   map[[sha256.Size]byte]*pool // guarded by mu
	running int                         // statements; guarded by mu
	closed  bool                        // guarded by mu
	drained chan struct{}               // closed when it is closed and nothing runs; guarded by mu
}

type pool struct {
	dialect *Dialect
	db      *sql.DB
	users   int
	last    time.Time // when it was given back
}

// NewDatabases makes the pools of databases of these kinds. It connects to nothing.
func NewDatabases(dialects ...*Dialect) *Databases {
	return &Databases{dialects: dialects, pools: map[[sha256.Size]byte]*pool{}, drained: make(chan struct{})}
}

var errClosed = errors.New("the node is stopping")

// take gives the pool of a connection until release is called. secret names the secret that has its text.
func (d *Databases) take(connection, secret string) (_ *pool, release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil, errClosed
	}
	key := sha256.Sum256([]byte(connection))
	p := d.pools[key]
	if p == nil {
		d.forget()
		if len(d.pools) >= maxPools {
			return nil, nil, fmt.Errorf("activities of this node ask %d databases at once, and it keeps connections to %d at most", maxPools+1, maxPools)
		}
		if p, err = d.open(connection, secret); err != nil {
			return nil, nil, err
		}
		d.pools[key] = p
	}
	p.users++
	d.running++
	return p, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		p.users--
		p.last = time.Now()
		if d.running--; d.closed && d.running == 0 {
			close(d.drained)
		}
	}, nil
}

// forget closes pools that nothing asked for lately and, where there are as many as may be, the one that was
// asked for longest ago. The caller holds mu.
func (d *Databases) forget() {
	var oldest [sha256.Size]byte
	var found *pool
	for key, p := range d.pools {
		if p.users > 0 {
			continue
		}
		if time.Since(p.last) > keptFor {
			_ = p.db.Close() // nothing uses it
			delete(d.pools, key)
			continue
		}
		if found == nil || p.last.Before(found.last) {
			oldest, found = key, p
		}
	}
	if len(d.pools) >= maxPools && found != nil {
		_ = found.db.Close()
		delete(d.pools, oldest)
	}
}

func (d *Databases) open(connection, secret string) (*pool, error) {
	scheme, _, _ := strings.Cut(connection, ":")
	for _, dialect := range d.dialects {
		if !slices.Contains(dialect.Schemes, strings.ToLower(scheme)) {
			continue
		}
		db, err := dialect.Open(connection)
		if err != nil {
			return nil, fmt.Errorf("the secret %s is no connection to %s: %w", secret, dialect.Name, err)
		}
		db.SetMaxOpenConns(maxConnections)
		db.SetMaxIdleConns(2)
		db.SetConnMaxIdleTime(idleFor)
		return &pool{dialect: dialect, db: db}, nil
	}
	var known []string
	for _, dialect := range d.dialects {
		known = append(known, dialect.Schemes[0]+":")
	}
	return nil, fmt.Errorf("the secret %s does not begin as the text of a connection does: %s", secret, strings.Join(known, ", "))
}

// Close takes no more statements, waits for those that run until ctx ends, and closes the pools.
func (d *Databases) Close(ctx context.Context) error {
	d.mu.Lock()
	if !d.closed && d.running == 0 {
		close(d.drained)
	}
	d.closed = true
	d.mu.Unlock()
	var errs []error
	select {
	case <-d.drained:
	case <-ctx.Done():
		errs = append(errs, errors.New("statements run still"))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, p := range d.pools {
		if p.db.Close() != nil {
			errs = append(errs, fmt.Errorf("a pool of %s was not closed", p.dialect.Name))
		}
		delete(d.pools, key)
	}
	return errors.Join(errs...)
}
