package etcdstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
)

// BenchmarkCensus counts the instances of 20 definitions with three versions each, beside
// so many, half of them running: the first time, and again.
//
//	go test ./internal/store/etcdstore -run '^$' -bench Census -benchtime 20x
func BenchmarkCensus(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		w := newWorld(b)
		w.makeInstances(n)
		latest := map[string]int{}
		for i := range 20 {
			latest[fmt.Sprint("d", i)] = 3
		}
		now := time.Now()
		again, err := w.Store.Upkeep.Census(w.ctx(), latest, nil, now)
		w.ok(err)
		for name, before := range map[string]map[string]upkeep.Census{"first": nil, "again": again} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					got, err := w.Store.Upkeep.Census(w.ctx(), latest, before, now)
					if err != nil || got["d7"].Oldest.IsZero() {
						b.Fatal(got["d7"], err)
					}
				}
			})
		}
	}
}
