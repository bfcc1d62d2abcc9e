package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) { membertest.Main(m) }

const (
	secretText = "a-secret-that-signs-everything"
	otherText  = "another-secret-for-the-exchange"
)

// receiver is who is told.
type receiver struct {
	t      *testing.T
	server *httptest.Server

	mu     sync.Mutex
	answer http.HandlerFunc // nil: 204
	got    []told           // also what was not taken
	most   int              // at once
	now    int
}

type told struct {
	header http.Header
	body   []byte
	event  webhook.Event
}

func (g told) id() string { return g.header.Get("webhook-id") }

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		g := told{header: req.Header.Clone()}
		var err error
		if g.body, err = io.ReadAll(req.Body); err == nil {
			err = json.Unmarshal(g.body, &g.event)
		}
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.got = append(r.got, g)
		r.now++
		r.most = max(r.most, r.now)
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, req)
		} else {
			w.WriteHeader(http.StatusNoContent)
		}
		r.mu.Lock()
		r.now--
		r.mu.Unlock()
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) answers(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = h
}

// ids are those of the events that it got, each once, by what they are about.
func (r *receiver) ids() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]string{}
	for _, g := range r.got {
		out[g.id()] = g.event.Data.InstanceID
	}
	return out
}

func (r *receiver) all() []told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]told(nil), r.got...)
}

// about waits for an event of an instance.
func (r *receiver) about(instance string) told {
	r.t.Helper()
	var out told
	polltest.Eventually(r.t, "the receiver hears of "+instance, func() bool {
		for _, g := range r.all() {
			if g.event.Data.InstanceID == instance {
				out = g
				return true
			}
		}
		return false
	})
	return out
}

// member is a node with webhooks.
type member struct {
	*membertest.Member
	hooks *webhook.Webhooks
	calls *clustertest.Faults // of what the webhooks ask etcd
	log   *bytes.Buffer
	said  func() string // what the log has by now
	kill  func()        // ends the telling
}

func newMember(t *testing.T, name, id string, tune ...func(*webhook.Config)) *member {
	t.Helper()
	return memberOn(t, clustertest.Shared(t), membertest.New(t, name, id), tune...)
}

func memberOn(t *testing.T, etcd *clustertest.Etcd, on *membertest.Member, tune ...func(*webhook.Config)) *member {
	t.Helper()
	m := &member{Member: on, calls: clustertest.NewFaults(1), log: &bytes.Buffer{}}
	kept, err := etcdstore.New(etcdstore.Config{Client: m.calls.Wrap(etcd.Client(t)), Root: on.Root})
	if err != nil {
		t.Fatal(err)
	}
	sign, err := secrets.New(map[string]string{"signs": secretText, "next": otherText, "standard": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	m.said = func() string {
		mu.Lock()
		defer mu.Unlock()
		return m.log.String()
	}
	cfg := webhook.Config{
		Store: kept.Webhooks, Session: on.Session, Client: outgoing.NewClient(true), Secrets: func() *secrets.Set { return sign }, Cluster: "test",
		Timeout: time.Minute, Backoff: []time.Duration{50 * time.Millisecond, 100 * time.Millisecond}, Sweep: 200 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return m.log.Write(p)
		}), nil)),
	}
	for _, f := range tune {
		f(&cfg)
	}
	if m.hooks, err = webhook.New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.hooks.Run(ctx) }()
	m.kill = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cfg.Client.CloseIdleConnections()
	})
	t.Cleanup(m.kill)
	return m
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (m *member) put(d webhook.Definition) {
	m.T.Helper()
	if d.Secrets == nil {
		d.Secrets = []string{"signs"}
	}
	if _, _, err := m.hooks.Put(m.T.Context(), d); err != nil {
		m.T.Fatal(err)
	}
}

// writes counts the transactions of webhooks that write.
func (m *member) writes() *atomic.Int64 {
	n := new(atomic.Int64)
	m.calls.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.PutsUnder(m.Root) || c.DeletesUnder(m.Root) {
			n.Add(1)
		}
		return false
	}})
	return n
}

func (m *member) status(name string) *webhook.Status {
	m.T.Helper()
	s, err := m.hooks.Get(m.T.Context(), name)
	if err != nil {
		m.T.Fatal(err)
	}
	return s
}

// bury puts a dead letter.
func bury(t *testing.T, etcd *clientv3.Client, root, id string) {
	t.Helper()
	raw, err := etcdstore.Encode(store.DeadLetter{ID: id, Reason: "expired", Detail: "nobody waited", InstanceID: "of-" + id, CreatedAt: time.Now().UTC()})
	if err == nil {
		_, err = etcd.Put(t.Context(), root+"dead/"+url.QueryEscape(id), string(raw))
	}
	if err != nil {
		t.Fatal(err)
	}
}
