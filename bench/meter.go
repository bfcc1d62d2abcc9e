package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// meter collects points.
type meter struct {
	sys    *system
	o      options
	points []point
	puts   spent // all raw puts at this concurrency
	errs   []error
}

// spent is what one or more measurements of one kind saw and cost.
type spent struct {
	outcome
	cost
	least, most float64 // per second
}

// measure runs every workload of one setup. A workload that fails is a point
// that says so; the others go on.
func (s setup) measure(ctx context.Context, o options) (points []point, err error) {
	sys, err := s.start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	m := &meter{sys: sys, o: o}
	for i, callers := range o.concurrency {
		if err := m.at(ctx, callers, i == len(o.concurrency)-1); err != nil {
			return m.points, err
		}
	}
	return m.points, errors.Join(m.errs...)
}

// at measures everything at one concurrency. Raw puts are measured before the
// first workload and after each, since etcd gets slower as it grows: a workload is
// compared with the puts right before and right after it. Workloads that have a
// concurrency of their own run with the last only.
func (m *meter) at(ctx context.Context, callers int, last bool) error {
	first := len(m.points)
	m.puts = spent{}
	if m.sys.client != nil {
		m.sys.put(ctx, callers, m.short()/2) // warm up
	}
	before := m.put(ctx, callers)
	if m.o.raw && m.sys.client != nil {
		err := m.sys.rawLimits(ctx, callers, m.short(), func(name string, f func() outcome) { m.note(ctx, "raw", name, "", callers, f) })
		if err != nil {
			return err
		}
		before = m.put(ctx, callers)
	}
	for _, name := range m.o.workloads {
		w := workloads[name]
		if w.once && !last {
			continue
		}
		for _, commit := range m.o.commit {
			if commit != "burst" && !w.commits {
				continue
			}
			fmt.Println("…", m.sys.setup, name, commit, callers)
			at := len(m.points)
			if err := w.run(ctx, m, name, commit, callers); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
				m.errs = append(m.errs, err)
				m.points = append(m.points, point{setup: m.sys.setup, Kind: "workload", Name: name, Commit: commit, Concurrency: callers, Error: err.Error()})
			}
			after := m.put(ctx, callers)
			m.compare(m.points[at:], (before+after)/2)
			before = after
		}
	}
	m.finish(first, callers)
	return ctx.Err()
}

func (m *meter) short() time.Duration { return max(m.o.duration/3, 500*time.Millisecond) }

// put measures raw puts once more and gives their rate.
func (m *meter) put(ctx context.Context, callers int) float64 {
	if m.sys.client == nil {
		return 0
	}
	s := m.run(ctx, func() outcome { return m.sys.put(ctx, callers, m.short()) })
	rate := s.perSecond()
	p := &m.puts
	if p.least == 0 || rate < p.least {
		p.least = rate
	}
	p.most = max(p.most, rate)
	p.ops, p.failed, p.took, p.lat = p.ops+s.ops, p.failed+s.failed, p.took+s.took, append(p.lat, s.lat...)
	if s.err != nil {
		p.err = s.err
	}
	p.cost = p.cost.plus(s.cost)
	return rate
}

func (m *meter) compare(points []point, put float64) {
	for i := range points {
		if put > 0 {
			points[i].ToPut = points[i].PerSecond / put
		}
	}
}

// finish puts the puts first, and compares what has not been yet: the raw limits
// with all puts, a hot instance with the contended mutex.
func (m *meter) finish(first, callers int) {
	if m.puts.ops == 0 {
		return
	}
	slices.Sort(m.puts.lat)
	p := m.point("raw", "put", "", callers, m.puts)
	p.ToPut = 1
	p.notes("least per second", m.puts.least)
	p.notes("most per second", m.puts.most)
	m.points = slices.Insert(m.points, first, p)
	hot := 0.0
	for i := range m.points[first:] {
		p := &m.points[first+i]
		if p.Kind == "raw" {
			p.ToPut = p.PerSecond / m.puts.perSecond()
		}
		if p.Name == "mutex, contended" {
			hot = p.PerSecond
		}
		if p.Name == "W3" && hot > 0 {
			p.notes("to contended mutex", p.PerSecond/hot)
		}
	}
}

func (s *spent) perSecond() float64 {
	if s.took <= 0 {
		return 0
	}
	return float64(s.ops) / s.took.Seconds()
}

func (m *meter) run(ctx context.Context, f func() outcome) spent {
	before := m.sys.spent(ctx)
	out := f()
	return spent{outcome: out, cost: m.sys.spent(ctx).minus(before)}
}

// note measures f.
func (m *meter) note(ctx context.Context, kind, name, commit string, callers int, f func() outcome) {
	m.points = append(m.points, m.point(kind, name, commit, callers, m.run(ctx, f)))
}

func (m *meter) point(kind, name, commit string, callers int, s spent) point {
	p := point{setup: m.sys.setup, Kind: kind, Name: name, Commit: commit, Concurrency: callers,
		Ops: s.ops, Failed: s.failed, Seconds: s.took.Seconds(), Notes: s.outcome.notes}
	if s.err != nil {
		p.Error = s.err.Error()
	}
	if s.ops > 0 {
		n := float64(s.ops)
		p.PerSecond = s.perSecond()
		p.P50, p.P99, p.P999 = ms(quantile(s.lat, .5)), ms(quantile(s.lat, .99)), ms(quantile(s.lat, .999))
		p.CPUNodes, p.CPUCallers, p.CPUEtcd = 1000*s.nodes/n, 1000*s.callers/n, 1000*s.etcd/n
		p.CPU = p.CPUNodes + p.CPUCallers + p.CPUEtcd
		p.Requests, p.Bytes, p.Proposals = s.requests/n, s.bytes/n, s.proposals/n
		p.Allocs, p.AllocBytes = s.mallocs/n, s.allocBytes/n
	}
	return p
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
