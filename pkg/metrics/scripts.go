package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ScriptWaits shows from now on how scripts wait for their turn. Read is called
// as metrics are scraped: it tells how many wait now, how many waits are over,
// and how long these were together.
func (m *Metrics) ScriptWaits(read func() (now int, over uint64, took time.Duration)) {
	if m == nil {
		return
	}
	m.scripts.mu.Lock()
	defer m.scripts.mu.Unlock()
	m.scripts.read = read
}

// scripts asks those who count: turns belong to the process, not to a node.
type scripts struct {
	mu   sync.Mutex
	read func() (now int, over uint64, took time.Duration) // guarded by mu
}

func (b *builder) scripts() *scripts {
	s := &scripts{read: func() (int, uint64, time.Duration) { return 0, 0, 0 }}
	b.gaugeFunc("scripts_waiting",
		"Scripts that wait for their turn: as many run at once as the processors of the process allow.",
		func() float64 { now, _, _ := s.now(); return float64(now) })
	b.counterFunc("script_waits_total",
		"Waits of scripts for their turn that are over, also those that were given up. A script that finds a place free does not wait.",
		func() float64 { _, over, _ := s.now(); return float64(over) })
	b.counterFunc("script_wait_seconds_total",
		"Time that the scripts of script_waits_total waited; it is no part of their own.",
		func() float64 { _, _, took := s.now(); return took.Seconds() })
	return s
}

func (s *scripts) now() (now int, over uint64, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

func (b *builder) gaugeFunc(name, help string, read func() float64) {
	b.add(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, read), "gauge", name, help, nil)
}

func (b *builder) counterFunc(name, help string, read func() float64) {
	b.add(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, read), "counter", name, help, nil)
}
