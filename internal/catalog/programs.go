package catalog

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/weft-run/weft/pkg/engine"
)

// programs keeps the compiled versions that were used last.
type programs struct {
	cache *lru.Cache[versionKey, kept]
}

type versionKey struct {
	id      string
	version int
}

// kept is a version's program, or why this node has none for it, which is looked
// at again after a while.
type kept struct {
	prog *engine.Program
	err  error
	till time.Time
}

// refusedFor is how long a version that cannot be run here is not read again.
const refusedFor = 10 * time.Second

func newPrograms(limit int) (*programs, error) {
	cache, err := lru.New[versionKey, kept](limit)
	return &programs{cache}, err
}

// get gives a version's program or why there is none; neither, if that is not
// known.
func (p *programs) get(k versionKey) (*engine.Program, error) {
	v, _ := p.cache.Get(k)
	if v.err != nil && time.Now().After(v.till) {
		return nil, nil
	}
	return v.prog, v.err
}

func (p *programs) put(k versionKey, prog *engine.Program) { p.cache.Add(k, kept{prog: prog}) }

func (p *programs) refuse(k versionKey, err error) {
	p.cache.Add(k, kept{err: err, till: time.Now().Add(refusedFor)})
}
