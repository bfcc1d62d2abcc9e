package claims

import (
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// State reads of one task its entry among the free ones, or else the claim that it has; both are nil if it has ended.
func (s *Claims) State(ctx context.Context, b *workflow.Bookmark) (*Free, *store.TaskClaim, error) {
	var ask db.Reads
	free, taken := ask.Value(s.conn.Keys.Task(b)), ask.Value(s.conn.Keys.Taken.Task(b))
	resp, err := s.conn.Read(ctx, "read who has a task", ask.Ops...)
	if err != nil {
		return nil, nil, err
	}
	if kv := taken.One(resp); kv != nil {
		c, err := readClaim(kv)
		return nil, &c, err
	}
	if kv := free.One(resp); kv != nil {
		return &Free{Place: record.TaskPlace(b), Created: kv.CreateRevision, Past: pastOf(kv)}, nil, nil
	}
	return nil, nil, nil
}
