package record

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// NewIncidents tells how many of an instance's incidents it did not have before (nil: it is
// new). An instance remembers the last ones only: what is left of those before is at the
// beginning.
func NewIncidents(before, after *workflow.Instance) int {
	n := len(after.Incidents)
	if before == nil {
		return n
	}
	for kept := min(n, len(before.Incidents)); kept > 0; kept-- {
		if sameIncidents(before.Incidents[len(before.Incidents)-kept:], after.Incidents[:kept]) {
			return n - kept
		}
	}
	return n
}

func sameIncidents(a, b []workflow.Incident) bool {
	for i := range a {
		x, y := a[i], b[i]
		same := x.Time.Equal(y.Time)
		x.Time, y.Time = time.Time{}, time.Time{}
		if !same || x != y {
			return false
		}
	}
	return true
}
