package intake

import (
	"sync"
	"time"
)

// growth remembers how much was in use, each minute of a day.
type growth struct {
	mu   sync.Mutex
	seen []use // guarded by mu; the oldest first
}

type use struct {
	at    time.Time
	bytes int64
}

const (
	growthEvery = time.Minute
	growthKept  = 24 * time.Hour
	growthLeast = 10 * time.Minute
)

func (g *growth) add(at time.Time, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.seen); n > 0 && at.Sub(g.seen[n-1].at) < growthEvery {
		return
	}
	g.seen = append(g.seen, use{at, bytes})
	for at.Sub(g.seen[0].at) > growthKept {
		g.seen = g.seen[1:]
	}
}

// slope is that of the straight line nearest to what was seen: what a compaction gives back every few minutes
// makes a saw, of which the ends alone say little.
func (g *growth) slope() (bytesADay float64, over time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.seen)
	if n < 2 {
		return 0, 0
	}
	first := g.seen[0].at
	if over = g.seen[n-1].at.Sub(first); over < growthLeast {
		return 0, 0
	}
	var days, bytes, product, square float64
	for _, u := range g.seen {
		x, y := u.at.Sub(first).Hours()/24, float64(u.bytes)
		days, bytes, product, square = days+x, bytes+y, product+x*y, square+x*x
	}
	return (float64(n)*product - days*bytes) / (float64(n)*square - days*days), over
}
