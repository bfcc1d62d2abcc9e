package metrics

import (
	"sync"
	"sync/atomic"
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
	FileOIDCSecret File = "auth-oidc-client-secret-file" //nolint:gosec // the name of a setting
)

var knownFiles = []string{string(FileAuthKeys), string(FileSecrets), string(FileTLSCert), string(FileEtcdCert), string(FileOIDCSecret)}

// Condition is how the node itself is.
type Condition struct {
	unread *prometheus.GaugeVec
	asked  atomic.Pointer[func() (ready, session bool)]
}

// SetFileUnread says whether a file cannot be taken as it is, so that what was read before counts on.
func (c *Condition) SetFileUnread(file File, unread bool) {
	if c != nil {
		c.unread.WithLabelValues(string(file)).Set(oneIf(unread))
	}
}

// Ask lets each scrape ask from now on whether the node should get traffic, and whether it has a session with
// etcd. Before that it shows neither.
func (c *Condition) Ask(is func() (ready, session bool)) {
	if c != nil {
		c.asked.Store(&is)
	}
}

func (c *Condition) is(which func(ready, session bool) bool) float64 {
	ask := c.asked.Load()
	if ask == nil {
		return 0
	}
	return oneIf(which((*ask)()))
}

func (b *builder) condition() *Condition {
	c := &Condition{unread: b.gaugeVec("file_unread",
		"1 while a file that this node reads again cannot be taken, by the setting that names it: it is gone, empty, cut, or has a mistake. What was read before counts on.",
		label{"file", knownFiles})}
	b.gaugeOf("ready", "1 while this node should get traffic, as /readyz says, else 0.",
		func() float64 { return c.is(func(ready, _ bool) bool { return ready }) })
	b.gaugeOf("session", "1 while this node has a session with etcd, without which it commits nothing, else 0.",
		func() float64 { return c.is(func(_, session bool) bool { return session }) })
	return c
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
