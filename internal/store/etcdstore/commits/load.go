package commits

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/loading"
)

// Elapsed is how old the cluster is, as far as this node knows; 0: it does not.
func (s *Instances) Elapsed() time.Duration {
	return time.Duration(s.conn.Elapsed.Load()) * time.Millisecond
}

// Interrupted is Upkeep.Interrupted, for the instance's owner.
func (s *Instances) Interrupted(ctx context.Context, id string) (command string, err error) {
	return s.conn.Interrupt(ctx, id)
}

// Loading are the reads of [Instances.Load], which may ride in the transaction that takes the instance's lock. See [loading.New].
func (s *Instances) Loading(id, key, definition string, known *store.Record) *loading.Loading {
	return loading.New(s.conn, id, key, definition, known)
}

// Load reads an instance with its mailbox at one revision.
func (s *Instances) Load(ctx context.Context, id, key, definition string) (*store.Loaded, error) {
	return s.Loading(id, key, definition, nil).Load(ctx)
}
