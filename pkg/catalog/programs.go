package catalog

import (
	"container/list"
	"sync"

	"github.com/weft-run/weft/pkg/engine"
)

// programs keeps the compiled versions that were used last.
type programs struct {
	mu    sync.Mutex
	limit int
	byKey map[versionKey]*list.Element // of *kept; guarded by mu
	order *list.List                   // most recently used first; guarded by mu
}

type versionKey struct {
	id      string
	version int
}

type kept struct {
	key  versionKey
	prog *engine.Program
}

func newPrograms(limit int) *programs {
	return &programs{limit: limit, byKey: map[versionKey]*list.Element{}, order: list.New()}
}

func (p *programs) get(k versionKey) *engine.Program {
	p.mu.Lock()
	defer p.mu.Unlock()
	el := p.byKey[k]
	if el == nil {
		return nil
	}
	p.order.MoveToFront(el)
	return el.Value.(*kept).prog
}

func (p *programs) put(k versionKey, prog *engine.Program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if el := p.byKey[k]; el != nil {
		p.order.MoveToFront(el)
		return
	}
	p.byKey[k] = p.order.PushFront(&kept{k, prog})
	if p.order.Len() > p.limit {
		last := p.order.Back()
		p.order.Remove(last)
		delete(p.byKey, last.Value.(*kept).key)
	}
}
