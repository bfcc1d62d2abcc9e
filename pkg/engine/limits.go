package engine

import (
	"cmp"
	"time"
)

// The limits of [Limits].Activities: the default, and what it may be set to at most.
const (
	DefaultBurstActivities = 10_000
	MaxBurstActivities     = 1_000_000
	MaxWaits               = 100_000 // what [Limits].Waits is by default, and at most
	DefaultCalls           = 16      // [Limits].Calls
	MaxCalls               = 256     // that a definition may ask for
)

// withDefaults fills in the zero fields.
func (l Limits) withDefaults() Limits {
	l.Activities = min(cmp.Or(l.Activities, DefaultBurstActivities), MaxBurstActivities)
	l.Depth = cmp.Or(l.Depth, 200)
	l.Script = cmp.Or(l.Script, 2*time.Second)
	l.Output = cmp.Or(l.Output, 1<<20)
	l.Waits = cmp.Or(l.Waits, MaxWaits)
	l.Calls = min(cmp.Or(l.Calls, DefaultCalls), MaxCalls)
	l.Wide = cmp.Or(l.Wide, 10_000)
	l.Data = cmp.Or(l.Data, 16<<20)
	return l
}
