package client_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// The benchmarks count etcd requests per operation beside the time, and a raw
// put in the same run, on the same embedded etcd, is what they compare with:
//
//	go test ./pkg/client -run '^$' -bench . -benchtime 2000x

func BenchmarkRawPut(b *testing.B) {
	w := newWorld(b)
	value := string(make([]byte, 1024))
	for b.Loop() {
		must(w.etcd.Put(b.Context(), "/raw/"+w.name, value))(b)
	}
	b.ReportMetric(1, "requests/op")
}

// run measures f, which does one operation, with n callers at once.
func run(b *testing.B, m *member, callers int, f func(i int64)) {
	b.Helper()
	before := m.faults.Calls("txn") + m.faults.Calls("get")
	var n atomic.Int64
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			f(n.Add(1))
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(m.faults.Calls("txn")+m.faults.Calls("get")-before)/float64(b.N), "requests/op")
}

var concurrency = []int{1, 32}

// BenchmarkStartToFinish is three activities, start to finish.
func BenchmarkStartToFinish(b *testing.B) {
	for _, callers := range concurrency {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			m := newWorld(b, define("d", seq(line("a"), line("b"), line("c")))).member("a", cluster.ModeDistributed)
			run(b, m, callers, func(i int64) {
				id := fmt.Sprintf("i%d", i)
				if _, err := m.open(id).Do(b.Context(), startOf("d", "c"+id)); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// BenchmarkResume resumes an idle instance by bookmark; its start is not
// measured.
func BenchmarkResume(b *testing.B) {
	m := newWorld(b, define("d", seq(waitFor("go")))).member("a", cluster.ModeDistributed)
	instances := make([]workflow.Instance, b.N)
	for i := range instances {
		id := fmt.Sprintf("i%d", i+1)
		instances[i] = must(m.open(id).Do(b.Context(), startOf("d", "c"+id)))(b).Instance
	}
	run(b, m, 1, func(i int64) {
		in := instances[i-1]
		if r, err := m.open(in.ID).Do(b.Context(), resumeOf("r"+in.ID, in, 0)); err != nil || r.Instance.Status != workflow.StatusFinished {
			b.Error(r, err)
		}
	})
}

// BenchmarkHotInstance sends events to one instance from many callers of its
// node; compare with the hand-over rate of the contended mutex in pkg/cluster.
func BenchmarkHotInstance(b *testing.B) {
	loop := &workflow.Activity{Type: "Elsa.While", Inputs: map[string]workflow.Expression{"condition": workflow.Lit(true)},
		Ports: map[string]*workflow.Activity{"body": waitFor("tick")}}
	m := newWorld(b, define("d", loop)).member("a", cluster.ModeDistributed)
	must(m.open("hot").Do(b.Context(), startOf("d", "c0")))(b)
	st := workflow.EventStimulus("tick", nil)
	run(b, m, 128, func(i int64) {
		for {
			cmd := workflow.Command{ID: fmt.Sprintf("t%d", i), Kind: workflow.CommandResume, CreatedAt: time.Now(), Bookmark: "hot~gone", Stimulus: &st}
			r, err := m.open("hot").Do(b.Context(), cmd)
			if err != nil {
				b.Error(err)
				return
			}
			if r.Effect.Outcome == "resumed" {
				return
			}
		}
	})
}
