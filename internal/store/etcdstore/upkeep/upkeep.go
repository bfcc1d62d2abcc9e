package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/pkg/workflow"
)

// Upkeep does what has to be done without anybody's call: it fires what is due, and lets
// go what is old or too much.
type Upkeep struct {
	conn     *lookup.Conn
	keepKeys time.Duration // records of callers' keys
}

// New is the upkeep over a connection; records of callers' keys are kept for so long.
func New(c *lookup.Conn, keepKeys time.Duration) *Upkeep { return &Upkeep{c, keepKeys} }

// Follow follows what is looked at often, until ctx ends, and waits for its goroutines. Without it
// all is read.
func (s *Upkeep) Follow(ctx context.Context) error { return s.conn.FollowAll(ctx) }

// Match is Stimuli.Match, for what waits in the queue.
func (s *Upkeep) Match(ctx context.Context, st workflow.Stimulus, hash string) (*lookup.Match, error) {
	return s.conn.Match(ctx, st, hash, "")
}
