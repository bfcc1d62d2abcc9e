package client

import (
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// live is an instance as it was last committed, with the burst of that commit: the next
// commands go on with it, so that nothing is decoded.
type live struct {
	record *store.Record
	b      *engine.Burst // nil: there is none, and it is decoded
}

// renew gives the burst for the next commands on this record; nil: it is to be loaded.
// A burst that comes to no commit is not to be had again.
func (l *live) renew(base *store.Record, prog *engine.Program, env engine.Env) *engine.Burst {
	b, record := l.b, l.record
	*l = live{}
	if b == nil || record.Modified != base.Modified || !b.Renew(prog, env) {
		return nil
	}
	return b
}

// committed is what the next burst goes on with after the commit that made base; nothing
// where the instance has ended, or base says other things than the engine.
func (x *burst) committed(base *store.Record) live {
	if base == nil || base.Header.Status != workflow.StatusRunning || x.replaced != nil || len(x.extra) > 0 {
		return live{}
	}
	if !x.b.Committed() {
		return live{base, nil}
	}
	return live{base, x.b}
}
