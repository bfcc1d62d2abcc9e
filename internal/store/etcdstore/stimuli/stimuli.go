package stimuli

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/pkg/workflow"
)

// Stimuli brings stimuli and commands to whom they are for: it finds what they match,
// puts them into mailboxes, the outbox and the queue, creates instances, and takes
// dead letters up again. It is for pkg/runtime.
type Stimuli struct{ conn *lookup.Conn }

// New is the stimuli over a connection.
func New(c *lookup.Conn) *Stimuli { return &Stimuli{c} }

// RevisionFor is that of etcd, as a linearizable look at an instance's key gives it.
func (s *Stimuli) RevisionFor(ctx context.Context, instance string) (int64, error) {
	resp, err := s.conn.Get(ctx, "look for instance "+instance, s.conn.Keys.Instance(instance), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// Match finds the bookmarks and triggers that st is for. A stimulus with a
// correlation meets only bookmarks of that correlation; one without meets all;
// an addressed one only its instance's, and no trigger. key names the caller's
// record; "" if there is none.
func (s *Stimuli) Match(ctx context.Context, st workflow.Stimulus, hash, key string) (*lookup.Match, error) {
	return s.conn.Match(ctx, st, hash, key)
}
