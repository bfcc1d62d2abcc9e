package console

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
)

// BenchmarkPages asks for pages beside so many instances, and for one of an instance whose
// journal has 10,000 items and more: the time is that of the whole request on loopback, gz-bytes
// what a page weighs by gzip.
//
//	WEFT_BENCH_INSTANCES=100000 go test ./test/console -run '^$' -bench Pages -benchtime 50x -timeout 20m
func BenchmarkPages(b *testing.B) {
	n := 1000
	if text := os.Getenv("WEFT_BENCH_INSTANCES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	s := open(b, false)
	v := s.as(auth.Admin)
	long := manyInstances(b, s, n)
	for name, path := range map[string]string{
		"list": "instances", "list-of-status": "instances?q=status:suspended", "list-of-definition": "instances?q=def:waits", "list-of-correlation": "instances?q=corr:c-7",
		"home": "", "journal": "instances/" + long + "?tab=journal", "timeline": "instances/" + long + "?tab=timeline", "instance": "instances/" + long + "?tab=waits", "activities": "activities", "timers": "timers",
	} {
		b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
			var p page
			for b.Loop() {
				if p = v.get("/console/" + path); p.status != http.StatusOK {
					b.Fatalf("%d\n%s", p.status, p.text)
				}
			}
			b.ReportMetric(float64(gzipped(b, p.text)), "gz-bytes")
		})
	}
}

// manyInstances makes n instances that wait, with labels, names and correlations, and one with
// a long journal, whose id it gives.
func manyInstances(tb testing.TB, s *site, n int) (long string) {
	tb.Helper()
	for _, text := range []string{
		"id: waits\nroot:\n  - setLabel: {name: customer, value: acme}\n  - event: approved\n",
		"id: loops\nroot:\n  - forEach: ${{ 0..1700 }}\n    body: [{writeLine: a line of an order}, {writeLine: and another}]\n  - event: paid\n",
	} {
		if status, answer := s.api(http.MethodPost, "/definitions", text); status >= 300 {
			tb.Fatalf("%d %v", status, answer)
		}
	}
	const callers = 16
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := c; i < n; i += callers {
				if status, answer := s.api(http.MethodPost, "/definitions/waits/dispatch", map[string]any{"correlationId": fmt.Sprint("c-", i), "name": fmt.Sprint("Order of customer ", i)}); status >= 300 {
					tb.Errorf("%d %v", status, answer)
					return
				}
			}
		})
	}
	all.Wait()
	_, answer := s.api(http.MethodPost, "/definitions/loops/dispatch", nil)
	long, _ = answer["instanceId"].(string)
	polltest.Eventually(tb, "the long one waits", func() bool {
		_, in := s.api(http.MethodGet, "/instances/"+long, nil)
		return in["subStatus"] == "Suspended"
	})
	return long
}

func gzipped(tb testing.TB, text string) int {
	tb.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Len()
}

// TestPagesAreLight holds what pages may weigh and ask: the same beside 400 instances as beside
// 100. How long they take is measured by BenchmarkPages.
func TestPagesAreLight(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	v := s.as(auth.Admin)
	long := manyInstances(t, s, 100)
	journal := "instances/" + long + "?tab=journal"
	weights := func() map[string]int {
		out := map[string]int{}
		for _, path := range append([]string{journal, "instances/" + long + "?tab=timeline", "instances/" + long}, plain...) {
			p := v.check("/console/"+path, http.StatusOK)
			if out[path] = gzipped(t, p.text); out[path] > 60_000 {
				t.Errorf("%s has %d bytes by gzip", path, out[path])
			}
		}
		return out
	}
	before := weights()
	manyInstances(t, s, 300)
	for path, now := range weights() {
		if now > before[path]+2_000 {
			t.Errorf("%s grew from %d to %d bytes", path, before[path], now)
		}
	}
}
