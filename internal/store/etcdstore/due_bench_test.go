package etcdstore

import (
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
)

// BenchmarkALookBehindWhatHasFired looks for what is due where 90,000 timers have fired that etcd has not compacted, 300 a
// second for five minutes: from where the look before ended, and from the beginning of each shard.
func BenchmarkALookBehindWhatHasFired(b *testing.B) {
	w := newWorld(b)
	const fired = 90_000
	begin := w.now.Add(-5 * time.Minute)
	for from := 0; from < fired; from += db.MaxLevel {
		var puts, deletes []clientv3.Op
		for i := from; i < from+db.MaxLevel; i++ {
			key := fmt.Sprintf("%s%s/t%d", w.Keys.Timers(i%record.TimerShards), record.Millis(begin.Add(time.Duration(i)*time.Second/300)), i)
			puts, deletes = append(puts, clientv3.OpPut(key, "{}")), append(deletes, clientv3.OpDelete(key))
		}
		for _, ops := range [][]clientv3.Op{puts, deletes} {
			_, err := w.raw.Txn(w.ctx()).Then(ops...).Commit()
			w.ok(err)
		}
	}
	ended := everywhere()
	for shard := range ended {
		ended[shard] = upkeep.PlaceAt(w.now)
	}
	for name, from := range map[string]upkeep.Places{"where it ended": ended, "its beginning": everywhere()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := w.FirstDue(w.ctx(), record.Timers, from, w.now.Add(10*time.Second))
				w.ok(err)
			}
		})
	}
}
