package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/httpapi"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/refresh"
)

func TestMain(m *testing.M) { membertest.Main(m) }

// door is the HTTP API of a member.
type door struct {
	*membertest.Member
	t        testing.TB
	api      *httpapi.API
	hub      *live.Hub
	registry *prometheus.Registry
	base     string
	http     *http.Client
}

// sendBuffer is how much a door sends of what nobody reads.
const sendBuffer = 4 << 10

type options struct {
	api func(*httpapi.Config)
	hub func(*live.Config)
	tls bool // and so HTTP/2
	// conn is told of each connection, and gives what the contexts of its requests come from.
	conn func(context.Context) context.Context
}

func open(t testing.TB, m *membertest.Member, opts options) *door {
	t.Helper()
	d := &door{Member: m, t: t, registry: prometheus.NewRegistry()}
	measured, err := metrics.New(d.registry)
	if err != nil {
		t.Fatal(err)
	}
	explainer, err := explain.New(explain.Config{Reader: m.Store.Reader, Stimuli: m.Store.Stimuli, Session: m.Session, Intake: m.Intake(), Recent: m.Recent(), Node: m.Node})
	if err != nil {
		t.Fatal(err)
	}
	looks := live.Config{Reader: m.Store.Reader, Catalog: m.Catalog, Session: m.Session}
	if opts.hub != nil {
		opts.hub(&looks)
	}
	if d.hub, err = live.New(looks); err != nil {
		t.Fatal(err)
	}
	cfg := httpapi.Config{
		Runtime: m.Runtime, Explainer: explainer, Live: d.hub, Catalog: m.Catalog, Session: m.Session, Gatherer: d.registry, Metrics: measured,
		Refresher: &refresh.LocalRefresher{Catalog: m.Catalog}, Reloader: &refresh.LocalReloader{Catalog: m.Catalog},
		NodeID: "n", MaxBody: 1 << 20, MaxInFlight: 1024, BodyBytes: 64 << 20, StreamBeat: 100 * time.Millisecond,
		Ready: func() error { return nil }, Drain: func() {},
	}
	if opts.api != nil {
		opts.api(&cfg)
	}
	if d.api, err = httpapi.New(cfg); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(d.api)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(sendBuffer)
		}
		if opts.conn != nil {
			ctx = opts.conn(ctx)
		}
		return ctx
	}
	if opts.tls {
		server.EnableHTTP2 = true
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	t.Cleanup(d.api.Drain) // before the server's, which waits for its requests
	d.base, d.http = server.URL, server.Client()
	return d
}

func member(t testing.TB, name, id string, opts options, tune ...func(*membertest.Config)) *door {
	t.Helper()
	return open(t, membertest.New(t, name, id, tune...), opts)
}

// counts gives the value of a series without labels, or with one.
func (d *door) counts(name, label string) float64 {
	d.t.Helper()
	families, err := d.registry.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			if f.GetName() != name || label != "" && (len(s.GetLabel()) != 1 || s.GetLabel()[0].GetValue() != label) {
				continue
			}
			return s.GetGauge().GetValue() + s.GetCounter().GetValue()
		}
	}
	return 0
}

// event is one of a stream.
type event struct {
	id, name string
	data     map[string]any
}

func (e event) field(path ...string) any {
	var v any = e.data
	for _, p := range path {
		object, _ := v.(map[string]any)
		v = object[p]
	}
	return v
}

func (e event) String() string { return fmt.Sprintf("%s %s %v", e.id, e.name, e.data) }

// listener listens to one stream.
type listener struct {
	t      testing.TB
	topics []string
	resp   *http.Response
	events chan event
	last   string // id of the last event that had one
	Close  func()
}

func (d *door) ask(ctx context.Context, topics, after string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+"/api/v1/stream?topics="+topics, nil)
	if err != nil {
		return nil, err
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return d.http.Do(req)
}

// listen opens a stream. It is closed with the test.
func (d *door) listen(topics, after string, headers ...string) *listener {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	enough := time.AfterFunc(patience, cancel) // a stream answers at once, whatever it has to tell
	resp, err := d.ask(ctx, topics, after, headers...)
	enough.Stop()
	if err != nil {
		cancel()
		d.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Accel-Buffering") != "no" {
		body, _ := io.ReadAll(resp.Body)
		d.t.Fatalf("%s %v %s", resp.Status, resp.Header, body)
	}
	l := &listener{t: d.t, topics: strings.Split(topics, ","), resp: resp, events: make(chan event, 1000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(l.events)
		read(resp.Body, l.events)
	}()
	l.Close = func() {
		cancel()
		resp.Body.Close()
		<-done
	}
	d.t.Cleanup(l.Close)
	return l
}

// read reads events until the stream ends. What is not one comes as an event too.
func read(from io.Reader, to chan<- event) {
	var e event
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		switch key, value, _ := strings.Cut(lines.Text(), ":"); {
		case lines.Text() == "":
			if e.name != "" {
				to <- e
			}
			e = event{}
		case key == "id":
			e.id = strings.TrimSpace(value)
		case key == "event":
			e.name = strings.TrimSpace(value)
		case key == "data":
			if json.Unmarshal([]byte(value), &e.data) != nil {
				e.data = map[string]any{"broken": value}
			}
		case key == "" || key == "retry":
			to <- event{name: strings.TrimSpace(lines.Text())}
		default:
			to <- event{name: "unknown line " + lines.Text()}
		}
	}
}

const patience = time.Minute

// next gives the next event, comments and the time for a retry aside.
func (l *listener) next() event {
	l.t.Helper()
	enough := time.After(patience)
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				l.t.Fatal("the stream ended")
			}
			if strings.HasPrefix(e.name, "retry") || e.name == ":" {
				continue
			}
			if e.id != "" {
				l.last = e.id
			}
			return e
		case <-enough:
			l.t.Fatal("nothing came")
		}
	}
}

// want gives the next event, which has to be one of these.
func (l *listener) want(names ...string) event {
	l.t.Helper()
	e := l.next()
	for e.name == "cluster" && slices.Contains(l.topics, e.name) && !slices.Contains(names, e.name) { // a node writes its own record again when it gets to it
		e = l.next()
	}
	if !slices.Contains(names, e.name) {
		l.t.Fatalf("got %v, want %v", e, names)
	}
	return e
}

// until gives the first event of an instance that is in this sub-status.
func (l *listener) until(subStatus string) event {
	l.t.Helper()
	for {
		if e := l.next(); e.name == "instance" && e.field("instance", "subStatus") == subStatus {
			return e
		}
	}
}
