package client

import (
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// ownership is an instance that is owned: a cluster lock or a process-local one.
type ownership interface {
	Context() context.Context // ends when the ownership is lost
	Fence() *store.Fence      // nil: guarded by the revision only
	Release(ctx context.Context) error
	Released() // a commit has freed the lock already
}

// acquireFunc takes an instance and loads it, no earlier than it is taken. preload
// names what is read with it.
type acquireFunc func(ctx context.Context, preload preload) (ownership, *store.Loaded, error)

// preload is what taking an instance reads for the sake of the first command: the
// record of a caller's Idempotency-Key, the head of the definition that is
// started; and the instance itself, if it is not as it was known.
type preload struct {
	key, definition string
	head            int64         // of the definition, as it was planned with
	free            bool          // whether an instance of the id has left the store is asked for, too
	known           *store.Record // the instance as it was last known; nil: not at all
}

// preloadFor is what a command wants to be read.
func preloadFor(cmd *workflow.Command) (p preload) {
	if cmd == nil {
		return p
	}
	if cmd.Key != nil {
		p.key = cmd.Key.Name
	}
	if cmd.Start != nil && cmd.Start.Head > 0 {
		p.definition, p.head = cmd.Start.DefinitionID, cmd.Start.Head
	}
	p.free = cmd.Start != nil && cmd.Start.Free > 0
	return p
}

// reads is what p asks the store for.
func (p *preload) reads(s *etcdstore.Instances, id string) *etcdstore.Loading {
	q := s.Loading(id, p.key, p.definition, p.known)
	if p.free {
		q.WithDeleted()
	}
	return q
}
