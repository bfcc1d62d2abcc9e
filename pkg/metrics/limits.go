package metrics

import "time"

// Lines is how the lines of all limits stand.
type Lines struct {
	Taken, Waiting int64         // places that are taken, and who waits for one
	Longest        time.Duration // how long the first of those who wait has
}

// Tell says so.
func (l Lines) Tell(m *Metrics) {
	if m == nil {
		return
	}
	m.limitTaken.Set(float64(l.Taken))
	m.limitWaiting.Set(float64(l.Waiting))
	m.limitLongest.Set(l.Longest.Seconds())
}
