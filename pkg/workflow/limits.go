package workflow

import (
	"fmt"
)

// Limits of what the notations read. They keep a hostile definition from
// costing more than its author could mean.
const (
	MaxSource     = 1 << 20 // bytes of one definition
	MaxActivities = 10_000  // activities of one definition
	MaxNesting    = 200     // activities inside activities
)

// CheckSize gives the problem of a source that is larger than [MaxSource].
func CheckSize(src []byte, file string) Problems {
	if len(src) <= MaxSource {
		return nil
	}
	return Problems{{Code: "too-large", Place: Place{File: file},
		Detail: fmt.Sprintf("the definition has %d bytes; up to %d are read", len(src), MaxSource)}}
}

// TooManyActivities reports the activity that passes [MaxActivities].
func (r *Report) TooManyActivities(at Place) {
	r.Problem("too-many-activities", at, "a definition may have up to %d activities; split it into definitions that run each other", MaxActivities)
}

// Oversize reports the activity below root that passes [MaxActivities] or
// [MaxNesting], if one does.
func (r *Report) Oversize(root *Activity) {
	count, over := 0, false
	Walk(root, func(a, _ *Activity, depth int) bool {
		if over {
			return false
		}
		count++
		switch {
		case count > MaxActivities:
			over = true
			r.TooManyActivities(a.Place)
		case depth >= MaxNesting:
			over = true
			r.Problem("too-deep", a.Place, "activities may be nested up to %d deep; move the inner part into a definition of its own", MaxNesting)
		}
		return !over
	})
}
