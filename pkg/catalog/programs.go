package catalog

import (
	"container/list"
	"sync"
	"time"

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

// kept is a version's program, or why this node has none for it, which is looked
// at again after a while.
type kept struct {
	key  versionKey
	prog *engine.Program
	err  error
	till time.Time
}

// refusedFor is how long a version that cannot be run here is not read again.
const refusedFor = 10 * time.Second

func newPrograms(limit int) *programs {
	return &programs{limit: limit, byKey: map[versionKey]*list.Element{}, order: list.New()}
}

// get gives a version's program or why there is none; neither, if that is not
// known.
func (p *programs) get(k versionKey) (*engine.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	el := p.byKey[k]
	if el == nil {
		return nil, nil
	}
	p.order.MoveToFront(el)
	v := el.Value.(*kept)
	if v.err != nil && time.Now().After(v.till) {
		return nil, nil
	}
	return v.prog, v.err
}

func (p *programs) put(k versionKey, prog *engine.Program) { p.keep(&kept{key: k, prog: prog}) }

func (p *programs) refuse(k versionKey, err error) {
	p.keep(&kept{key: k, err: err, till: time.Now().Add(refusedFor)})
}

func (p *programs) keep(v *kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if el := p.byKey[v.key]; el != nil {
		el.Value = v
		p.order.MoveToFront(el)
		return
	}
	p.byKey[v.key] = p.order.PushFront(v)
	if p.order.Len() > p.limit {
		last := p.order.Back()
		p.order.Remove(last)
		delete(p.byKey, last.Value.(*kept).key)
	}
}
