package serve

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/httpapi/fair"
	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// places bound what requests may take of the node at once. A request takes a
// place when all of it has arrived: who sends slowly keeps nobody out.
type places struct {
	all, starts chan struct{}
	open        chan struct{} // of the starts, for requests to endpoints, which anybody may send
	reserve     chan struct{} // for what stops and ends work, when all are taken
	waits       fair.Shares   // for requests that wait on purpose
	streams     fair.Shares   // for answers that last as long as somebody listens
	pages       chan struct{} // for lists that are being read; the rest of them wait
	costly      fair.Lines    // for requests that take much of a processor
	bodies      fair.Bytes
	shedAt      atomic.Int64 // when a request was last refused for want of a place, in Unix nanoseconds
}

func newPlaces(inFlight int, bodies int64) *places {
	waits := max(1, inFlight/4)
	starts := max(1, inFlight/2)
	streams := max(1, inFlight/2)
	p := &places{
		streams: fair.Shares{Most: streams, Each: max(1, streams/2)},
		all:     make(chan struct{}, inFlight), starts: make(chan struct{}, starts), open: make(chan struct{}, max(1, starts*3/4)),
		reserve: make(chan struct{}, reserved), waits: fair.Shares{Most: waits, Each: max(1, waits/2)},
		pages: make(chan struct{}, pagesAtOnce),
	}
	// As many of one caller run at once as there are processors, but one, if there are several, and half of the
	// pages at most: who asks for many large pages at once keeps nobody else waiting.
	p.costly = fair.NewLines(max(1, min(runtime.GOMAXPROCS(0)-1, pagesAtOnce/2)), waits)
	p.bodies.Most = bodies
	return p
}

// pagesAtOnce is how many pages of lists a node reads at once: each may take some
// 60 MiB until it is written as JSON.
const pagesAtOnce = 8

// largePage is from how many bytes on the JSON of a page counts, so that a flood of
// bodies keeps nobody from looking.
const largePage = 1 << 20

// reserved is how many requests run beyond the limit that stop or end work.
const reserved = 16

// shedding tells whether requests were refused for want of a place a moment ago.
func (p *places) shedding() bool {
	at := p.shedAt.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < 10*time.Second
}

// InFlight is how many requests have a place.
func (a *API) InFlight() int { return len(a.places.all) }

// Serving refuses what a node that drains, or has no session, does not take.
func (a *API) Serving() error {
	if a.isDraining() {
		return &workflow.Error{Code: workflow.CodeDraining, Detail: "this node is shutting down; ask another one", RetryAfter: time.Second}
	}
	if err := a.Config.Session.Ready(); err != nil {
		return &workflow.Error{Code: workflow.CodeUnavailable, Detail: "this node has no session with etcd", RetryAfter: time.Second, Err: err}
	}
	return nil
}

// admit takes a place among the requests in flight. Starts have fewer places
// than the rest, so that overload sheds new work before work that exists, and so
// have requests that wait. Requests to endpoints have fewer than all starts: who
// sends many to one that answers late keeps nobody from starting anything else. What stops or ends work finds a place when all the
// others are taken.
func (a *API) admit(rt *Route, c *Call) (leave func(), err error) {
	if err := a.Serving(); err != nil {
		return nil, err
	}
	p := a.places
	var taken []func()
	leave = func() {
		for _, give := range taken {
			give()
		}
	}
	// The smaller class comes first: those that find no place in it, however many
	// they are, never hold the place of something else while they wait.
	if rt.Waits && c.Wait() > 0 {
		caller := c.Caller()
		if !p.waits.Take(caller) {
			c.Linger(min(c.Wait(), time.Second))
			return nil, a.Busy(metrics.ShedOther, metrics.ShedWaiting,
				fmt.Sprintf("as many requests wait on this node as may: %d in all, %d of one caller; ask without Prefer: wait", p.waits.Most, p.waits.Each))
		}
		taken = append(taken, func() { p.waits.Give(caller) })
	}
	enter := func(places chan struct{}) bool {
		select {
		case places <- struct{}{}:
			taken = append(taken, func() { <-places })
			return true
		default:
			return false
		}
	}
	wanted := metrics.ShedOther
	if rt.Kind == Starts {
		wanted = metrics.ShedStart
	}
	switch {
	case rt == a.endpoints && !enter(p.open):
		err = a.full(wanted, "requests to endpoints", cap(p.open))
	case rt.Kind == Starts && !enter(p.starts):
		err = a.full(wanted, "starts", cap(p.starts))
	case !enter(p.all) && !(rt.Reserved && enter(p.reserve)):
		err = a.full(wanted, "requests", cap(p.all))
	default:
		return leave, nil
	}
	leave()
	return nil, err
}

// inLine waits until a costly request may run beside the others of its caller.
func (a *API) inLine(c *Call) (leave func(), err error) {
	s := &a.places.costly
	leave, ok := s.Enter(c.Request.Context(), c.Caller())
	switch {
	case ok:
		return leave, nil
	case c.Request.Context().Err() != nil:
		return nil, a.Busy(metrics.ShedOther, metrics.ShedWaiting,
			fmt.Sprintf("the time of the request ended while it waited for others of its caller that take much of a processor, such as lists and publications, of which %d run at once on this node; send fewer at a time", s.Most))
	default:
		return nil, a.Busy(metrics.ShedOther, metrics.ShedWaiting,
			fmt.Sprintf("requests of one caller that take much of a processor, such as lists and publications, run %d at once on this node, and %d more may wait; send fewer at a time", s.Most, s.Waits.Each))
	}
}

// page answers with a page of a list. Few are read at once; what a large one has as
// JSON counts among the bodies in flight until the client has it.
func (a *API) page(rt *Route, c *Call) (Reply, error) {
	select {
	case a.places.pages <- struct{}{}:
		defer func() { <-a.places.pages }()
	case <-c.Request.Context().Done():
		return Reply{}, a.Busy(metrics.ShedOther, metrics.ShedInFlight, fmt.Sprintf("as many lists are read on this node as may be, %d, and none came to its end in time", cap(a.places.pages)))
	}
	answer, err := rt.Serve(c)
	if err != nil {
		return answer, err
	}
	raw, err := a.Encode(c.Request, answer.Body)
	if err != nil {
		return answer, err
	}
	if len(raw) > largePage {
		if err := c.Charge(int64(len(raw))); err != nil {
			return Reply{}, err
		}
	}
	answer.Body, answer.Raw, answer.RawType = nil, append(raw, '\n'), "application/json"
	return answer, nil
}

// Linger answers a refused wait later: who asked to wait, and asks again at once, costs
// the node a request a second and connection, and not thousands.
func (c *Call) Linger(d time.Duration) {
	pace.Pause(c.Request.Context(), d)
}

func (a *API) full(wanted metrics.ShedWanted, what string, most int) error {
	return a.Busy(wanted, metrics.ShedInFlight, fmt.Sprintf("too many %s are in flight on this node: %d", what, most))
}

// Busy is the answer to what finds no place, and counts it.
func (a *API) Busy(wanted metrics.ShedWanted, reason metrics.ShedReason, detail string) error {
	a.places.shedAt.Store(time.Now().UnixNano())
	a.Config.Metrics.Shed(wanted, reason)
	return &workflow.Error{Code: workflow.CodeBusy, Detail: detail, RetryAfter: time.Second}
}

// Caller is whose share a request counts against: who asks, or from where.
func (c *Call) Caller() string {
	if p := ExchangeOf(c.Request).Caller; p != nil {
		return "name " + p.Name
	}
	host, _, _ := net.SplitHostPort(c.Request.RemoteAddr)
	return "address " + cmp.Or(host, c.Request.RemoteAddr)
}

// Charge takes n bytes of what all bodies in flight may have. It is given back
// when the request is over.
func (c *Call) Charge(n int64) error {
	b := &c.API.places.bodies
	if n = min(n, b.Most-c.charged); n <= 0 {
		return nil // it has all of it, alone
	}
	if c.payer == "" {
		c.payer = c.Caller() // as long as the request lasts: who calls an endpoint may become known later
	}
	if !b.Take(c.payer, c.charged, n) {
		return c.API.Busy(metrics.ShedOther, metrics.ShedBodies, fmt.Sprintf("the bodies in flight on this node fill the memory that they may have: %d bytes in all, and of one caller no more than others leave; repeat it later, or raise body-bytes", b.Most))
	}
	c.charged += n
	return nil
}

// release gives back what the bodies took.
func (c *Call) release() {
	if c.charged > 0 {
		c.API.places.bodies.Give(c.payer, c.charged)
	}
}

// bodyReader charges what has arrived, not what was announced.
type bodyReader struct {
	c    *Call
	from interface{ Read([]byte) (int, error) }
	free int64 // what a small body has without asking
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	more := int64(n) - b.free
	b.free = max(0, b.free-int64(n))
	if more > 0 {
		if cerr := b.c.Charge(more); cerr != nil {
			return n, cerr
		}
	}
	return n, err
}

// freeBody is what every body may have beside the budget, so that a flood of large ones refuses no small one.
const freeBody = 8 << 10

// maxValues bounds the values of a JSON body: objects, arrays and all within them.
// Each takes many times the bytes that it has as text.
const maxValues = 100_000

// valueBytes is about what a value takes in memory.
const valueBytes = 100

// Weigh makes room for the values of a JSON body before it is parsed.
func (c *Call) Weigh() error {
	if int64(len(c.Body)) <= freeBody {
		return nil
	}
	n := wire.CountValues(c.Body)
	if n > maxValues && !c.manyValues {
		return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the body has %d JSON values; there may be %d", n, maxValues))
	}
	return c.Charge(n * valueBytes)
}

// arriving gives a request that has a body the time for it, before anything else
// is done with it. True: there is a body.
func arriving(w http.ResponseWriter, r *http.Request, patience time.Duration) bool {
	if r.Body == nil || r.Body == http.NoBody {
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience)) // tests' writers have none
	return true
}

// refuse ends the connection after the answer when the body is not there: nobody
// waits for it, but for a moment, in which a client that sends sees the answer.
func refuse(w http.ResponseWriter, r *http.Request) {
	const linger = 2 * time.Second
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(linger))
	if r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
}

// listen takes a place for a stream. It is none of those for requests in flight.
func (a *API) listen(c *Call) (leave func(), err error) {
	if err := a.Serving(); err != nil {
		return nil, err
	}
	caller, s := c.Caller(), &a.places.streams
	if !s.Take(caller) {
		c.Linger(time.Second)
		return nil, a.Busy(metrics.ShedOther, metrics.ShedStreams,
			fmt.Sprintf("as many streams are open on this node as may be: %d in all, %d of one caller; close some", s.Most, s.Each))
	}
	return func() { s.Give(caller) }, nil
}
