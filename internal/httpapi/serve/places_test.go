package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/httpapi/fair"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestBodiesShareTheirMemory(t *testing.T) {
	t.Parallel()
	p := newPlaces(4, 1000)
	a := &API{places: p}
	from := func(address string) *Call {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.RemoteAddr = address
		return &Call{API: a, Request: r}
	}
	one, two := from("192.0.2.1:1"), from("192.0.2.2:1")
	if one.Charge(600) != nil || two.Charge(600) == nil || two.Charge(400) != nil {
		t.Error("1000 bytes were not shared as they should be")
	}
	two.release()
	if one.Charge(5000) != nil { // a body that is larger than all of it has it alone
		t.Error("one alone has no room")
	}
	one.release()
	if bytes, callers := p.bodies.Taken(); bytes != 0 || callers != 0 {
		t.Errorf("%d bytes are taken, by %d callers", bytes, callers)
	}
	if !p.shedding() {
		t.Error("nobody would know that it sheds")
	}
}

// Lists and publications of one caller run in line, however many come at once; another's
// do not wait behind them.
func TestCostlyRequestsOfOneCallerRunInLine(t *testing.T) {
	t.Parallel()
	for name, rt := range map[string]Route{"a list": {Kind: Reads, Query: PageParams}, "a publication": {Costly: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &API{Config: Config{RequestTimeout: time.Minute, BodyTimeout: time.Minute}, places: newPlaces(32, 1000)}
			a.places.costly = fair.NewLines(1, 8)
			inside, end := make(chan string, 100), make(chan struct{})
			finish := sync.OnceFunc(func() { close(end) })
			defer finish()
			rt.Serve = func(c *Call) (Reply, error) {
				inside <- c.Request.RemoteAddr
				<-end
				return Reply{Body: "done"}, nil
			}
			ask := func(ctx context.Context, address string) error {
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
				r.RemoteAddr = address
				_, err := a.answer(&rt, &Call{API: a, Writer: httptest.NewRecorder(), Request: r})
				return err
			}
			waiting := func() int {
				places, _ := a.places.costly.Waits.Taken()
				return places
			}
			var all sync.WaitGroup
			for range 5 { // one runs, and four wait, as many as may of one caller
				all.Go(func() {
					if err := ask(t.Context(), "192.0.2.1:1"); err != nil {
						t.Error(err)
					}
				})
			}
			polltest.Eventually(t, "four of five requests wait for the first", func() bool { return waiting() >= 4 })
			if err := ask(t.Context(), "192.0.2.1:2"); workflow.CodeOf(err) != workflow.CodeBusy || !strings.Contains(err.Error(), "4 more may wait") {
				t.Errorf("one more than may wait: %v", err)
			}
			all.Go(func() { _ = ask(t.Context(), "192.0.2.2:1") })
			if a, b := <-inside, <-inside; a == b {
				t.Error("another caller waits too")
			}
			if len(inside) > 0 {
				t.Error("two of one caller run at once")
			}
			over, cancel := context.WithCancel(t.Context())
			cancel()
			if err := ask(over, "192.0.2.2:2"); workflow.CodeOf(err) != workflow.CodeBusy || !strings.Contains(err.Error(), "time of the request ended") {
				t.Errorf("who cannot wait: %v", err)
			}
			finish()
			all.Wait()
			if places, callers := a.places.costly.Waits.Taken(); places != 0 || callers != 0 || a.places.costly.Callers() != 0 {
				t.Errorf("left over: %d of %d callers, %d in line", places, callers, a.places.costly.Callers())
			}
		})
	}
}

// However many processors there are, one caller leaves pages and processors to others.
func TestOneCallerLeavesPagesToOthers(t *testing.T) { //nolint:paralleltest // it sets how many processors there are
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors, want := range map[int]int{1: 1, 2: 1, 3: 2, 5: 4, 9: 4, 64: 4} {
		runtime.GOMAXPROCS(processors)
		p := newPlaces(1000, 1000)
		if p.costly.Most != want || p.costly.Most >= cap(p.pages) {
			t.Errorf("with %d processors one caller has %d of %d pages, want %d", processors, p.costly.Most, cap(p.pages), want)
		}
	}
}

// Of many who ask for lists a few are read for at once, and the others wait, as long
// as a request may take.
func TestFewListsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	a := &API{Config: Config{RequestTimeout: time.Minute, BodyTimeout: time.Minute}, places: newPlaces(1000, 1000)}
	var now, most, done atomic.Int64
	inside, end := make(chan struct{}, 100), make(chan struct{})
	rt := Route{Kind: Reads, Query: PageParams, Serve: func(c *Call) (Reply, error) {
		for n := now.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		defer now.Add(-1)
		inside <- struct{}{}
		select {
		case <-end:
		case <-c.Request.Context().Done():
		}
		return Reply{Body: "page"}, nil
	}}
	var callers atomic.Int64
	ask := func(ctx context.Context) (Reply, error) {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", callers.Add(1)) // each is another
		return a.answer(&rt, &Call{API: a, Writer: httptest.NewRecorder(), Request: r})
	}
	var all sync.WaitGroup
	for range 5 * pagesAtOnce {
		all.Go(func() {
			if answer, err := ask(t.Context()); err == nil && string(answer.Raw) == "\"page\"\n" {
				done.Add(1)
			}
		})
	}
	for range pagesAtOnce {
		<-inside
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ask(over); workflow.CodeOf(err) != workflow.CodeBusy {
		t.Errorf("who cannot wait: %v", err)
	}
	close(end)
	all.Wait()
	if done.Load() != 5*pagesAtOnce || most.Load() != pagesAtOnce || len(a.places.pages) != 0 {
		t.Errorf("%d of %d pages, %d at once, %d places taken", done.Load(), 5*pagesAtOnce, most.Load(), len(a.places.pages))
	}
	if other := (&Route{Kind: Reads, Query: PageParams[:1]}); other.lists() {
		t.Error("what has no cursor is a list")
	}
}
