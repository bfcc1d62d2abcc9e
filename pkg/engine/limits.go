package engine

import (
	"cmp"
	"time"
)

// withDefaults fills in the zero fields.
func (l Limits) withDefaults() Limits {
	l.Activities = cmp.Or(l.Activities, 10_000)
	l.Depth = cmp.Or(l.Depth, 200)
	l.Script = cmp.Or(l.Script, 2*time.Second)
	l.Output = cmp.Or(l.Output, 1<<20)
	l.Data = cmp.Or(l.Data, 16<<20)
	return l
}
