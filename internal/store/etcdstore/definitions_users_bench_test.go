package etcdstore

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// BenchmarkVersionUsers looks for who needs a version that nothing needs, beside
// instances of another version of its definition, each with 2 KB of state: none of
// them is read.
func BenchmarkVersionUsers(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			state := map[string]any{"format": 1}
			for i := range 50 {
				state[fmt.Sprint("variable", i)] = fmt.Sprintf("%032x", i*7919)
			}
			raw, err := json.Marshal(state)
			w.ok(err)
			for first := 0; first < n; first += 100 {
				o := db.NewOps()
				for i := first; i < first+100; i++ {
					id := fmt.Sprintf("instance-%06d", i)
					cmd := workflow.Command{ID: "start-" + id, Kind: workflow.CommandStart, CreatedAt: w.now, Start: &workflow.Start{DefinitionID: "order", Version: 2}}
					h := NewHeader(id, cmd, w.now)
					o.Put(w.Keys.Instance(id), store.Record{Header: h, State: raw, Seq: 1})
					w.Conn.WriteIndex(o, nil, &store.Record{Header: h})
				}
				then, err := o.Render()
				w.ok(err)
				_, err = w.Txn(w.ctx(), "make instances", nil, then, nil)
				w.ok(err)
			}
			for b.Loop() {
				users, err := w.VersionUsers(w.ctx(), []record.VersionRef{{ID: "order", Version: 1}})
				if err != nil || len(users) > 0 {
					b.Fatal(users, err)
				}
			}
		})
	}
}
