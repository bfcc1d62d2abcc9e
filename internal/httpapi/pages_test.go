package httpapi_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/node"
)

// noise is text that does not get smaller.
func noise(n int) string {
	b := make([]byte, n*3/4)
	_, _ = rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

// startLarge starts n instances that have a text of size bytes as input, and wait.
func startLarge(t *testing.T, s *server, n, size int, waits string) (ids []string) {
	t.Helper()
	s.publish(t, "id: large\nroot:\n  - "+waits+"\n")
	var all sync.WaitGroup
	for w := range 4 {
		for i := w; i < n; i += 4 {
			ids = append(ids, fmt.Sprintf("large-%03d", i))
		}
		all.Go(func() {
			text := noise(size)
			for i := w; i < n; i += 4 {
				text = text[len(text)/2:] + noise(size/2)
				body := fmt.Sprintf(`{"instanceId": "large-%03d", "input": {"text": %q}}`, i, text)
				if a := s.do(t, http.MethodPost, "/api/v1/definitions/large/execute", body); a.status >= 300 {
					t.Errorf("%d %.200s", a.status, a.body)
				}
			}
		})
	}
	all.Wait()
	slices.Sort(ids)
	return ids
}

// everything reads a list to its end, and holds its pages to their size.
func everything(t *testing.T, s *server, path, id string) (ids []string, pages int) {
	t.Helper()
	for cursor := ""; ; pages++ {
		a := s.get(t, path+"limit=500&cursor="+cursor)
		if most := etcdstore.PageBytes + 1<<20; len(a.body) > most {
			t.Errorf("a page of %s has %d bytes, more than %d", path, len(a.body), most)
		}
		var page struct {
			Items      []map[string]any `json:"items"`
			NextCursor *string          `json:"nextCursor"`
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			ids = append(ids, fmt.Sprint(item[id]))
		}
		if page.NextCursor == nil {
			return ids, pages + 1
		}
		cursor = *page.NextCursor
	}
}

// 200 instances of 0.9 MB, a journal, a queue and dead letters as large are read page
// by page, everything once, at a cost that is a page's. It runs beside no other test:
// they share the heap.
func TestPagesOfLargeItems(t *testing.T) { //nolint:paralleltest // it measures
	n, queued := testsize.Of(200, 60), 24
	s := ownServer(t, node.Config{})
	want := startLarge(t, s, n, 450<<10, `runTask: {taskName: pack, payload: {text: "${{ inputs.text }}"}}`) // half of it in the task
	var events []string
	for i := range queued {
		a := s.post(t, "/api/v1/events/nobody-waits", `{"payload": {"text": "`+noise(900<<10)+fmt.Sprintf(`"}, "correlationId": "c%02d"}`, i), 202)
		events = append(events, fmt.Sprint(a.json(t)["queued"]))
	}
	slices.Sort(events)
	s.publish(t, "id: talks\nvariables: {v: string}\nroot:\n  - forEach: {items: \"${{ 1..20 }}\"}\n    body: [{setVariable: {variable: v, value: \"${{ inputs.text }}\"}}]\n")
	s.post(t, "/api/v1/definitions/talks/execute", `{"instanceId": "talks", "input": {"text": "`+noise(450<<10)+`"}}`, 200)
	for _, c := range []struct {
		path, id string
		want     []string
		pages    int // at least
	}{
		{"/api/v1/instances?", "instanceId", append(slices.Clone(want), "talks"), n * 9 / 10 / 8},
		{"/api/v1/tasks?name=pack&", "instanceId", want, n * 45 / 100 / 8}, // the other half is input, and is not read
		{"/api/v1/queue?", "id", events, queued * 9 / 10 / 8},
		{"/api/v1/timers?", "", nil, 1},
		{"/api/v1/dead-letters?", "id", nil, 1},
	} {
		got, pages := everything(t, s, c.path, c.id)
		slices.Sort(got)
		if !slices.Equal(got, c.want) || pages < c.pages {
			t.Errorf("%s: %d of %d items in %d pages, want at least %d pages", c.path, len(got), len(c.want), pages, c.pages)
		}
	}
	journal, pages := everything(t, s, "/api/v1/instances/talks/journal?", "sequence")
	if all := slices.Compact(slices.Sorted(slices.Values(journal))); len(all) != len(journal) || len(journal) < 40 {
		t.Errorf("%d journal items, %d of them different, in %d pages", len(journal), len(all), pages)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // garbage counts
	for path, most := range map[string]uint64{"/api/v1/instances?limit=500": 200 << 20, "/api/v1/tasks?limit=500": 200 << 20} {
		runtime.GC()
		grown := watchHeap()
		s.get(t, path)
		if got := grown(); got > most {
			t.Errorf("%s took %d MiB, want at most %d", path, got>>20, most>>20)
		}
	}
}

// watchHeap gives by how much the heap grew, garbage included, until it is asked.
func watchHeap() (most func() uint64) {
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	stop, result, before := make(chan struct{}), make(chan uint64), heap()
	go func() {
		top := before
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				result <- max(top, heap()) - before
				return
			case <-tick.C:
				top = max(top, heap())
			}
		}
	}()
	return func() uint64 { close(stop); return <-result }
}

// A page that a client does not fetch counts until it has it, or is gone.
func TestLargePagesCountUntilTheyAreSent(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{BodyBytes: 12 << 20})
	startLarge(t, s, 12, 900<<10, "event: go")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	const list = "/api/v1/instances?definitionId=large&limit=500"
	if _, err := conn.Write([]byte("GET " + list + " HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // it is being sent
		t.Fatal(err)
	}
	if a := s.do(t, "GET", list, ""); a.status != 503 || a.code() != "busy" {
		t.Errorf("a second page: %d %.200s", a.status, a.body)
	}
	s.get(t, "/api/v1/instances?definitionId=large&limit=1")
	s.get(t, "/api/v1/queue")
	conn.Close()
	polltest.Eventually(t, "there is a page again, as nobody fetches one", func() bool { return s.do(t, "GET", list, "").status == 200 })
}
