package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Certificate is a certificate that a node shows: the label certificate of
// weft_certificate_expiry_timestamp_seconds.
type Certificate string

// The certificates of a node.
const (
	CertificateAPI  Certificate = "api"
	CertificateEtcd Certificate = "etcd"
)

// CertificateExpiry shows from now on when a certificate ends. Expiry is called for each scrape, one call at a
// time; while it fails, nothing is shown.
func (m *Metrics) CertificateExpiry(which Certificate, expiry func() (time.Time, error)) {
	if m == nil {
		return
	}
	m.certificates.mu.Lock()
	defer m.certificates.mu.Unlock()
	m.certificates.read[which] = expiry
}

// expiries asks when it is scraped: a file that was renewed must not look old
// because nobody has used it yet.
type expiries struct {
	desc *prometheus.Desc

	mu   sync.Mutex
	read map[Certificate]func() (time.Time, error)
}

func (b *builder) expiries(name, help, by string) *expiries {
	e := &expiries{
		desc: prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, []string{by}, nil),
		read: map[Certificate]func() (time.Time, error){},
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
	for which, read := range e.read {
		if end, err := read(); err == nil {
			ch <- prometheus.MustNewConstMetric(e.desc, prometheus.GaugeValue, float64(end.Unix()), string(which))
		}
	}
}
