package metrics

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/pkg/workflow"
)

// DefaultDefinitions is how many definitions have series of their own if nobody says
// otherwise.
const DefaultDefinitions = 100

// OtherDefinitions is the label of all definitions that have no series of their own.
const OtherDefinitions = "other"

// stateBuckets are for what people wait for as well as for what machines do.
var stateBuckets = []float64{.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400}

// definitions are the series of what instances do, by definition. The label is bounded: all
// published definitions have it if they are few enough, else the first that this node meets, and
// those that come later share one.
type definitions struct {
	started   *prometheus.CounterVec
	finished  *prometheus.CounterVec
	lifetime  *prometheus.HistogramVec
	suspended *prometheus.HistogramVec
	instances *prometheus.GaugeVec
	oldest    *prometheus.GaugeVec

	mu     sync.RWMutex
	most   int                          // guarded by mu
	series map[string]*definitionSeries // by label; guarded by mu
	shown  map[[2]string]bool           // labels of the gauges; guarded by mu
}

// definitionSeries are those of one definition.
type definitionSeries struct {
	label               string
	started             prometheus.Counter
	finished            map[workflow.SubStatus]prometheus.Counter
	lifetime, suspended prometheus.Observer
}

func (b *builder) definitions() *definitions {
	definition := label{name: "definition"}
	d := &definitions{
		most: DefaultDefinitions, series: map[string]*definitionSeries{},
		started: b.counterVec("instances_started_total",
			"Workflow instances that this node created, by definition.", definition),
		finished: b.counterVec("instances_finished_total",
			"Workflow instances whose end this node committed, by definition and by how they ended.",
			definition, label{"sub_status", knownFinalSubStatuses}),
		lifetime: b.histogramVec("instance_lifetime_seconds",
			"Time from the start of a workflow instance to its end, by definition.", stateBuckets, definition),
		suspended: b.histogramVec("instance_suspended_seconds",
			"Time that a workflow instance waited, from one commit to the next, by definition.", stateBuckets, definition),
		instances: b.gaugeVec("instances",
			"Workflow instances that have not ended, and faulted ones that may be retried, by definition and sub-status. One node of the cluster counts them; take the maximum.",
			definition, label{name: "sub_status"}),
		oldest: b.gaugeVec("oldest_suspended_seconds",
			"Age of the oldest workflow instance that waits, from its start, by definition. One node of the cluster looks; take the maximum.",
			definition),
	}
	d.of(OtherDefinitions)
	return d
}

// of gives the series of a definition, which are there at zero from when it is met.
func (d *definitions) of(id string) *definitionSeries {
	d.mu.RLock()
	s := d.series[id]
	d.mu.RUnlock()
	if s != nil {
		return s
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.series[id]; s != nil {
		return s
	}
	if len(d.series) > d.most { // with the one that the rest shares
		return d.series[OtherDefinitions]
	}
	s = &definitionSeries{
		label: id, started: d.started.WithLabelValues(id), lifetime: d.lifetime.WithLabelValues(id), suspended: d.suspended.WithLabelValues(id),
		finished: map[workflow.SubStatus]prometheus.Counter{},
	}
	for _, sub := range knownFinalSubStatuses {
		s.finished[workflow.SubStatus(sub)] = d.finished.WithLabelValues(id, sub)
	}
	d.series[id] = s
	return s
}

// NameDefinitions says how many definitions have series of their own. Call it before
// anything is counted.
func (m *Metrics) NameDefinitions(most int) {
	if m == nil {
		return
	}
	m.definitions.mu.Lock()
	defer m.definitions.mu.Unlock()
	m.definitions.most = most
}

// KnowDefinitions gives definitions their series, at zero, before anything happens to them: of a
// series that begins with its first event Prometheus sees no increase, so that an alert would
// miss, after each start of a node, the first fault of a definition. If there are more than may
// have series, none is given any: then those have them that this node meets first.
func (m *Metrics) KnowDefinitions(ids []string) {
	if m == nil {
		return
	}
	d := m.definitions
	d.mu.RLock()
	left := d.most - (len(d.series) - 1) // without the one that the rest shares
	var unknown []string
	for _, id := range ids {
		if d.series[id] == nil {
			unknown = append(unknown, id)
		}
	}
	d.mu.RUnlock()
	if len(unknown) > left {
		return
	}
	for _, id := range unknown {
		d.of(id)
	}
}

// InstanceStarted counts an instance that this node created.
func (m *Metrics) InstanceStarted(definition string) {
	if m == nil {
		return
	}
	m.definitions.of(definition).started.Inc()
}

// InstanceFinished counts an instance whose end this node committed, so long after its
// start.
func (m *Metrics) InstanceFinished(definition string, how workflow.SubStatus, lifetime time.Duration) {
	if m == nil {
		return
	}
	s := m.definitions.of(definition)
	if c := s.finished[how]; c != nil {
		c.Inc()
	}
	s.lifetime.Observe(max(0, lifetime.Seconds())) // two nodes have two clocks
}

// InstanceWaited observes how long an instance was suspended that goes on.
func (m *Metrics) InstanceWaited(definition string, waited time.Duration) {
	if m == nil {
		return
	}
	m.definitions.of(definition).suspended.Observe(max(0, waited.Seconds()))
}

// DefinitionCensus is what was counted of the instances of one definition.
type DefinitionCensus struct {
	Instances map[workflow.SubStatus]int64
	Oldest    time.Duration // age of the oldest one that waits; 0: none does
}

// mostFirst gives the definitions with the most instances first.
func mostFirst(by map[string]DefinitionCensus) []string {
	count := make(map[string]int64, len(by))
	for id, c := range by {
		for _, n := range c.Instances {
			count[id] += n
		}
	}
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
}

// SetCensus says what there is of each definition. What was said before is gone; nil says
// that another node counts.
func (m *Metrics) SetCensus(by map[string]DefinitionCensus) {
	if m == nil {
		return
	}
	d := m.definitions
	counted, oldest := map[[2]string]int64{}, map[string]time.Duration{}
	for _, id := range mostFirst(by) { // while there are series left
		c := by[id]
		label := d.of(id).label
		for sub, n := range c.Instances {
			counted[[2]string{label, string(sub)}] += n
		}
		oldest[label] = max(oldest[label], c.Oldest)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	shown := map[[2]string]bool{}
	for labels, n := range counted {
		d.instances.WithLabelValues(labels[:]...).Set(float64(n))
		shown[labels] = true
	}
	for label, age := range oldest {
		d.oldest.WithLabelValues(label).Set(age.Seconds())
		shown[[2]string{label}] = true
	}
	for labels := range d.shown {
		switch {
		case shown[labels]:
		case labels[1] == "":
			d.oldest.DeleteLabelValues(labels[0])
		default:
			d.instances.DeleteLabelValues(labels[:]...)
		}
	}
	d.shown = shown
}
