package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

const namespace = "weft"

// family describes one collector for those who read it: the page in docs/ and
// the tests.
type family struct {
	name   string // without the namespace
	kind   string // counter, gauge or histogram
	help   string
	labels []string
	// known holds, for each label, the values that exist at zero from the
	// start; nil when at least one label has no values known beforehand.
	known [][]string
}

// builder makes collectors and remembers what it made.
type builder struct {
	families   []family
	collectors []prometheus.Collector
}

// label is one label and, when they are known beforehand, its values.
type label struct {
	name  string
	known []string
}

func (b *builder) add(c prometheus.Collector, kind, name, help string, labels []label) {
	f := family{name: name, kind: kind, help: help}
	all := true
	for _, l := range labels {
		f.labels = append(f.labels, l.name)
		f.known = append(f.known, l.known)
		all = all && l.known != nil
	}
	if !all {
		f.known = nil
	}
	b.families = append(b.families, f)
	b.collectors = append(b.collectors, c)
}

func (b *builder) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
	b.add(c, "counter", name, help, nil)
	return c
}

func (b *builder) counterVec(name, help string, labels ...label) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, names(labels))
	b.add(c, "counter", name, help, labels)
	eachKnown(labels, func(values ...string) { c.WithLabelValues(values...) })
	return c
}

func (b *builder) gauge(name, help string) prometheus.Gauge {
	c := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
	b.add(c, "gauge", name, help, nil)
	return c
}

// gaugeOf is a gauge that is read when it is scraped.
func (b *builder) gaugeOf(name, help string, read func() float64) {
	b.add(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, read), "gauge", name, help, nil)
}

func (b *builder) gaugeVec(name, help string, labels ...label) *prometheus.GaugeVec {
	c := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, names(labels))
	b.add(c, "gauge", name, help, labels)
	eachKnown(labels, func(values ...string) { c.WithLabelValues(values...) })
	return c
}

func (b *builder) histogram(name, help string, buckets []float64) prometheus.Histogram {
	c := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
	b.add(c, "histogram", name, help, nil)
	return c
}

func (b *builder) histogramVec(name, help string, buckets []float64, labels ...label) *prometheus.HistogramVec {
	c := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, names(labels))
	b.add(c, "histogram", name, help, labels)
	eachKnown(labels, func(values ...string) { c.WithLabelValues(values...) })
	return c
}

// register registers all collectors or none.
func (b *builder) register(reg prometheus.Registerer) error {
	if reg == nil {
		return errors.New("metrics: no registerer")
	}
	for i, c := range b.collectors {
		if err := reg.Register(c); err != nil {
			for _, done := range b.collectors[:i] {
				reg.Unregister(done)
			}
			return fmt.Errorf("register %s_%s: %w", namespace, b.families[i].name, err)
		}
	}
	return nil
}

func names(labels []label) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = l.name
	}
	return out
}

// eachKnown calls fn with every combination of known values; not at all when
// the values of one label are not known.
func eachKnown(labels []label, fn func(values ...string)) {
	values := make([]string, len(labels))
	var walk func(i int)
	walk = func(i int) {
		if i == len(labels) {
			fn(values...)
			return
		}
		for _, v := range labels[i].known {
			values[i] = v
			walk(i + 1)
		}
	}
	walk(0)
}
