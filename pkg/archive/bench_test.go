package archive_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/postgrestest"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/workflow"
)

// BenchmarkArchive puts 30,000 instances as a node does, 30 at a time, and reads pages of 50 of them.
func BenchmarkArchive(b *testing.B) {
	for name, connection := range map[string]func(*testing.B) string{
		"SQLite": func(b *testing.B) string {
			b.Helper()
			return "sqlite:" + filepath.Join(b.TempDir(), "archive.db")
		},
		"PostgreSQL": func(b *testing.B) string {
			b.Helper()
			return postgrestest.Start(b).String()
		},
	} {
		b.Run(name, func(b *testing.B) {
			a := open(b, connection(b), "c")
			serial := 0
			const n, each = 30_000, 30
			for b.Loop() {
				began := time.Now()
				for range n / each {
					items := make([]archive.Item, each)
					for i := range items {
						serial++
						items[i] = item(fmt.Sprintf("i%08d", serial), time.Duration(serial)*time.Second, func(in *workflow.Instance) {
							in.DefinitionID = fmt.Sprint("d", serial%40)
							in.Input = map[string]any{"order": fmt.Sprint("order ", serial), "text": fmt.Sprintf("%0500d", serial)}
						})
						items[i].State = fmt.Appendf(nil, `{"x": "%0700d"}`, serial)
					}
					if err := a.Put(b.Context(), items); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(n/time.Since(began).Seconds(), "instances/s")
				for what, q := range map[string]archive.Query{"all": {}, "definition": {DefinitionID: "d7"}, "correlation": {CorrelationID: "c-i00000007"}, "id": {IDs: []string{"i00000009"}}} {
					q.Limit = 50
					began := time.Now()
					for range 100 {
						if found, _, err := a.List(b.Context(), q); err != nil || len(found) == 0 {
							b.Fatal(len(found), err)
						}
					}
					b.ReportMetric(time.Since(began).Seconds()*10, "ms/"+what)
				}
			}
		})
	}
}
