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

// File is what a node reads again while it runs, by the setting that names it: the label file of
// weft_file_unread.
type File string

// The files that a node reads again.
const (
	FileAuthKeys   File = "auth-keys-file"
	FileSecrets    File = "secrets-dir"
	FileTLSCert    File = "tls-cert"
	FileEtcdCert   File = "etcd-cert"
	FileOIDCSecret File = "auth-oidc-client-secret-file"
)

var knownFiles = []string{string(FileAuthKeys), string(FileSecrets), string(FileTLSCert), string(FileEtcdCert), string(FileOIDCSecret)}

// FileUnread says whether a file cannot be taken as it is, so that what was read before counts on.
func (m *Metrics) FileUnread(file File, unread bool) {
	if m == nil {
		return
	}
	m.fileUnread.WithLabelValues(string(file)).Set(oneIf(unread))
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

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
