package serve

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weft-run/weft/pkg/metrics"
)

// Rates are of the time since a reading: the newest of those that are meterLeast old or older,
// none older than meterMost.
const (
	meterLeast = 2 * time.Second
	meterMost  = time.Minute
)

// Meter remembers what a node had counted some seconds ago, so that who asks is told rates.
type Meter struct {
	mu    sync.Mutex
	taken []Reading // the oldest first; guarded by mu
}

// Reading is what a node had counted at a time.
type Reading struct {
	At time.Time
	metrics.Reading
}

// Since keeps a reading, and gives the one that it is compared with; ok is false if there is none.
func (m *Meter) Since(now Reading) (before Reading, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = slices.DeleteFunc(m.taken, func(r Reading) bool { return now.At.Sub(r.At) > meterMost || now.At.Before(r.At) })
	for _, r := range m.taken {
		if now.At.Sub(r.At) >= meterLeast {
			before, ok = r, true
		}
	}
	if n := len(m.taken); n == 0 || now.At.Sub(m.taken[n-1].At) >= meterLeast/2 {
		m.taken = append(m.taken, now)
	}
	return before, ok
}

// Measure keeps what the node has counted by now, for the rates of those who ask later. Call
// it every few seconds.
func (a *API) Measure() { a.Meter.Since(Reading{a.Config.Now(), a.Config.Metrics.Reading()}) }

// scraper shows the metrics of a registry.
func scraper(gatherer prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, EnableOpenMetrics: true})
}

// maxScrapes bounds what anyone can have shown at once.
const maxScrapes = 8
