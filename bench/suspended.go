package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// resumesAmongMany is W4: suspended instances, each waiting for an event and with
// a correlation of its own, and then resumes at a rate. On the way to their number
// it looks some of them up, and at the node's memory.
func resumesAmongMany(ctx context.Context, m *meter, name, commit string, _ int) error {
	s := &suspended{m: m, run: serial.Add(1), gone: map[int]bool{}}
	resident, heap := m.sys.memory(ctx)
	notes := map[string]float64{"resident MB before": resident, "heap MB before": heap}
	if err := m.sys.heapProfile(ctx, m.o.profile, "node-heap-before.pprof"); err != nil {
		return err
	}
	for n := 1000; n < m.o.instances; n *= 10 {
		if err := s.reach(ctx, n); err != nil {
			return err
		}
	}
	if err := s.reach(ctx, m.o.instances); err != nil {
		return err
	}
	resident, heap = m.sys.memory(ctx)
	notes["resident MB after"], notes["heap MB after"] = resident, heap
	notes["etcd MB in use"], notes["etcd MB allocated"] = m.sys.etcdSize(ctx)
	notes["suspended"], notes["suspended per second"] = float64(s.waiting()), float64(s.n)/s.took.Seconds()
	if err := m.sys.heapProfile(ctx, m.o.profile, "node-heap-after.pprof"); err != nil {
		return err
	}
	seconds := min(m.o.instances/m.o.rate, 10)
	m.note(ctx, "workload", name, commit, m.o.rate, func() outcome {
		var each []int // chosen before: the calls are made at once
		for range m.o.rate * seconds {
			i := s.any()
			each, s.gone[i] = append(each, i), true
		}
		out := openLoop(ctx, m.o.rate, time.Duration(seconds)*time.Second, func(ctx context.Context, i int64) error { return s.resume(ctx, each[i]) })
		notes["resident MB at the end"], notes["heap MB at the end"] = m.sys.memory(ctx)
		out.notes = notes
		return out
	})
	return nil
}

// suspended are instances that wait.
type suspended struct {
	m    *meter
	run  int64
	n    int // started
	took time.Duration
	turn int // how many of any were asked for
	gone map[int]bool
}

func (s *suspended) id(i int) string          { return fmt.Sprintf("w4-%d-%d", s.run, i) }
func (s *suspended) event(i int) string       { return "event of " + s.id(i) }
func (s *suspended) correlation(i int) string { return "correlation of " + s.id(i) }
func (s *suspended) waiting() int             { return s.n - len(s.gone) }

// any goes all over the range, not in the order of their making, and leaves out what
// was resumed: the factor is a prime.
func (s *suspended) any() int {
	for {
		s.turn++
		if i := s.turn * 7919 % s.n; !s.gone[i] {
			return i
		}
	}
}

// resumes is how many are resumed by one caller at each number of instances.
const resumes = 500

// resumeAmong is the name of what that takes, and its notes of what puts took beside it.
const (
	resumeAmong = "resume"
	putBefore   = "median put before, ms"
	putAfter    = "median put after, ms"
)

// reach starts instances until n and some wait, looks some up, and resumes those that
// are too many, one after the other.
func (s *suspended) reach(ctx context.Context, n int) error {
	began, from := time.Now(), s.n
	err := inParallel(ctx, n+resumes-s.waiting(), func(ctx context.Context, i int) error {
		i += from
		_, err := s.m.sys.target.start(ctx, start{definition: "w4", id: s.id(i), correlation: s.correlation(i), input: map[string]any{"order": input["order"], "event": s.event(i)}})
		return err
	})
	if err != nil {
		return err
	}
	s.n, s.took = n+resumes+len(s.gone), s.took+time.Since(began)
	if err := s.lookUp(ctx, n); err != nil {
		return err
	}
	before := s.putMedian(ctx)
	s.m.note(ctx, "among", resumeAmong, "", n, func() outcome { return s.resumeSome(ctx) })
	if before > 0 {
		p := &s.m.points[len(s.m.points)-1]
		p.notes(putBefore, before)
		p.notes(putAfter, s.putMedian(ctx))
	}
	return nil
}

// resumeSome resumes some, one after the other.
func (s *suspended) resumeSome(ctx context.Context) (out outcome) {
	began := time.Now()
	for range resumes {
		i, t := s.any(), time.Now()
		if err := s.resume(ctx, i); err != nil {
			out.failed, out.err = out.failed+1, err
			continue
		}
		out.lat = append(out.lat, time.Since(t))
		s.gone[i] = true
	}
	out.took, out.ops = time.Since(began), len(out.lat)
	slices.Sort(out.lat)
	return out
}

func (s *suspended) resume(ctx context.Context, i int) error {
	resumed, err := s.m.sys.target.send(ctx, s.event(i), s.correlation(i))
	if err == nil && !resumed {
		err = errNotResumed
	}
	return err
}

// putMedian is what a raw put of one caller takes at the moment, in ms; 0 if nobody
// said where etcd is.
func (s *suspended) putMedian(ctx context.Context) float64 {
	if s.m.sys.client == nil {
		return 0
	}
	return ms(quantile(s.m.sys.put(ctx, 1, s.m.short()).lat, .5))
}

// lookUp measures the three ways to find an instance, one caller at a time. The
// one by hash is what a node reads to deliver an event without a correlation.
func (s *suspended) lookUp(ctx context.Context, n int) error {
	sys := s.m.sys
	measure := func(what string, do func(ctx context.Context, i int) error) {
		s.m.note(ctx, "lookup", what, "", n, func() outcome {
			return closedLoop(ctx, 1, s.m.short(), func(ctx context.Context, _ int64) error { return do(ctx, s.any()) })
		})
	}
	measure("by id", func(ctx context.Context, i int) error {
		return sys.api.call(ctx, http.MethodGet, "/instances/"+s.id(i), nil, nil, &instance{})
	})
	measure("by correlation", func(ctx context.Context, i int) error {
		var page struct{ Items []instance }
		err := sys.api.call(ctx, http.MethodGet, "/instances?correlationId="+url.QueryEscape(s.correlation(i)), nil, nil, &page)
		if err == nil && (len(page.Items) != 1 || page.Items[0].ID != s.id(i)) {
			err = fmt.Errorf("%d instances found instead of one", len(page.Items))
		}
		return err
	})
	if sys.client == nil {
		return nil
	}
	store, err := etcdstore.New(etcdstore.Config{Client: sys.client, Root: cluster.Root(sys.cluster)})
	if err != nil {
		return err
	}
	measure("by hash", func(ctx context.Context, i int) error {
		st := workflow.EventStimulus(s.event(i), nil)
		hash, err := workflow.Hash(st.ActivityType, st.Payload)
		if err != nil {
			return err
		}
		look, err := store.Stimuli.Match(ctx, st, hash, "")
		if err == nil && len(look.Bookmarks) != 1 {
			err = fmt.Errorf("%d bookmarks found instead of one", len(look.Bookmarks))
		}
		return err
	})
	return nil
}
