package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Names of certificates, for [Metrics.CertificateExpiry].
const (
	CertificateAPI  = "api"
	CertificateEtcd = "etcd"
)

// CertificateExpiry shows from now on when a certificate ends; the name is one of
// the Certificate constants. Expiry is called for each scrape, one call at a
// time; while it fails, nothing is shown.
func (m *Metrics) CertificateExpiry(name string, expiry func() (time.Time, error)) {
	if m == nil {
		return
	}
	m.certificates.mu.Lock()
	defer m.certificates.mu.Unlock()
	m.certificates.read[name] = expiry
}

// expiries asks when it is scraped: a file that was renewed must not look old
// because nobody has used it yet.
type expiries struct {
	desc *prometheus.Desc

	mu   sync.Mutex
	read map[string]func() (time.Time, error) // by the value of the label
}

func (b *builder) expiries(name, help, by string) *expiries {
	e := &expiries{
		desc: prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, []string{by}, nil),
		read: map[string]func() (time.Time, error){},
	}
	b.add(e, "gauge", name, help, []label{{name: by}})
	return e
}

// Describe is of [prometheus.Collector].
func (e *expiries) Describe(ch chan<- *prometheus.Desc) { ch <- e.desc }

// Collect is of [prometheus.Collector].
func (e *expiries) Collect(ch chan<- prometheus.Metric) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, read := range e.read {
		if end, err := read(); err == nil {
			ch <- prometheus.MustNewConstMetric(e.desc, prometheus.GaugeValue, float64(end.Unix()), name)
		}
	}
}
