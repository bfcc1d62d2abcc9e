package client

import (
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client/warm"
	"github.com/weft-run/weft/pkg/workflow"
)

// committed is what the next burst goes on with after the commit that made base; nothing
// where the instance has ended, or base says other things than the engine.
func (x *burst) committed(base *store.Record) warm.Instance {
	if base == nil || base.Header.Status != workflow.StatusRunning || x.replaced != nil || len(x.extra) > 0 {
		return warm.Instance{}
	}
	if !x.b.Committed() {
		return warm.Instance{Record: base}
	}
	return warm.Instance{Record: base, Burst: x.b}
}
